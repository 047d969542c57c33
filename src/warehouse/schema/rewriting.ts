import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import type { Db } from "../database.ts";
import { NO_FINGERPRINT } from "../ddl/shape.ts";
import type { Dialect } from "../dialect.ts";
import { equal } from "../sql_fragments.ts";
import { rowStateName } from "../state_tables.ts";

/** What becomes of a stored text, or of JSON as text: another one, null, or undefined where it stays. */
export type Change = (text: string) => string | null | undefined;

/** A column whose values are replaced, or emptied (`change` null). */
export interface Rewriting {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly isJson: boolean;
  /** Only rows of this stream. */
  readonly stream?: string;
  /** Gets the timestamp of the rewriting in the rows that change. */
  readonly stamp?: { readonly column: string; readonly timestamp: string };
  readonly change: Change | null;
}

const VALUES = "tributary_values";
const PAGE = 5_000;
const INSERTED = 250;

/** Replaces values in place. Each distinct one is looked at once, in pages, so that memory doesn't grow with the table. Answers how many rows changed. */
export async function rewriteColumn(db: Db, dialect: Dialect, rewriting: Rewriting): Promise<number> {
  const { schema, table, column, change } = rewriting;
  const target = sql.id(schema, table);
  const where = rewriting.stream === undefined ? sql`` : sql` and t.stream = ${rewriting.stream}`;
  const stamp =
    rewriting.stamp === undefined
      ? sql``
      : sql`, ${sql.id(rewriting.stamp.column)} = cast(${rewriting.stamp.timestamp} as timestamptz)`;
  const own = sql.id("t", column);
  if (change === null)
    return changed(
      await sql`update ${target} t set ${sql.id(column)} = null${stamp} where ${own} is not null${where}`.execute(db),
    );
  const values = sql.id(VALUES);
  await sql`drop table if exists ${values}`.execute(db);
  await sql`create temporary table ${values} (old text, new text)`.execute(db);
  const text = dialect.byteText(own);
  let found = 0;
  for (let last: string | undefined; ; ) {
    const after = last === undefined ? sql`` : sql` and ${text} > ${last}`;
    const { rows } = await sql<{ value: string }>`select distinct ${text} as value from ${target} t
      where ${own} is not null${where}${after} order by 1 limit ${sql.lit(PAGE)}`.execute(db);
    const pairs = rows.flatMap(({ value }) => {
      const next = change(value);
      return next === undefined || next === value ? [] : [sql`(${value}, ${next})`];
    });
    for (let i = 0; i < pairs.length; i += INSERTED)
      await sql`insert into ${values} (old, new) values ${sql.join(pairs.slice(i, i + INSERTED))}`.execute(db);
    found += pairs.length;
    if (rows.length < PAGE) break;
    last = rows.at(-1)!.value;
  }
  const as = rewriting.isJson ? sql.raw(dialect.columnType("json")) : sql.raw(dialect.columnType("text"));
  const rows =
    found === 0
      ? 0
      : changed(
          await sql`update ${target} t set ${sql.id(column)} = cast(v.new as ${as})${stamp} from ${values} v
            where ${text} = v.old${where}`.execute(db),
        );
  await sql`drop table ${values}`.execute(db);
  return rows;
}

const changed = ({ numAffectedRows = 0n }: { readonly numAffectedRows?: bigint }): number => Number(numAffectedRows);

/** When a publish, or a rewriting, last touched the table. */
export async function lastChange(db: Db, schema: string, { name }: Table): Promise<Date | undefined> {
  const { rows } = await sql<{
    last: Date | null;
  }>`select max(_changed_at) as last from ${sql.id(schema, name)}`.execute(db);
  return rows[0]?.last ?? undefined;
}

/** The row state's hashes are of values that are not there any more: the next full scan compares the columns themselves. */
export async function forgetHashes(db: Db, stateSchema: string, { name }: Table): Promise<void> {
  await sql`update ${sql.id(stateSchema, rowStateName(name))} set stamp = ${sql.lit(NO_FINGERPRINT)}`.execute(db);
}

/** Whatever changes in a child row moves its detail's main row: those of the rows that changed at this timestamp. */
export async function moveParents(db: Db, schema: string, main: Table, child: Table, timestamp: string): Promise<void> {
  await sql`update ${sql.id(schema, main.name)} m set _changed_at = cast(${timestamp} as timestamptz)
    where exists (select 1 from ${sql.id(schema, child.name)} c where ${equal("c", "m", ["_company", ...main.key])}
      and c._changed_at = cast(${timestamp} as timestamptz))`.execute(db);
}
