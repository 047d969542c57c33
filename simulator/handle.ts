import type { Faults } from "./faults.ts";
import type { Upload } from "./intake/uploads.ts";
import type { RequestLog } from "./requests.ts";
import type { Answer } from "./routes.ts";
import type { StreamName } from "./service.ts";
import type { UploadRequest } from "./upload_server.ts";

/** A running service. Rows are made from the seed, their place in the list and what was changed since; none are held. */
export interface Simulator {
  /** Origin without /api/v1, e.g. http://127.0.0.1:4711. */
  readonly url: string;
  readonly port: number;
  /** The API key it takes now. */
  readonly key: string;
  /** Revokes the key: from now on another one is taken, and only that. With another `seed` it belongs to that seed's company. */
  renewKey(key: string, seed?: number): void;
  /** Live: a switch turned here holds for the next request. */
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Changes non-volatile fields of so many rows (or of the named ones), and their details; returns their keys. */
  update(stream: StreamName, which: number | readonly string[]): string[];
  /** Adds rows; the newest stand first in newest-first lists. Returns their keys. */
  insert(stream: StreamName, count: number): string[];
  /** Takes so many rows (or the named ones) out of the list; their details answer 404. Returns their keys. */
  delete(stream: StreamName, which: number | readonly string[]): string[];
  /** Brings deleted rows back as they were. Unknown keys are an error. */
  restore(stream: StreamName, keys: readonly string[]): void;
  /** Overrides fields of a list row from now on; values may be JSON.rawJSON numerals, of any type, or new fields. */
  patch(stream: StreamName, key: string, fields: Record<string, unknown>): void;
  /** Overrides top-level fields of what a path answers, e.g. "/po/PO-1" (segments encoded as in a request). */
  patchDetail(path: string, fields: Record<string, unknown>): void;
  /** The streams whose rows can be changed. */
  readonly streams: readonly StreamName[];
  readonly truth: {
    /** What the list would serve now with nothing filtered out (filed mails included), in order, from `offset` on. */
    rows(stream: StreamName, offset?: number): IterableIterator<Record<string, unknown>>;
    count(stream: StreamName): number;
    /** What a path would answer, its pagination too; undefined for 404. */
    answer(path: string): Answer | undefined;
    /** The `data` a path (relative to /api/v1, query allowed) would answer without faults of transport; undefined for 404. */
    get(path: string): unknown;
  };
  /** Slots for uploads so far, and the requests that their host was sent. */
  readonly uploads: { readonly all: readonly Upload[]; readonly requests: readonly UploadRequest[] };
  /** Ends everything at once, requests that hang too. */
  close(): Promise<void>;
}
