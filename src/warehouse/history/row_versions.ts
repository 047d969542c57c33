import { sql } from "kysely";
import { LINE_ID_COLUMN, type Table, type TableSet } from "../../catalog/columns.ts";
import type { Db, Fragment, Trx } from "../database.ts";
import { versionsName } from "../ddl/as_of.ts";
import type { Destination } from "../destination.ts";
import { anyDiffers, assignments, columnList, equal, tableRef, timestampOf } from "../sql_fragments.ts";

/*
 * Row history, as SCD type 2: `<table>_versions` holds every version of a row with the time from which and until which it
 * was the present one.
 */

interface Versioning {
  readonly trx: Db;
  readonly destination: Pick<Destination, "schema">;
  readonly timestamp: string;
  readonly versioned: ReadonlySet<string>;
}

const versionsRef = ({ schema }: Pick<Destination, "schema">, table: Table): Fragment =>
  sql.id(schema, versionsName(table));

/** What a version says; the table's own notes of when it changed and went are the version's bounds. */
const contentOf = (table: Table): readonly string[] => [
  ...table.columns.map(column => column.name),
  "_extra",
  "_problems",
];

const insertInto = (destination: Pick<Destination, "schema">, table: Table, timestamp: Fragment): Fragment => {
  const content = contentOf(table);
  return sql`insert into ${versionsRef(destination, table)} (_company, ${columnList(content)}, _valid_from, _valid_to, _is_current)
    select t._company, ${columnList(content, "t")}, ${timestamp}, cast(null as timestamptz), true`;
};

/**
 * Ends, with this publish, the present versions `t` that meet a condition over `t` and what stands in `others`. One that
 * began with a publish of the same timestamp was never seen: it goes.
 */
export async function endVersions(
  work: Versioning,
  { main }: TableSet,
  table: Table,
  others: Fragment,
  match: Fragment,
): Promise<void> {
  if (!work.versioned.has(main.name)) return;
  const target = versionsRef(work.destination, table);
  const timestamp = timestampOf(work);
  await sql`delete from ${target} t using ${others} where ${match} and t._valid_to is null
    and t._valid_from >= ${timestamp}`.execute(work.trx);
  await sql`update ${target} t set _valid_to = ${timestamp}, _is_current = false from ${others}
    where ${match} and t._valid_to is null`.execute(work.trx);
}

/** Begins a version of each live row `t` that this publish changed and that meets a condition over `t` and what stands in `others`. */
export async function beginVersions(
  work: Versioning,
  { main }: TableSet,
  table: Table,
  others: Fragment | undefined,
  match: Fragment,
): Promise<void> {
  if (!work.versioned.has(main.name)) return;
  const timestamp = timestampOf(work);
  const from = others === undefined ? sql`` : sql`, ${others}`;
  await sql`${insertInto(work.destination, table, timestamp)} from ${tableRef(work.destination, table)} t${from}
    where ${match} and t._changed_at = ${timestamp} and t._deleted_at is null`.execute(work.trx);
}

/** What begins no version, and yet is said with it: the present one has the row's own. */
const FOLLOWED: readonly string[] = ["_extra", LINE_ID_COLUMN];

const followed = (
  table: Table,
  destination: Pick<Destination, "schema">,
  match: Fragment,
  others?: Fragment,
): Fragment => {
  const names = contentOf(table).filter(name => FOLLOWED.includes(name));
  return sql`update ${versionsRef(destination, table)} v set ${assignments(names, "t")}
    from ${tableRef(destination, table)} t${others === undefined ? sql`` : sql` join ${others} on ${match}`}
    where v._company = t._company and ${equal("v", "t", table.key)} and v._valid_to is null and t._deleted_at is null
      and ${anyDiffers("v", "t", names)}${others === undefined ? sql` and ${match}` : sql``}`;
};

/** What begins no version, such as fields that the documents don't name: the present ones of the rows `t` that match `others` get it. */
export async function followRows(
  work: Versioning,
  { main, children }: TableSet,
  others: Fragment,
  match: Fragment,
): Promise<void> {
  if (!work.versioned.has(main.name)) return;
  for (const table of [main, ...children]) await followed(table, work.destination, match, others).execute(work.trx);
}

export interface Caught {
  readonly ended: number;
  readonly begun: number;
}

/**
 * Makes the present versions of a company's rows equal the table, whatever happened to it since they were written: those
 * whose row is gone or says something else end, rows without one begin one.
 */
export async function catchUp(
  trx: Trx,
  destination: Destination,
  company: string,
  table: Table,
  timestamp: string,
): Promise<Caught> {
  const target = versionsRef(destination, table);
  const rows = tableRef(destination, table);
  const at = sql`cast(${timestamp} as timestamptz)`;
  const stable = table.columns.filter(column => !column.volatile && !table.key.includes(column.name));
  const names = stable.map(column => column.name);
  const stale = sql`(select ${columnList(table.key, "o")} from ${target} o
    left join ${rows} r on r._company = ${company} and ${equal("r", "o", table.key)} and r._deleted_at is null
    where o._company = ${company} and o._valid_to is null and (r._company is null or ${anyDiffers("r", "o", names)}))`;
  const ended = await sql`update ${target} t set _valid_to = ${at}, _is_current = false from ${stale} s
    where t._company = ${company} and ${equal("t", "s", table.key)} and t._valid_to is null`.execute(trx);
  const begun = await sql`${insertInto(destination, table, at)} from ${rows} t
    where t._company = ${company} and t._deleted_at is null and not exists (select 1 from ${target} o
      where o._company = ${company} and ${equal("o", "t", table.key)} and o._valid_to is null)`.execute(trx);
  await followed(table, destination, sql`t._company = ${company}`).execute(trx);
  return { ended: Number(ended.numAffectedRows ?? 0), begun: Number(begun.numAffectedRows ?? 0) };
}

/** The last timestamp that a company's rows or their versions speak of, milliseconds since 1970; 0 for none. */
export async function lastTimestampOf(
  trx: Trx,
  destination: Destination,
  company: string,
  { main, children }: TableSet,
): Promise<number> {
  const timestamps = [main, ...children].flatMap(table => [
    sql`select max(_changed_at) as last from ${tableRef(destination, table)} where _company = ${company}`,
    sql`select max(greatest(_valid_from, _valid_to)) as last from ${versionsRef(destination, table)} where _company = ${company}`,
  ]);
  const { rows } = await sql<{ last: Date | null }>`select max(last) as last
    from (${sql.join(timestamps, sql` union all `)}) m`.execute(trx);
  return rows[0]?.last?.getTime() ?? 0;
}
