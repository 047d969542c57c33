import type { Clock } from "../clock.ts";
import type { ApiFailure } from "../errors.ts";
import type { ReadPage } from "../rows/page_reader.ts";
import type { Envelope } from "./envelope.ts";
import type { Limiter } from "./limit.ts";
import type { ServiceClock } from "./service_clock.ts";

/** Query parameters by name; percent-encoded by the client. */
export type Query = Readonly<Record<string, string | number | boolean>>;

/** What one GET yielded. `bytes` is the decompressed body, `date` when it was given: by the service's clock, or by ours where its `Date` is not believed, `requests` all that were sent for it. */
export interface Answer extends Envelope {
  readonly date: Date;
  readonly bytes: number;
  readonly requests: number;
  readonly retries: number;
  readonly status: number;
  /** Of a large answer to a request that `holds`: gives back what it takes of the memory that all share. */
  readonly release?: (() => void) | undefined;
}

/** `priority`: higher goes first (lists 1, details below it, the earlier ones first, a page behind a cursor 1 more). `paged`: a 2xx without a pagination block is a retryable error. `about` goes to `onAnswer` as it is. `onBody` sees the body of a 200, decompressed, before it is parsed, which waits for it. `read` reads the JSON of data in place of the client's own parser, where nothing is taken out of answers. `maxBytes`: a lower ceiling than the client's. `holds`: what a large answer takes of memory counts until its `release` is called, else until the answer is given out. `once`: where the service may have done it, it is not sent again; without data or a refusal the ApiError's failure is `unconfirmed`. `onSent` is called when a request leaves, also when it is sent again. `advice`: what to do about failures, in place of the advice for a request for rows. */
export interface GetOptions {
  readonly priority?: number;
  readonly signal?: AbortSignal;
  readonly paged?: boolean;
  readonly about?: object;
  readonly onBody?: (body: Buffer) => Promise<void>;
  readonly read?: ReadPage | undefined;
  readonly maxBytes?: number | undefined;
  readonly holds?: boolean;
  readonly once?: boolean;
  readonly onSent?: () => void;
  readonly advice?: Readonly<Partial<Record<ApiFailure, string>>>;
}

/** An answer as it came: data, or a 404 of the service itself. `body` is its JSON text, `next` the cursor of the page after it (null: there is none; empty: it has none to name it by). */
export interface RawAnswer {
  readonly path: string;
  readonly query: Query;
  readonly status: number;
  readonly date: Date;
  readonly next: string | null;
  readonly body: Buffer;
  readonly about: object | undefined;
}

/** Counters since the client was made: `bytes` decompressed, waits in ms, `failures` by kind of what `get` threw, `clock` how our clock compares with the service's. */
export interface ApiStats {
  readonly requests: number;
  readonly retries: number;
  readonly limited: number;
  readonly bytes: number;
  readonly failures: Readonly<Partial<Record<ApiFailure, number>>>;
  readonly retryWaitMs: number;
  readonly limitedWaitMs: number;
  readonly clock?: Pick<ServiceClock, "offMs" | "isApart">;
}

/** A request is about to be sent again after `waitMs`; `reason` never holds the key. `attempt` counts the requests sent so far. */
export interface RetryEvent {
  readonly path: string;
  readonly attempt: number;
  readonly reason: string;
  readonly status: number | undefined;
  readonly waitMs: number;
}

export type Method = "GET" | "POST";

/** A request that was sent and has no answer yet: the one that is longest under way, and how many others are. */
export interface Unanswered {
  readonly method: Method;
  readonly path: string;
  readonly attempt: number;
  readonly sinceMs: number;
  readonly others: number;
}

/** The service. `path` is below /api/v1 and already built, e.g. "/po/PO-1". Rejects with ApiError or the signal's reason. */
export interface Api {
  get(path: string, query: Query, options?: GetOptions): Promise<Answer>;
  /** Sends JSON. What it answers is neither archived nor treated. Absent where answers come from elsewhere. */
  post?(path: string, body: object, options?: GetOptions): Promise<Answer>;
  readonly stats: ApiStats;
  /** Requests that it may still send; Infinity without a limit. Absent where answers come from elsewhere. */
  readonly left?: number | undefined;
  /** Larger pages are better asked for with fewer rows; undefined: they may be as large as a body may. */
  readonly pageBytes?: number;
  readonly unanswered?: () => Unanswered | undefined;
  close(): Promise<void>;
}

/** `key` is used until a 401: then `refreshKey` is called once, and a key that differs is used only after `admit` has resolved. */
export interface ApiSettings {
  readonly baseUrl: string;
  readonly key: string;
  readonly refreshKey?: () => Promise<string>;
  /** `ask` sends requests with the key that came. */
  readonly admit?: ((ask: Pick<Api, "get">) => Promise<void>) | undefined;
  readonly userAgent: string;
  readonly limits: ApiLimits;
  readonly limit: Limiter;
  readonly clock: Clock;
  /** Whether answers' times are compared with our clock, or our clock dates everything. */
  readonly serviceClock: "check" | "ignore";
  readonly random: () => number;
  /** Takes personal data out of an answer, in place, before anybody sees it. Answers how its JSON text is made anew; undefined: nothing was changed. */
  readonly treat?: ((path: string, envelope: Envelope) => (() => Buffer) | undefined) | undefined;
  readonly listeners?: ApiListeners;
}

/** Times in ms, `maxBodyBytes` decompressed (64 MiB). `maxRequests` is read at each request. */
export interface ApiLimits {
  readonly timeoutMs: number;
  readonly maxWaitMs: number;
  readonly maxBodyBytes?: number;
  readonly maxRequests?: number;
}

export interface ApiListeners {
  readonly onRetry?: (event: RetryEvent) => void;
  /** Hears every `slowMs` (10 s) of a request that has no answer for so long. */
  readonly onSlow?: (unanswered: Unanswered) => void;
  readonly slowMs?: number;
  /** Hears once of the first envelope with fields that the documents don't name. */
  readonly onUndocumented?: (path: string, fields: readonly string[]) => void;
  /** Sees each answer before whoever asked does. */
  readonly onAnswer?: ((answer: RawAnswer) => void) | undefined;
}

/** The same service, asked in another way. */
export const through = (api: Api, get: Api["get"]): Api => ({
  get,
  get stats() {
    return api.stats;
  },
  get left() {
    return api.left;
  },
  ...(api.pageBytes === undefined ? {} : { pageBytes: api.pageBytes }),
  close: () => api.close(),
});
