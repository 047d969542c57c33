import { type Clock, withTimeLimit } from "../../clock.ts";
import type { HooksConfig } from "../../config/config.ts";
import { HOOK } from "../../config/schedules.ts";
import { ConfigError } from "../../errors.ts";
import { parsedJson } from "../../files.ts";
import type { Daemon } from "../schedule/events.ts";
import { isSame } from "./access.ts";
import type { Route } from "./route.ts";

/** What the hook needs. `hooks` is asked at each call, so that a reloaded configuration holds; undefined: there is no hook. */
export interface HookSources {
  readonly hooks: () => Pick<HooksConfig, "secret"> | undefined;
  readonly daemon: Pick<Daemon, "hint" | "refresh" | "nextRuns">;
  readonly clock: Clock;
}

const PER_MINUTE = 30;
const MINUTE_MS = 60_000;
const MAX_BODY_BYTES = 64 * 1024;
const BODY_MS = 10_000;

const MOST_KEYS = 100;
const EXPECTED = `Expected {"list": "NAME", "keys": ["KEY"]}, with a list's name and 1 to ${MOST_KEYS} keys that are texts.`;

/**
 * `POST /hooks/:secret`: a hint that starts a run soon. Open, as it has a secret of its own. A body that names a list and keys of
 * its rows has their details fetched at once. Nothing else of a body is looked at: what arrived is asked of the service itself.
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
      const body = await readThrough(request, clock);
      if (typeof body !== "string") return body;
      const rows = rowsNamedIn(body);
      if (rows !== undefined) return refresh(rows, daemon);
      if (daemon.nextRuns().some(next => next.schedule === HOOK))
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

/** The list and the keys that a body names, whatever these are, one of them forgotten too; undefined for a body that is about something else. */
function rowsNamedIn(body: string): { readonly list?: unknown; readonly keys?: unknown } | undefined {
  const said = parsedJson(body);
  return typeof said === "object" && said !== null && ("list" in said || "keys" in said) ? said : undefined;
}

function refresh({ list, keys }: NonNullable<ReturnType<typeof rowsNamedIn>>, daemon: HookSources["daemon"]): Response {
  const areTexts = Array.isArray(keys) && keys.every(key => typeof key === "string");
  if (typeof list !== "string" || !areTexts || keys.length < 1 || keys.length > MOST_KEYS)
    return json(400, { error: EXPECTED });
  try {
    const error = daemon.refresh({ list, keys });
    if (error === undefined) return json(202, { accepted: true, list, keys: keys.length });
    return json(503, { error: `${error} Nothing of this hint is kept; send it again.` }, { "retry-after": "60" });
  } catch (error) {
    if (error instanceof ConfigError) return json(400, { error: error.message });
    throw error;
  }
}

/** Reads a body to its end; an answer when it is too long or too slow. */
async function readThrough(request: Request, clock: Clock): Promise<Response | string> {
  if (request.body === null) return "";
  const reader = request.body.getReader();
  try {
    const body = await withTimeLimit(clock, BODY_MS, drain(reader), undefined);
    if (body !== undefined && body.byteLength <= MAX_BODY_BYTES) return body.toString("utf8");
    await reader.cancel();
    if (body === undefined) return json(408, { error: `Expected the whole body within ${BODY_MS / 1_000} s.` });
    return json(413, { error: `Expected a body of at most ${MAX_BODY_BYTES / 1024} kB.` });
  } catch {
    return json(400, { error: "The body broke off." });
  }
}

/** Reads to the end, or until there is more than a body may have. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= MAX_BODY_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    pieces.push(value);
  }
  return Buffer.concat(pieces);
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { "cache-control": "no-store", ...headers } });
}
