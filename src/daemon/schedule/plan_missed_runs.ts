import type { Clock } from "../../clock.ts";
import type { Log } from "../../logging.ts";
import { messageFor } from "../../sync/run/report.ts";
import { scheduleMessages } from "./messages.ts";
import type { Past, PastRun } from "./past_runs.ts";
import type { Plan } from "./plan.ts";

export interface CatchUpTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly redact: (text: string) => string;
  readonly plan: Pick<Plan, "resume">;
  /** Undefined for a warehouse that was never loaded. */
  readonly past: () => Promise<Past | undefined>;
  /** Schedules whose earlier runs matter; one that has run meanwhile is taken out. */
  readonly unread: ReadonlySet<string>;
  readonly planned: () => void;
}

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;

/**
 * Plans what is owed from the time before the daemon came up. A warehouse that does not answer, as after a power cut that
 * hit its server too, is asked again, later and later, until the signal.
 */
export async function catchUp(tools: CatchUpTools, signal: AbortSignal): Promise<void> {
  const { clock, log, redact } = tools;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const past = await tools.past();
      if (signal.aborted) return;
      for (const name of tools.unread) resume(name, past?.get(name) ?? [], past !== undefined, tools);
      return;
    } catch (error) {
      const reason = redact(messageFor(error).message);
      log.warn(scheduleMessages.past_unreadable({ reason }), { again_in_s: pauseMs / 1000 });
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }
}

function resume(
  schedule: string,
  past: readonly PastRun[],
  loaded: boolean,
  { clock, log, plan, planned }: CatchUpTools,
): void {
  if (past.length === 0) {
    log.info(scheduleMessages.never_ran({ is_loaded: loaded }), { schedule });
    return;
  }
  const turn = plan.resume(schedule, past, clock.now());
  if (turn === undefined) return;
  const why = turn.cause === "missed" ? scheduleMessages.missed() : scheduleMessages.unfinished();
  log.info(why, { schedule, at: new Date(turn.at).toISOString() });
  planned();
}
