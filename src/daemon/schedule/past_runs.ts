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

/** A run that has ended: whether it brought everything, and whether it changed rows. */
export interface EndedRun {
  readonly at: Date;
  readonly isWhole: boolean;
  readonly isChanging: boolean;
}

/** Runs of these schedules that ended within a time, oldest first; changes are those of one company, or of any. Takes no lock. @throws DestinationError, LockedError */
export async function endedRuns(
  where: DestinationConfig,
  { schedules, company }: { readonly schedules: readonly string[]; readonly company: string | undefined },
  [from, to]: readonly [from: Date, to: Date],
): Promise<readonly EndedRun[]> {
  const rows = await looking(where, ({ db }) => {
    const changing = db
      .selectFrom("stream_runs")
      .select("run_id")
      .where(ask => ask.or((["inserted", "updated", "deleted"] as const).map(count => ask(count, ">", 0))));
    const own = company === undefined ? changing : changing.where("company", "=", company);
    return db
      .selectFrom("runs")
      .select(ask => ["finished_at", "exit_code", ask("run_id", "in", own).as("is_changing")])
      .where("command", "in", schedules.map(commandOf))
      .where("finished_at", ">=", from)
      .where("finished_at", "<", to)
      .orderBy("finished_at")
      .execute();
  });
  return (rows ?? []).map(({ finished_at, exit_code, is_changing }) => ({
    ...{ at: finished_at!, isWhole: exit_code === 0, isChanging: is_changing === true },
  }));
}

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
