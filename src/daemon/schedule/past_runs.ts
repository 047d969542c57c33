import type { DestinationConfig } from "../../config/config.ts";
import { looking } from "../../warehouse/connect/reading.ts";
import { commandOf } from "./order.ts";

/** A run of a schedule that began earlier. Moments are ms since the epoch. */
export interface PastRun {
  readonly startedAt: number;
  /** Undefined for one whose end was never recorded. */
  readonly finishedAt: number | undefined;
  /** Undefined for one that was killed. */
  readonly exitCode: number | undefined;
}

/** By schedule, newest first. */
export type Past = ReadonlyMap<string, readonly PastRun[]>;

/** Runs that are read of each schedule: the most retries of one occurrence, and the run itself. */
const ENOUGH = 101;

/** What the warehouse's records say of the schedules' runs, but for those that `goOn` elsewhere; undefined for one that was never loaded. Takes no lock. @throws DestinationError, LockedError */
export async function readPast(
  where: DestinationConfig,
  schedules: readonly string[],
  goOn: ReadonlySet<string> = new Set(),
): Promise<Past | undefined> {
  return looking(where, async ({ db }) => {
    const past = new Map<string, readonly PastRun[]>();
    for (const name of schedules) {
      const rows = await db
        .selectFrom("runs")
        .select(["run_id", "started_at", "finished_at", "exit_code"])
        .where("command", "=", commandOf(name))
        .orderBy("started_at", "desc")
        .orderBy("run_id", "desc")
        .limit(ENOUGH)
        .execute();
      const ended = rows.filter(({ run_id }) => !goOn.has(run_id));
      const runs = ended.map(({ started_at, finished_at, exit_code }) => ({
        startedAt: started_at.getTime(),
        finishedAt: finished_at?.getTime(),
        exitCode: exit_code ?? undefined,
      }));
      past.set(name, runs);
    }
    return past;
  });
}
