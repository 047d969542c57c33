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

/** Limits of one exchange: connecting and headers may take 2 × `timeoutMs` together, the body 4 ×, `maxBytes` on the wire. */
export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

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
    const chunks: Buffer[] = [];
    let head: Omit<WireAnswer, "body"> | undefined;
    let size = 0;
    let running: Controller | undefined;

    const onAbort = () => giveUp(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    let timer = setTimeout(giveUp, 2 * timeoutMs, new TimeLimitError(`no answer within ${2 * timeoutMs} ms`));

    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
    function giveUp(reason: unknown): void {
      done();
      reject(reason);
      running?.abort(reason instanceof Error ? reason : new Error("aborted"));
    }

    try {
      dispatch(path, headers, {
        onRequestStart(controller) {
          running = controller;
          if (signal?.aborted) controller.abort(new Error("aborted"));
        },
        onResponseStart(_controller, status, answered) {
          if (status < 200) return;
          head = { status, headers: answered, latencyMs: now() - begun };
          clearTimeout(timer);
          const late = new TimeLimitError(`no end of the body within ${4 * timeoutMs} ms`);
          timer = setTimeout(giveUp, 4 * timeoutMs, late);
          if (Number(answered["content-length"]) > maxBytes) giveUp(new BodyTooLargeError());
        },
        onResponseData(_controller, chunk) {
          size += chunk.length;
          if (size > maxBytes) giveUp(new BodyTooLargeError());
          else chunks.push(chunk);
        },
        onResponseEnd() {
          done();
          if (head === undefined) reject(new Error("the answer has no status"));
          else resolve({ ...head, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) });
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
