import { BodyTooLargeError } from "./body.ts";

/** One answer as it came over the wire. Header names are lower case. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** From the request to the answer's headers. */
  readonly latencyMs: number;
}

/** The request was given up because of a limit of ours. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

interface Controller {
  abort(reason: Error): void;
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

/** Limits of one exchange: `timeoutMs` to connect, to the headers and between two pieces of the body, 4 × as much for the body; `maxBytes` on the wire. */
export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Pieces that are kept as they came: each is a view of 200 bytes, which keeps what it was read into. */
const CHUNKS = 256;

/** One request, one whole answer. Rejects with the signal's reason, BodyTooLargeError, TimeLimitError or the network's error. */
export function exchange(
  dispatch: Dispatch,
  path: string,
  headers: Record<string, string>,
  { timeoutMs, maxBytes, now, signal }: ExchangeLimits,
): Promise<WireAnswer> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const begun = now();
    let chunks: Buffer[] = [];
    const joined: Buffer[] = [];
    let head: Omit<WireAnswer, "body"> | undefined;
    let size = 0;
    let running: Controller | undefined;
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
    function giveUp(reason: unknown): void {
      done();
      reject(reason);
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
        onResponseStart(_controller, status, answered) {
          if (status < 200 || over) return;
          head = { status, headers: answered, latencyMs: now() - begun };
          if (Number(answered["content-length"]) > maxBytes) {
            giveUp(new BodyTooLargeError());
            return;
          }
          expect("no further piece of the body");
          whole = setTimeout(expire, 4 * timeoutMs, "no end of the body", 4 * timeoutMs);
        },
        onResponseData(_controller, chunk) {
          if (over) return;
          size += chunk.length;
          chunks.push(chunk);
          if (chunks.length === CHUNKS) {
            joined.push(Buffer.concat(chunks));
            chunks = [];
          }
          if (size > maxBytes) giveUp(new BodyTooLargeError());
          else idle?.refresh();
        },
        onResponseEnd() {
          done();
          if (head === undefined) reject(new Error("the answer has no status"));
          else {
            const whole = joined.length === 0 && chunks.length === 1;
            resolve({ ...head, body: whole ? chunks[0]! : Buffer.concat([...joined, ...chunks], size) });
          }
        },
        onResponseError(_controller, error) {
          done();
          reject(error);
        },
      });
    } catch (error) {
      done();
      reject(error);
    }
  });
}
