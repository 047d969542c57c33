import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Faults, happens } from "./faults.ts";
import { Refusal } from "./refusal.ts";

/** An answer before it is written: a body to be made JSON, an error for the envelope, or text or bytes as they are. */
export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Record<string, unknown>;
  readonly error?: Refusal;
  readonly text?: string | Buffer;
}

interface Occasion {
  /** Path and query as requested. */
  readonly path: string;
  readonly clock: () => Date;
  /** Monotonic times of the requests let through within the last second; kept here between calls. */
  readonly arrivals: number[];
  readonly draw: () => number;
}

/** The fault that replaces the ordinary answer, if any. */
export function misbehave(faults: Faults, occasion: Occasion): Reply | "hang" | undefined {
  const { draw } = occasion;
  if (happens(faults, "hang", draw)) return "hang";
  if (faults.redirectTo !== null) {
    return { status: 302, headers: { location: faults.redirectTo + occasion.path }, text: "" };
  }
  if (faults.planLimit !== null) {
    const { planLimit } = faults;
    if (planLimit.remaining <= 0)
      return tooMany("PLAN_LIMIT_REACHED", "seconds", planLimit.retryAfterSeconds, occasion);
    planLimit.remaining -= 1;
  }
  const { refuse } = faults;
  if (refuse !== null && refuse.next > 0) {
    refuse.next -= 1;
    return { status: refuse.status, error: new Refusal(refuse.status, "REFUSED", "Refused for a test") };
  }
  const limited = rateLimited(faults, occasion);
  if (limited !== undefined) return limited;
  if (happens(faults, "badGateway", draw)) {
    const text = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";
    return { status: 502, headers: { "content-type": "text/html" }, text };
  }
  if (happens(faults, "error500", draw)) {
    return { status: 500, error: new Refusal(500, "INTERNAL_ERROR", "Something went wrong") };
  }
  return undefined;
}

function rateLimited(faults: Faults, occasion: Occasion): Reply | undefined {
  const limit = faults.rateLimit;
  const refuse = (): Reply =>
    tooMany("RATE_LIMITED", limit?.retryAfter ?? "seconds", limit?.retryAfterSeconds ?? 1, occasion);
  if (faults.next429 > 0) {
    faults.next429 -= 1;
    return refuse();
  }
  if (limit === null) return undefined;
  const now = performance.now();
  const { arrivals } = occasion;
  while (arrivals.length > 0 && (arrivals[0] ?? 0) <= now - 1000) arrivals.shift();
  if (arrivals.length >= limit.perSecond) return refuse();
  arrivals.push(now);
  return undefined;
}

function tooMany(
  code: string,
  style: "seconds" | "date" | "absent",
  seconds: number | undefined,
  occasion: Occasion,
): Reply {
  const error = new Refusal(429, code, "Too many requests");
  if (seconds === undefined || style === "absent") return { status: 429, error };
  const date = new Date(occasion.clock().getTime() + seconds * 1000).toUTCString();
  return { status: 429, error, headers: { "retry-after": style === "date" ? date : String(seconds) } };
}

/** Writes the answer; cut, truncated or slowly where the switches say so. Ends early when `closing` aborts. */
export async function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  bytes: Buffer,
  faults: Faults,
  draw: () => number,
  closing: AbortSignal,
): Promise<void> {
  const all = { "content-type": "application/json; charset=utf-8", ...headers, "content-length": String(bytes.length) };
  const half = bytes.subarray(0, bytes.length >> 1);
  if (happens(faults, "cutConnection", draw)) {
    response.writeHead(status, all);
    // The reset must come after the client has seen some of the body.
    response.write(half, () => response.socket?.resetAndDestroy());
  } else if (happens(faults, "truncatedBody", draw)) {
    response.writeHead(status, all);
    response.write(half, () => response.socket?.end());
  } else if (faults.slowBody > 0) {
    response.writeHead(status, all);
    await trickle(response, bytes, faults.slowBody, closing);
  } else {
    response.writeHead(status, all).end(bytes);
  }
}

async function trickle(
  response: ServerResponse,
  bytes: Buffer,
  perSecond: number,
  closing: AbortSignal,
): Promise<void> {
  const piece = Math.max(1, Math.floor(perSecond / 20));
  for (let at = 0; at < bytes.length && !response.destroyed; at += piece) {
    response.write(bytes.subarray(at, at + piece));
    await sleep(50, undefined, { signal: closing, ref: false });
  }
  response.end();
}
