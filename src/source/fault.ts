import { timespan } from "../duration.ts";
import { ApiError } from "../errors.ts";
import type { Method } from "./api.ts";
import { BodyTooLargeError } from "./body.ts";
import { withoutKey } from "./key.ts";
import { lastingFault } from "./lasting_fault.ts";
import { sourceMessages } from "./messages.ts";
import type { Fault, Verdict } from "./response_verdict.ts";

/** A request that was sent, so many times, with this key; `status` of its last answer. */
interface Sent {
  readonly method: Method;
  readonly path: string;
  readonly attempts: number;
  readonly status: number | undefined;
  readonly key: string;
}

/** The ApiError of a fault: what was expected, what came after how many requests, what to do (`instead`, or what is to be done of its kind); without the key. */
export function apiError(fault: Fault, { method, path, attempts, status, key }: Sent, instead?: string): ApiError {
  const clean = (text: string) => withoutKey(text, key);
  const { failure, what, cause, complaint } = fault;
  const serviceCode = complaint?.code === undefined ? undefined : clean(complaint.code);
  const requestId = complaint?.requestId === undefined ? undefined : clean(complaint.requestId);
  const safeCause = cause instanceof Error && clean(cause.message) === cause.message;
  return new ApiError(
    sourceMessages[failure]({
      method,
      path: clean(path),
      status,
      service_code: serviceCode,
      request_id: requestId?.slice(0, 80),
      attempts,
      got: clean(what),
      advice: instead === undefined ? undefined : clean(instead),
    }),
    {
      failure,
      path,
      attempts,
      ...(status === undefined ? {} : { status }),
      ...(serviceCode === undefined ? {} : { serviceCode }),
      ...(requestId === undefined ? {} : { requestId }),
    },
    safeCause ? cause : undefined,
  );
}

/** The request was not sent: as many as allowed were. `message` says which limit it is. */
export class BudgetSpentError extends Error {
  override readonly name = "BudgetSpentError";

  constructor() {
    super("as many requests as --max-requests, or api.requests_per_day in this UTC day, allows were sent");
  }
}

/** The request was not sent: the service asked before for a longer pause than a run waits. `message` says for which. */
export class BarredError extends Error {
  override readonly name = "BarredError";
}

/** What an exchange that threw means: our own limits end the request, everything else may go better next time. */
export function broken(error: unknown, maxBytes: number, base: URL): Verdict {
  if (error instanceof BudgetSpentError) {
    return { kind: "refused", failure: "budget", what: `nothing: ${error.message}` };
  }
  if (error instanceof BarredError) {
    return { kind: "refused", failure: "limited", what: `nothing: it was not sent, for another got ${error.message}` };
  }
  if (error instanceof BodyTooLargeError) {
    return { kind: "refused", failure: "too_large", what: `more than ${maxBytes} bytes in one body` };
  }
  const message = error instanceof Error ? error.message || error.name : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "UND_ERR_INVALID_ARG") {
    return { kind: "refused", failure: "unauthorized", what: `nothing: it cannot be sent (${message})`, cause: error };
  }
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") {
    return { kind: "refused", failure: "unavailable", what: "nothing: the client was closed", cause: error };
  }
  const what = `no complete answer: ${message}`;
  return { kind: "again", failure: "unavailable", what, cause: error, ...lastingFault(error, base) };
}

/** A 429 with the wait it asks for and why that ends the request. Times in ms. */
export function tooLong(what: string, waitMs: number, totalMs: number, maxWaitMs: number): string {
  const total = totalMs > waitMs ? ` (${timespan(totalMs)} in a row)` : "";
  return `${what}; it wants a pause of ${timespan(waitMs)}${total}, more than max_wait (${timespan(maxWaitMs)})`;
}
