import type { Clock } from "../../clock.ts";
import { isFailure } from "../../errors.ts";
import { isLate } from "../../warehouse/state/freshness.ts";
import type { CachedStatus } from "../cached_status.ts";
import type { Daemon } from "../schedule/events.ts";
import type { Route } from "./route.ts";

/** What readiness is judged by. `lateAfterMs` is asked each time, so that a reloaded configuration holds. */
export interface HealthSources {
  readonly clock: Clock;
  readonly daemon: Pick<Daemon, "listen" | "live">;
  readonly cachedStatus: () => Promise<CachedStatus>;
  readonly lateAfterMs: () => number;
}

/**
 * `/healthz` answers 200 while the process lives and its runs end in time: restart it when it does not. `/readyz` answers 200
 * while the data can be relied on, else 503 and one line: a restart does not mend that. Both are open, so no line names a
 * stream, a company or an error.
 */
export function healthRoutes(sources: HealthSources): readonly Route[] {
  // A run that was stopped, or that another run kept waiting, does not change whether the data is ready.
  let lastCode: number | undefined;
  sources.daemon.listen(event => {
    if (event.kind !== "finished") return;
    const { exit_code } = event.outcome;
    if (exit_code === 0 || isFailure(exit_code)) lastCode = exit_code;
  });
  return [
    route("/healthz", "ok", () => (sources.daemon.live()?.overdueSince === undefined ? undefined : OVERDUE)),
    route("/readyz", "ready", () => whyNotReady(sources, lastCode)),
  ];
}

/** Answers 200 and `well`, or 503 and why not. */
const route = (path: string, well: string, whyNot: () => string | undefined | Promise<string | undefined>): Route => ({
  ...{ method: "GET", path, open: true },
  answer: async () => {
    const reason = await whyNot();
    const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
    return new Response(`${reason ?? well}\n`, { status: reason === undefined ? 200 : 503, headers });
  },
});

export interface WorkerHealth {
  /** Whether the queue has heard of it within the heartbeat. */
  readonly isConnected: boolean;
  readonly isDraining: boolean;
  readonly refusal: string | undefined;
}

/**
 * `/healthz` of a worker answers 200 while the queue knows that it lives, `/readyz` while it takes jobs. `look` may read the
 * queue. Both are open, so they don't say why it refuses: the reason may name a stream.
 */
export function workerRoutes(look: () => WorkerHealth | Promise<WorkerHealth>): readonly Route[] {
  const whyLost = ({ isConnected }: WorkerHealth) =>
    isConnected ? undefined : "The queue of jobs has not heard of this worker for too long.";
  const whyIdle = ({ isDraining, refusal }: WorkerHealth) => {
    if (refusal !== undefined) return "This worker takes no jobs: its log and `tributary status` say why.";
    return isDraining ? "This worker leaves once it is done with what it has." : undefined;
  };
  return [
    route("/healthz", "ok", async () => whyLost(await look())),
    route("/readyz", "ready", async () => {
      const health = await look();
      return whyLost(health) ?? whyIdle(health);
    }),
  ];
}

const OVERDUE = "A run goes on long after its max_time: restart this process, nothing is lost.";

/** `lastCode` is how the daemon's last run ended that succeeded or failed; undefined before there was one. */
async function whyNotReady(
  { clock, cachedStatus, lateAfterMs }: HealthSources,
  lastCode: number | undefined,
): Promise<string | undefined> {
  const { status } = await cachedStatus();
  if (status === undefined) return "The warehouse cannot be read.";
  if (lastCode !== undefined && isFailure(lastCode)) return "The last run failed.";
  if (!status.warehouse.loaded) return "Nothing has been loaded yet.";
  // A run has locked the file (`readers: direct`): it can be read when the run has ended.
  if (status.warehouse.note !== null) return undefined;
  const { last_run, streams } = status;
  if (lastCode === undefined && last_run !== null && isFailure(last_run.exit_code ?? 1)) return "The last run failed.";
  const on = streams.filter(stream => stream.on);
  if (on.every(stream => stream.last_success_at === null)) return "Nothing has been loaded yet.";
  const now = clock.now();
  if (on.some(stream => isLate(stream, lateAfterMs(), now))) return "Some data is later than it should be.";
  return undefined;
}
