import { join } from "node:path";
import type { Db } from "../database.ts";
import type { Ask } from "../duckdb/parquet/parquet_files.ts";
import { attempting } from "../duckdb/session/failure.ts";
import type { CopyOut, Exportable, ParquetSource, SourceColumn, SourceTable } from "../parquet_source.ts";

/** What DuckDB may use while it writes Parquet, and the folder for what doesn't fit: values are private, so it is no public one. */
export const exportResources = (room: string) => ({
  ...{ memoryLimitMb: 256, threads: 1 },
  ...{ spill: join(room, "spill"), spillsInPrivate: true },
});

const answerTable = (columns: readonly SourceColumn[]): SourceTable => ({
  ...{ name: "answer", columns, partitions: [], company: undefined, live: false },
});

/** The tables of one moment: what they are asked for, and what writes them. */
export interface Moment {
  readonly db: Db;
  readonly source: ParquetSource;
}

/**
 * Reads tables within one transaction (PostgreSQL) or out of one version (DuckDB), so that all of them are of one moment.
 * `room`: a private folder for what is on its way, there by the time something is written. Rejects with the signal's reason
 * soon after it is given.
 */
export async function atOneMoment<T>(
  from: Exportable,
  room: string,
  signal: AbortSignal,
  work: (moment: Moment) => Promise<T>,
): Promise<T> {
  const reading = from.copyOut === undefined ? inDuckdb : inPostgres;
  try {
    return await reading(from, room, signal, work);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

async function inDuckdb<T>(
  { db, schema, interrupt }: Exportable,
  _room: string,
  signal: AbortSignal,
  work: (moment: Moment) => Promise<T>,
): Promise<T> {
  const { duckdbSource } = await import("../duckdb/parquet/parquet.ts");
  // A version never changes, nor does a file that is ours meanwhile; a transaction would end with a sort that lacks memory.
  return interrupted(signal, interrupt, () =>
    db.connection().execute(async one => work({ db: one, source: duckdbSource(one, schema, signal) })),
  );
}

async function inPostgres<T>(
  { db, schema, copyOut, columnsOf }: Exportable,
  room: string,
  signal: AbortSignal,
  work: (moment: Moment) => Promise<T>,
): Promise<T> {
  if (copyOut === undefined) throw new TypeError("a connection to PostgreSQL is expected to copy rows out");
  const { openEmpty } = await import("../duckdb/session/session.ts");
  using session = await openEmpty(exportResources(room));
  const ask: Ask = async text => {
    signal.throwIfAborted();
    const result = await attempting("write Parquet", () => session.connection.run(text));
    return result.getRowObjects();
  };
  const copy: CopyOut = (query, take) =>
    copyOut(query, piece => {
      signal.throwIfAborted();
      return take(piece);
    });
  const interrupt = () => session.connection.interrupt();
  return await interrupted(signal, interrupt, () =>
    db
      .transaction()
      .setIsolationLevel("repeatable read")
      .setAccessMode("read only")
      .execute(async trx =>
        work({ db: trx, source: await postgresSource({ trx, schema, room, ask, copyOut: copy, columnsOf }) }),
      ),
  );
}

export async function interrupted<T>(
  signal: AbortSignal,
  interrupt: (() => void) | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const stop = () => interrupt?.();
  signal.addEventListener("abort", stop);
  try {
    return await work();
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

interface PostgresRows {
  readonly trx: Db;
  readonly schema: string;
  readonly room: string;
  readonly ask: Ask;
  readonly copyOut: CopyOut;
  readonly columnsOf: Exportable["columnsOf"];
}

async function postgresSource({ trx, schema, room, ask, copyOut, columnsOf }: PostgresRows): Promise<ParquetSource> {
  const { copyQuery, countPartitions, countRows } = await import("../postgres/rows_out.ts");
  const { spoolIntoFiles } = await import("../duckdb/parquet/spool.ts");
  return {
    count: table => countRows(trx, schema, table),
    partitions: (table, most) => countPartitions(trx, schema, table, most),
    write: (table, target, progress) =>
      spoolIntoFiles({
        ...{ ask, copyOut, table, target, progress },
        query: copyQuery(schema, table),
        room: join(room, "rows"),
      }),
    async writeAnswer(query, target) {
      if (columnsOf === undefined) throw new TypeError("a reader is expected to know the columns of a query");
      const table = answerTable(await columnsOf(query));
      const [file] = await spoolIntoFiles({
        ...{ ask, copyOut, table, target, progress: () => undefined, sliceBytes: Number.POSITIVE_INFINITY },
        query: `copy (select 0, answer.* from (${query}) answer) to stdout (format csv)`,
        room: join(room, "rows"),
      });
      return file!;
    },
  };
}
