import { type Selectable, sql } from "kysely";
import type { Message } from "../../message.ts";
import type { Db } from "../database.ts";
import { recentRuns, storedMessages } from "../state/run_log.ts";
import { type WrittenRow, written } from "../state_columns.ts";
import type { StateTables, stateTables } from "../state_tables.ts";

/** What the last runs did. Moments are ISO 8601. */
export interface History {
  /** Newest first. */
  readonly runs: readonly PastRun[];
  readonly streams: readonly StreamHistory[];
}

type Runs = WrittenRow<(typeof stateTables)["runs"]>;

export interface PastRun extends Pick<Runs, "run_id" | "command" | "status" | "started_at" | "finished_at" | "error"> {
  readonly warnings: readonly Message[];
  /** In the order in which they began. */
  readonly streams: readonly PastStreamRun[];
}

export type PastStreamRun = Pick<
  WrittenRow<(typeof stateTables)["stream_runs"]>,
  | ("run_id" | "company" | "stream" | "status" | "started_at" | "finished_at" | "error")
  | ("requests" | "rows_read" | "inserted" | "updated" | "deleted" | "rejected")
>;

export const changesOf = ({ inserted, updated, deleted }: PastStreamRun): number => inserted + updated + deleted;

/** A stream's own last runs, oldest first; those in which it had no turn are left out. */
export interface StreamHistory {
  readonly company: string;
  readonly stream: string;
  readonly runs: readonly PastStreamRun[];
}

/** Reads the last so many runs, and of every stream its own last ones; at most RECENT_RUNS. */
export async function historyOf(
  { db, stateSchema }: { readonly db: Db; readonly stateSchema: string },
  count: number,
): Promise<History> {
  const runs = await lastRuns(db, count);
  const parts = runs.length === 0 ? [] : await streamRunsOf(db, runs);
  const { rows } = await sql<Selectable<StateTables["stream_runs"]>>`select * from (
      select r.*, row_number() over (partition by company, stream order by started_at desc, run_id desc) as nth
      from ${recentRuns(stateSchema)} r
    ) ranked where nth <= ${count} order by company, stream, nth desc`.execute(db);
  const streams = Map.groupBy(rows.map(written), run => JSON.stringify([run.company, run.stream]));
  return {
    runs: runs.map(run => ({
      ...written(run),
      warnings: storedMessages(run.warnings),
      streams: parts.filter(part => part.run_id === run.run_id),
    })),
    streams: [...streams.values()].map(past => ({ company: past[0]!.company, stream: past[0]!.stream, runs: past })),
  };
}

const lastRuns = (db: Db, count: number) =>
  db
    .selectFrom("runs")
    .select(["run_id", "command", "status", "started_at", "finished_at", "warnings", "error"])
    .orderBy("started_at", "desc")
    .orderBy("run_id", "desc")
    .limit(count)
    .execute();

async function streamRunsOf(
  db: Db,
  runs: readonly { readonly run_id: string; readonly started_at: Date }[],
): Promise<readonly PastStreamRun[]> {
  const rows = await db
    .selectFrom("stream_runs")
    .selectAll()
    .where(
      "run_id",
      "in",
      runs.map(run => run.run_id),
    )
    // A run's streams begin with it: nobody has to look at all that were before.
    .where(
      "started_at",
      ">=",
      runs.reduce((first, { started_at: at }) => (at < first ? at : first), runs[0]!.started_at),
    )
    .orderBy("started_at")
    .orderBy("company")
    .orderBy("stream")
    .execute();
  return rows.map(written);
}
