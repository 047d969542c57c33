import type { ByteBudget, Share } from "../byte_budget.ts";
import { BodyTooLargeError } from "./body.ts";

/** One answer as it came over the wire. Header names are lower case. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** From the request to the answer's headers. */
  readonly latencyMs: number;
  /** What its body and what is made of it take of the memory that all share; undefined: too little to count. */
  readonly share: Share | undefined;
}

/** The request was given up because of a limit of ours. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** What a dispatcher calls while a request lasts (undici's dispatch handler, as far as it is used). */
export interface ExchangeHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: WireAnswer["headers"]): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller, error: Error): void;
}

/** Sends one GET to the origin and calls the handler; never follows a redirect. */
export type Dispatch = (path: string, headers: Record<string, string>, handler: ExchangeHandler) => void;

/** Limits of one exchange: `timeoutMs` to connect, to the headers and between two pieces of the body, 4 × as much for the body; `maxBytes` on the wire. `memory` has room for a large body before it is read. */
export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly memory: ByteBudget;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Pieces that are kept as they came: each is a view of 200 bytes, which keeps what it was read into. */
const CHUNKS = 256;

/** Bodies up to this size are read as they come: what is in flight of them is little beside everything else. */
const UNCOUNTED = 512 * 1024;
/** Text of JSON, its values and their bytes as rows: each byte of a body is in memory so many times, mostly. */
const TIMES_HELD = 3;
/** How many times larger JSON is that was compressed. */
const PACKED = 8;
/** Taken for the size of a body of more than what is not counted, where the answer doesn't say it. */
const UNKNOWN = 8 * 1024 * 1024;

/** One request, one whole answer. Rejects with the signal's reason, BodyTooLargeError, TimeLimitError or the network's error. */
export function exchange(
  dispatch: Dispatch,
  path: string,
  headers: Record<string, string>,
  { timeoutMs, maxBytes, memory, now, signal }: ExchangeLimits,
): Promise<WireAnswer> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const begun = now();
    let chunks: Buffer[] = [];
    const joined: Buffer[] = [];
    let head: Omit<WireAnswer, "body" | "share"> | undefined;
    let size = 0;
    let running: Controller | undefined;
    let share: Share | undefined;
    /** Aborts the request for memory; undefined where none was made. */
    let asking: AbortController | undefined;
    let over = false;
    // Timers of our own: undici's may come a second late.
    let idle: NodeJS.Timeout | undefined;
    let whole: NodeJS.Timeout | undefined;

    function expect(what: string): void {
      clearTimeout(idle);
      idle = setTimeout(expire, timeoutMs, what, timeoutMs);
    }
    function expire(what: string, ms: number): void {
      giveUp(new TimeLimitError(`${what} within ${ms} ms`));
    }
    function onAbort(): void {
      giveUp(signal?.reason);
    }
    function done(): void {
      over = true;
      clearTimeout(idle);
      clearTimeout(whole);
      signal?.removeEventListener("abort", onAbort);
    }
    /** Nothing more is read until there is room for as much. */
    function makeRoom(controller: Controller, bytes: number): void {
      asking = new AbortController();
      controller.pause();
      clearTimeout(idle);
      clearTimeout(whole);
      memory.take(TIMES_HELD * Math.min(bytes, maxBytes), asking.signal).then(
        given => {
          if (over) return given.release();
          share = given;
          expect("no further piece of the body");
          requireEnd();
          controller.resume();
        },
        () => undefined,
      );
    }
    function requireEnd(): void {
      whole = setTimeout(expire, 4 * timeoutMs, "no end of the body", 4 * timeoutMs);
    }
    function fail(reason: unknown): void {
      done();
      asking?.abort();
      share?.release();
      reject(reason);
    }
    function giveUp(reason: unknown): void {
      fail(reason);
      running?.abort(new Error("given up"));
    }

    signal?.addEventListener("abort", onAbort, { once: true });
    expect("no connection");
    try {
      dispatch(path, headers, {
        onRequestStart(controller) {
          running = controller;
          if (over) controller.abort(new Error("given up"));
          else expect("no headers");
        },
        onResponseStart(controller, status, answered) {
          if (status < 200 || over) return;
          head = { status, headers: answered, latencyMs: now() - begun };
          if (Number(answered["content-length"]) > maxBytes) {
            giveUp(new BodyTooLargeError());
            return;
          }
          expect("no further piece of the body");
          requireEnd();
          const length = Number(answered["content-length"]);
          const unpacked = isPacked(answered["content-encoding"]) ? PACKED * length : length;
          if (unpacked > UNCOUNTED) makeRoom(controller, unpacked);
        },
        onResponseData(controller, chunk) {
          if (over) return;
          size += chunk.length;
          chunks.push(chunk);
          if (chunks.length === CHUNKS) {
            joined.push(Buffer.concat(chunks));
            chunks = [];
          }
          if (size > maxBytes) giveUp(new BodyTooLargeError());
          else if (asking === undefined && size > UNCOUNTED) makeRoom(controller, UNKNOWN);
          else idle?.refresh();
        },
        onResponseEnd() {
          if (head === undefined) {
            fail(new Error("the answer has no status"));
            return;
          }
          done();
          asking?.abort();
          const whole = joined.length === 0 && chunks.length === 1;
          const body = whole ? chunks[0]! : Buffer.concat([...joined, ...chunks], size);
          // A connection that was closed brings what is left of a body without waiting for room.
          if (asking !== undefined) share ??= memory.lend(0);
          // Packed ones are about as large as was thought.
          if (!isPacked(head.headers["content-encoding"])) share?.resize(TIMES_HELD * size);
          resolve({ ...head, body, share });
        },
        onResponseError(_controller, error) {
          fail(error);
        },
      });
    } catch (error) {
      fail(error);
    }
  });
}

const isPacked = (encoding: string | string[] | undefined): boolean =>
  encoding !== undefined && encoding !== "identity";
