import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { ColumnProblems } from "../../rows/encoder.ts";
import type { Db } from "../database.ts";
import { missingTables } from "../ddl/present_tables.ts";
import type { Destination } from "../destination.ts";
import { countOf, tableRef } from "../sql_fragments.ts";
import { putRow } from "../state_rows.ts";
import { liveRows } from "./table_counts.ts";

/** Values of one column that are NULL for one reason, as a table holds them. */
interface ProblemCount {
  readonly column: string;
  readonly reason: string;
  readonly rows: number;
}

/**
 * Brings the stream's rows of `problems`, one a column and reason, to what its tables hold now, within the transaction that
 * touched them, once its live rows are counted. `met` is what this publish could not read: first and last seen are when it was met.
 */
export async function saveProblems(
  trx: Db,
  destination: Destination,
  { company, stream: { name: stream, tables } }: { readonly company: string; readonly stream: Stream },
  met: readonly ColumnProblems[],
  now: string,
): Promise<void> {
  const known = await trx
    .selectFrom("problems")
    .selectAll()
    .where(({ and }) => and({ company, stream }))
    .execute();
  if (known.length === 0 && met.length === 0) return;
  // A stream that is off may have lost some.
  const gone = await missingTables({ ...destination, db: trx }, tables);
  for (const table of [tables.main, ...tables.children]) {
    const before = known.filter(row => row.table_name === table.name);
    const fresh = met.filter(problem => problem.table === table.name);
    if ((before.length === 0 && fresh.length === 0) || gone.includes(table.name)) continue;
    const held = await countProblems(trx, destination, company, table);
    const live = await countLive(trx, destination, company, table);
    const same = (a: Pick<ProblemCount, "column" | "reason">) => (b: Pick<ProblemCount, "column" | "reason">) =>
      a.column === b.column && a.reason === b.reason;
    const all = [...before.map(({ column_name: column, reason }) => ({ column, reason })), ...held, ...fresh];
    for (const one of all.filter((each, i) => all.findIndex(same(each)) === i)) {
      const was = before.find(row => row.column_name === one.column && row.reason === one.reason);
      const seen = fresh.find(same(one));
      const rows = held.find(same(one))?.rows ?? 0;
      const share = rows / Math.max(1, live);
      if (was !== undefined && seen === undefined && was.rows === rows && was.share === share) continue;
      const key = { company, stream, table_name: table.name, column_name: one.column, reason: one.reason };
      const example = seen?.example ?? was?.example ?? null;
      const first_seen_at = was?.first_seen_at.toISOString() ?? now;
      const last_seen_at = (seen === undefined ? was?.last_seen_at.toISOString() : undefined) ?? now;
      await putRow(trx, "problems", { ...key, rows, share, example, first_seen_at, last_seen_at });
    }
  }
}

/** Of each stream how many values its tables hold that could not be read. */
export const presentProblems = (db: Db) =>
  db
    .selectFrom("problems")
    .select(({ fn }) => ["company", "stream", fn.sum("rows").as("rows")])
    .groupBy(["company", "stream"])
    .execute();

/** What a table's live rows say of values that could not be read. */
async function countProblems(
  db: Db,
  destination: Destination,
  company: string,
  table: Table,
): Promise<readonly ProblemCount[]> {
  const { rows } = await sql<ProblemCount>`select f.value as "column", t._problems -> f.value ->> 'reason' as reason,
      count(*) as rows
    from (select _problems from ${tableRef(destination, table)}
      where _company = ${company} and _deleted_at is null and _problems is not null) t
    cross join lateral ${destination.dialect.fieldNames(sql`t._problems`)} as f group by 1, 2`.execute(db);
  return rows;
}

/** Live rows of a table: a main table's have just been counted. */
async function countLive(db: Db, destination: Destination, company: string, table: Table): Promise<number> {
  if (table.path.length === 0) return (await liveRows(db, company, table.name)) ?? 0;
  return countOf(db, sql`${tableRef(destination, table)} where _company = ${company} and _deleted_at is null`);
}
