import { type Kysely, type Selectable, sql } from "kysely";
import { recentRuns, sentencesOf } from "../state/run_log.ts";
import type { StateTables } from "../state_tables.ts";

/** What the last runs did. Moments are ISO 8601. */
export interface History {
  /** Newest first. */
  readonly runs: readonly PastRun[];
  readonly streams: readonly StreamHistory[];
}

export interface PastRun {
  readonly runId: string;
  readonly command: string;
  readonly status: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly error: string | null;
  readonly warnings: readonly string[];
  /** In the order in which they began. */
  readonly streams: readonly PastStreamRun[];
}

export interface PastStreamRun {
  readonly runId: string;
  readonly company: string;
  readonly stream: string;
  readonly status: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly rowsRead: number;
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
  readonly rejected: number;
  readonly error: string | null;
}

/** A stream's own last runs, oldest first; those in which it had no turn are left out. */
export interface StreamHistory {
  readonly company: string;
  readonly stream: string;
  readonly runs: readonly PastStreamRun[];
}

/** Reads the last so many runs, and of every stream its own last ones; at most RECENT_RUNS. */
export async function historyOf(
  { db, stateSchema }: { readonly db: Kysely<StateTables>; readonly stateSchema: string },
  count: number,
): Promise<History> {
  const runs = await lastRuns(db, count);
  const parts = runs.length === 0 ? [] : await streamRunsOf(db, runs);
  const { rows } = await sql<Selectable<StateTables["stream_runs"]>>`select * from (
      select r.*, row_number() over (partition by company, stream order by started_at desc, run_id desc) as nth
      from ${await recentRuns({ db, stateSchema })} r
    ) ranked where nth <= ${count} order by company, stream, nth desc`.execute(db);
  const streams = Map.groupBy(rows.map(pastStreamRun), run => JSON.stringify([run.company, run.stream]));
  return {
    runs: runs.map(run => ({
      runId: run.run_id,
      command: run.command,
      status: run.status,
      startedAt: run.started_at.toISOString(),
      finishedAt: run.finished_at?.toISOString() ?? null,
      error: run.error,
      warnings: sentencesOf(run.warnings),
      streams: parts.filter(part => part.runId === run.run_id),
    })),
    streams: [...streams.values()].map(past => ({ company: past[0]!.company, stream: past[0]!.stream, runs: past })),
  };
}

const lastRuns = (db: Kysely<StateTables>, count: number) =>
  db
    .selectFrom("runs")
    .select(["run_id", "command", "status", "started_at", "finished_at", "warnings", "error"])
    .orderBy("started_at", "desc")
    .orderBy("run_id", "desc")
    .limit(count)
    .execute();

async function streamRunsOf(
  db: Kysely<StateTables>,
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
  return rows.map(pastStreamRun);
}

function pastStreamRun(row: Selectable<StateTables["stream_runs"]>): PastStreamRun {
  return {
    runId: row.run_id,
    company: row.company,
    stream: row.stream,
    status: row.status,
    startedAt: row.started_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
    rowsRead: Number(row.rows_read),
    changes: Number(row.inserted) + Number(row.updated) + Number(row.deleted),
    rejected: Number(row.rejected),
    error: row.error,
  };
}
