import { type Clock, withTimeLimit } from "../../clock.ts";
import type { HooksConfig } from "../../config/config.ts";
import type { Daemon } from "../schedule/events.ts";
import { isSame } from "./access.ts";
import type { Route } from "./route.ts";

/** What the hook needs. `hooks` is asked at each call, so that a reloaded configuration holds; undefined: there is no hook. */
export interface HookSources {
  readonly hooks: () => Pick<HooksConfig, "secret"> | undefined;
  readonly daemon: Pick<Daemon, "hint" | "nextRuns">;
  readonly clock: Clock;
}

const PER_MINUTE = 30;
const MINUTE_MS = 60_000;
const MAX_BODY_BYTES = 64 * 1024;
const BODY_MS = 10_000;

/**
 * `POST /hooks/:secret`: a hint that starts a run soon. Open, as it has a secret of its own. The body is read, up to a ceiling, so
 * that its sender is content, and never looked at: what arrived is asked of the service itself.
 */
export function hookRoute({ hooks, daemon, clock }: HookSources): Route {
  // Counted apart: wrong secrets must not use up the allowance of callers with the right one.
  const callers = allowance(clock);
  const strangers = allowance(clock);

  return {
    method: "POST",
    path: "/hooks/:secret",
    open: true,
    answer: async (request, params) => {
      const settings = hooks();
      const known = settings !== undefined && isSame(params["secret"] ?? "", settings.secret);
      const wait = settings === undefined ? undefined : (known ? callers : strangers)();
      if (wait !== undefined) {
        await request.body?.cancel();
        const error = `No more than ${PER_MINUTE} calls a minute are taken; try again in ${wait} s.`;
        return json(429, { error }, { "retry-after": String(wait) });
      }
      if (!known) {
        await request.body?.cancel();
        // The same answer as for a path that does not exist.
        return new Response("404 Not Found\n", {
          status: 404,
          headers: { "content-type": "text/plain; charset=UTF-8", "cache-control": "no-store" },
        });
      }
      const refusal = await readThrough(request, clock);
      if (refusal !== undefined) return refusal;
      if (daemon.nextRuns().some(next => next.cause === "hint"))
        return json(202, { accepted: false, reason: "A run that was asked for before is still to begin." });
      if (daemon.hint()) return json(202, { accepted: true });
      const reason = "There is nothing to run: no stream of hooks.streams is on, or tributary is ending.";
      return json(202, { accepted: false, reason });
    },
  };
}

/** Counts a call; the seconds to wait when there were too many within the last minute. */
function allowance(clock: Clock): () => number | undefined {
  let calls: number[] = [];
  return () => {
    const now = clock.now();
    calls = calls.filter(at => now - at < MINUTE_MS);
    const oldest = calls[0];
    if (oldest !== undefined && calls.length >= PER_MINUTE) return Math.ceil((oldest + MINUTE_MS - now) / 1_000);
    calls.push(now);
    return undefined;
  };
}

/** Reads a body to its end and forgets it; an answer when it is too long or too slow. */
async function readThrough(request: Request, clock: Clock): Promise<Response | undefined> {
  if (request.body === null) return undefined;
  const reader = request.body.getReader();
  try {
    const bytes = await withTimeLimit(clock, BODY_MS, drain(reader), undefined);
    if (bytes !== undefined && bytes <= MAX_BODY_BYTES) return undefined;
    await reader.cancel();
    if (bytes === undefined) return json(408, { error: `Expected the whole body within ${BODY_MS / 1_000} s.` });
    return json(413, { error: `Expected a body of at most ${MAX_BODY_BYTES / 1024} kB.` });
  } catch {
    return json(400, { error: "The body broke off." });
  }
}

/** Reads to the end, or until there is more than a body may have; returns the number of bytes. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<number> {
  let bytes = 0;
  while (bytes <= MAX_BODY_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
  }
  return bytes;
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { "cache-control": "no-store", ...headers } });
}
