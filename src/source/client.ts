import { setImmediate as nextTurn } from "node:timers/promises";
import { EnvHttpProxyAgent, Pool } from "undici";
import type { Share } from "../byte_budget.ts";
import type { Clock } from "../clock.ts";
import type { ApiError, ApiFailure } from "../errors.ts";
import { acceptEncoding, BodyTooLargeError } from "./body.ts";
import type { Envelope, Pagination } from "./envelope.ts";
import { type Dispatch, exchange, type WireAnswer } from "./exchange.ts";
import { apiError, BarredError, BudgetSpentError, broken, tooLong, withoutKey } from "./fault.ts";
import { elsewhere } from "./lasting_fault.ts";
import type { Limiter } from "./limit.ts";
import { buildQuery } from "./path.ts";
import { type Fault, judge, unpacked, type Verdict } from "./response_verdict.ts";
import { backoff, httpDate, limitedWait, maxAttempts } from "./retry.ts";

export type { Envelope, Pagination } from "./envelope.ts";

/** Query parameters by name; percent-encoded by the client. */
export type Query = Readonly<Record<string, string | number | boolean>>;

/** What one GET yielded. `bytes` is the decompressed body, `date` the answer's Date header, `requests` all that were sent for it. */
export interface Answer {
  readonly data: unknown;
  readonly pagination: Pagination | undefined;
  readonly meta: unknown;
  readonly date: Date | undefined;
  readonly bytes: number;
  readonly requests: number;
  readonly retries: number;
  readonly status: number;
  /** Of a large answer to a request that `holds`: gives back what it takes of the memory that all share. */
  readonly release?: (() => void) | undefined;
}

/** `priority`: higher goes first (lists 1, details below it, the earlier ones first). `paged`: a 2xx without a pagination block is a retryable error. `about` goes to `onAnswer` as it is. `onBody` sees the body of a 200, decompressed, before it is parsed, which waits for it. `maxBytes`: a lower ceiling than the client's. `holds`: what a large answer takes of memory counts until its `release` is called, else until the answer is given out. */
export interface GetOptions {
  readonly priority?: number;
  readonly signal?: AbortSignal;
  readonly paged?: boolean;
  readonly about?: object;
  readonly onBody?: (body: Buffer) => Promise<void>;
  readonly maxBytes?: number | undefined;
  readonly holds?: boolean;
}

/** An answer as it came: data, or a 404 of the service itself. `body` is its JSON text, `next` the cursor of the page after it (null: there is none; empty: it has none to name it by). */
export interface RawAnswer {
  readonly path: string;
  readonly query: Query;
  readonly status: number;
  readonly date: Date | undefined;
  readonly next: string | null;
  readonly body: Buffer;
  readonly about: object | undefined;
}

/** Counters since the client was made: `bytes` decompressed, waits in ms, `failures` by kind of what `get` threw, `clockOffsets` how far the service's clock was ahead of ours in the last two answers that have a `Date`. */
export interface ApiStats {
  readonly requests: number;
  readonly retries: number;
  readonly limited: number;
  readonly bytes: number;
  readonly failures: Readonly<Partial<Record<ApiFailure, number>>>;
  readonly retryWaitMs: number;
  readonly limitedWaitMs: number;
  readonly clockOffsets?: readonly number[];
}

/** A request is about to be sent again after `waitMs`; `reason` never holds the key. `attempt` counts the requests sent so far. */
export interface RetryEvent {
  readonly path: string;
  readonly attempt: number;
  readonly reason: string;
  readonly status: number | undefined;
  readonly waitMs: number;
}

/** A request that was sent and has no answer yet: the one that is longest under way, and how many others are. */
export interface Unanswered {
  readonly path: string;
  readonly attempt: number;
  readonly sinceMs: number;
  readonly others: number;
}

/** The service, read only. `path` is below /api/v1 and already built, e.g. "/po/PO-1". Rejects with ApiError or the signal's reason. */
export interface Api {
  get(path: string, query: Query, options?: GetOptions): Promise<Answer>;
  readonly stats: ApiStats;
  /** Larger pages are better asked for with fewer rows; undefined: they may be as large as a body may. */
  readonly pageBytes?: number;
  /** What has had no answer for ten seconds. */
  readonly unanswered?: () => Unanswered | undefined;
  close(): Promise<void>;
}

/** `key` and `maxRequests` are read at each request; `refreshKey` is called once after a 401, then one retry. Times in ms, `maxBodyBytes` decompressed (64 MiB). */
export interface ApiSettings {
  readonly baseUrl: string;
  readonly key: () => string;
  readonly refreshKey?: () => Promise<void>;
  readonly timeoutMs: number;
  readonly maxWaitMs: number;
  readonly maxBodyBytes?: number;
  readonly maxRequests?: number;
  readonly limit: Limiter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onRetry?: (event: RetryEvent) => void;
  /** Hears every `slowMs` (10 s) of a request that has no answer for so long. */
  readonly onSlow?: (unanswered: Unanswered) => void;
  readonly slowMs?: number;
  /**
   * Takes out of an answer's data what is not to be kept, in place, before anybody sees it. Answers how the JSON
   * text of the body is made that it would have been; undefined where nothing was changed.
   */
  readonly treat?: ((path: string, envelope: Envelope) => (() => Buffer) | undefined) | undefined;
  /** Sees each answer before whoever asked does. */
  readonly onAnswer?: ((answer: RawAnswer) => void) | undefined;
  readonly userAgent: string;
}

const SLOW_MS = 10_000;

/** Pages of several streams, and the next one of each, are in memory at once. */
const PAGE_SHARE = 16;

/** A client that sends the key to `baseUrl`'s origin and nowhere else. */
export function createApi(settings: ApiSettings): Api {
  const { limit, clock, random, timeoutMs, maxWaitMs, maxBodyBytes = 64 * 1024 * 1024 } = settings;
  const base = new URL(settings.baseUrl);
  const prefix = `${base.pathname.replace(/(?<!\/)\/+$/, "")}/api/v1`;
  // Twice as many connections as requests: one whose answer has just ended takes the next only a turn of the loop later, 2 ms.
  const origin = connect(base, limit.state.maximum * 2, timeoutMs);
  const failures: Partial<Record<ApiFailure, number>> = {};
  let clockOffsets: readonly number[] = [];
  const stats = {
    ...{ requests: 0, retries: 0, limited: 0, bytes: 0, failures, retryWaitMs: 0, limitedWaitMs: 0 },
    get clockOffsets() {
      return clockOffsets;
    },
  };
  /** Whether the service has answered with data. Until then what no attempt mends is the configuration's fault, later a disturbance. */
  let accepted = false;
  const underWay = new Set<{ readonly path: string; readonly attempt: number; readonly since: number }>();
  const { slowMs = SLOW_MS } = settings;
  let looking: NodeJS.Timeout | undefined;
  let refreshing: Promise<void> | undefined;
  /** Why nothing is sent any more, once the service wants a pause that nobody here waits for. */
  let barred: string | undefined;

  function unanswered(): Unanswered | undefined {
    const [first] = underWay;
    if (first === undefined || clock.now() - first.since < slowMs) return undefined;
    const { path, attempt, since } = first;
    return { path, attempt, sinceMs: clock.now() - since, others: underWay.size - 1 };
  }

  function look(): void {
    const slow = unanswered();
    if (slow !== undefined) settings.onSlow?.(slow);
  }

  async function attempt(
    {
      path,
      nth,
      key,
      kind,
    }: { readonly path: string; readonly nth: number; readonly key: string; readonly kind: string },
    { paged = false, signal, onBody, maxBytes = maxBodyBytes }: GetOptions,
    limited: (fault: Fault) => void,
  ): Promise<{ status: number; share: Share | undefined; judged: () => Promise<Verdict> }> {
    // Whoever waited for this slot meanwhile is told, too.
    if (barred !== undefined) throw new BarredError(barred);
    if (stats.requests >= (settings.maxRequests ?? Number.POSITIVE_INFINITY)) throw new BudgetSpentError();
    stats.requests += 1;
    const headers = {
      authorization: `Bearer ${key}`,
      accept: "application/json",
      "accept-encoding": acceptEncoding,
      "user-agent": settings.userAgent,
    };
    const begun = clock.now();
    const own = { path: path.split("?", 1)[0]!, attempt: nth, since: begun };
    underWay.add(own);
    // A real timer, not the injected clock: a hanging service has to be reported while it hangs.
    looking ??= setInterval(look, slowMs).unref();
    let answer: WireAnswer;
    try {
      const limits = { timeoutMs, maxBytes, memory: limit.memory, now: clock.now, signal };
      answer = await exchange(origin.dispatch, prefix + path, headers, limits);
    } catch (error) {
      const ours = signal?.aborted || error instanceof BodyTooLargeError;
      if (!ours) limit.observe({ ok: false, limited: false, latencyMs: clock.now() - begun, kind });
      throw error;
    } finally {
      underWay.delete(own);
      if (underWay.size === 0) {
        clearInterval(looking);
        looking = undefined;
      }
    }
    const { status, latencyMs, share } = answer;
    const said = httpDate(String(answer.headers["date"] ?? ""));
    if (said !== undefined) clockOffsets = [...clockOffsets.slice(-1), said.getTime() - begun - latencyMs];
    limit.observe({ ok: status < 500, limited: status === 429, latencyMs, kind });
    // Data is read when the slot has been given on: the next request need not wait until a page has been parsed.
    if (status === 200) {
      const judged = async () => {
        const plain = onBody === undefined ? answer : unpacked(answer, maxBytes);
        await onBody?.(plain.body);
        return judge(plain, paged, maxBytes, clock.now());
      };
      return { status, share, judged };
    }
    const verdict = judge(answer, paged, maxBytes, clock.now());
    // While the slot is still held: nothing may start between a 429 and the pause it asks for.
    if (verdict.kind === "limited") limited(verdict);
    return { status, share, judged: async () => verdict };
  }

  async function refresh(): Promise<void> {
    refreshing ??= settings.refreshKey?.().finally(() => {
      refreshing = undefined;
    });
    await refreshing;
  }

  async function get(path: string, query: Query, options: GetOptions = {}): Promise<Answer> {
    const { signal, priority = 0 } = options;
    const whole = path + buildQuery(query);
    const kind = kindOf(path);
    let requests = 0;
    let failed = 0;
    let limitedCount = 0;
    let limitedMs = 0;
    let waitMs = 0;
    let refreshed = false;

    for (;;) {
      signal?.throwIfAborted();
      const key = settings.key();
      let status: number | undefined;
      let share: Share | undefined;
      let verdict: Verdict;
      const limited = ({ what, retryAfter }: Fault): void => {
        stats.limited += 1;
        limitedCount += 1;
        waitMs = limitedWait(limitedCount, retryAfter, random);
        limitedMs += waitMs;
        if (limitedMs <= maxWaitMs) limit.pause(waitMs, withoutKey(what, key));
        else barred ??= tooLong(what, waitMs, limitedMs, maxWaitMs);
      };
      try {
        // A request that was sent before goes ahead of its equals.
        const turn = requests === 0 ? priority : priority + 0.5;
        const task = () => attempt({ path: whole, nth: requests + 1, key, kind }, options, limited);
        const answered = await limit.run(task, turn, signal);
        ({ status, share } = answered);
        // Answers that are here already, and the requests that take their slots, come before the work with this one.
        await nextTurn();
        verdict = await answered.judged();
        requests += 1;
      } catch (error) {
        share?.release();
        if (signal?.aborted) throw signal.reason;
        if (!(error instanceof BudgetSpentError || error instanceof BarredError)) requests += 1;
        verdict = broken(error, options.maxBytes ?? maxBodyBytes, base);
      }
      if (verdict.kind !== "data" || options.holds !== true) share?.release();
      const again = (fault: Fault): void => {
        stats.retries += 1;
        settings.onRetry?.({ path, attempt: requests, reason: withoutKey(fault.what, key), status, waitMs });
      };
      const show = (date: Date | undefined, body: Buffer, next: string | null): void =>
        settings.onAnswer?.({ path, query, status: status ?? 200, date, next, body, about: options.about });
      const giveUp = (fault: Fault): ApiError => {
        failures[fault.failure] = (failures[fault.failure] ?? 0) + 1;
        const advice = accepted ? undefined : fault.lasting === true ? elsewhere(base) : fault.lasting;
        return apiError(fault, { path, attempts: requests, status, key }, advice);
      };

      if (verdict.kind === "data") {
        const { envelope, date, body } = verdict;
        accepted = true;
        stats.bytes += body.length;
        const { hasMore = false, nextCursor = "" } = envelope.pagination ?? {};
        try {
          const treated = settings.treat?.(path, envelope);
          if (settings.onAnswer !== undefined) show(date, treated?.() ?? body, hasMore ? nextCursor : null);
        } catch (error) {
          // Nobody is given the answer who could release it.
          share?.release();
          throw error;
        }
        const told = { date, bytes: body.length, requests, retries: requests - 1, status: status ?? 200 };
        return { ...envelope, ...told, release: options.holds === true ? share?.release : undefined };
      }
      if (verdict.kind === "refused") {
        if (verdict.failure === "not_found" && verdict.body !== undefined) show(verdict.date, verdict.body, null);
        if (verdict.failure !== "unauthorized" || refreshed || settings.refreshKey === undefined) throw giveUp(verdict);
        refreshed = true;
        // Another request may have brought the new key meanwhile.
        if (settings.key() === key) await refresh();
        waitMs = 0;
        again(verdict);
      } else if (verdict.kind === "limited") {
        if (limitedMs > maxWaitMs)
          throw giveUp({ ...verdict, what: tooLong(verdict.what, waitMs, limitedMs, maxWaitMs) });
        stats.limitedWaitMs += waitMs;
        again(verdict);
      } else {
        failed += 1;
        if (failed >= maxAttempts || (!accepted && verdict.lasting !== undefined)) throw giveUp(verdict);
        waitMs = backoff(failed, random, Math.min(verdict.retryAfter ?? 0, maxWaitMs));
        stats.retryWaitMs += waitMs;
        again(verdict);
        await clock.sleep(waitMs, signal);
      }
    }
  }

  const pageBytes = Math.min(maxBodyBytes, limit.memory.bytes / PAGE_SHARE);
  return { get, stats, pageBytes, unanswered, close: origin.close };
}

/** Requests of like cost: the first segment and how many there are. */
function kindOf(path: string): string {
  const segments = path.split("/");
  return `${segments[1]}/${segments.length}`;
}

function connect(base: URL, connections: number, timeoutMs: number): { dispatch: Dispatch; close(): Promise<void> } {
  const options = {
    connections,
    allowH2: false,
    connect: { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const proxy = process.env["https_proxy"] ?? process.env["HTTPS_PROXY"];
  const proxied = base.protocol === "https:" && proxy !== undefined && proxy !== "";
  const dispatcher = proxied ? new EnvHttpProxyAgent(options) : new Pool(base.origin, options);
  return {
    dispatch(path, headers, handler) {
      dispatcher.dispatch({ origin: base.origin, path, method: "GET", headers }, handler);
    },
    close: () => dispatcher.destroy(),
  };
}
