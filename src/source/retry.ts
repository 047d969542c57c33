/** Requests sent for one answer at most, the first included; answers with 429 don't count. */
export const maxAttempts = 6;

const base = 500;
const cap = 30_000;
const limitedBase = 1_000;
const limitedCap = 60_000;

/** Milliseconds before the next attempt after `failures` failed ones: full jitter below 0.5, 1, 2 … 30 s; `atLeast` is what the service asked for. */
export function backoff(failures: number, random: () => number, atLeast = 0): number {
  return Math.max(atLeast, Math.round(random() * Math.min(cap, base * 2 ** (failures - 1))));
}

/** Milliseconds to pause after the `count`-th 429 of a request: what the service asked for, else 1, 2, 4 … 60 s and up to half as much again. */
export function limitedWait(count: number, retryAfter: number | undefined, random: () => number): number {
  if (retryAfter !== undefined && retryAfter > 0) return retryAfter;
  const wait = Math.min(limitedCap, limitedBase * 2 ** (count - 1));
  return Math.round(wait * (1 + random() / 2));
}

/** A Retry-After header in ms: seconds, or an HTTP date less the answer's time. Undefined when absent or unreadable; never negative. */
export function retryAfterMs(header: string | undefined, at: Date): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const until = httpDate(text);
  return until === undefined ? undefined : Math.max(0, until.getTime() - at.getTime());
}

/** An HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`), or undefined when it is none. */
export function httpDate(text: string | undefined): Date | undefined {
  // Date.parse also takes "7" and "-5", which are not dates here.
  if (text === undefined || !/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : new Date(at);
}
