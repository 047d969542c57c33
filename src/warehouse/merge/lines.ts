import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import { stageColumns } from "../../rows/batch.ts";
import type { ColumnProblems } from "../../rows/encoder.ts";
import type { Fragment } from "../database.ts";
import type { Stage } from "../destination.ts";
import { beginVersions, endVersions } from "../history/row_versions.ts";
import { anyDiffers, assignments, columnList, countOf, equal, tableRef, timestampOf } from "../sql_fragments.ts";
import { type DeletionLimits, isTooMany } from "./deletion_limits.ts";
import type { Diff, Publishing } from "./load_target.ts";

/** The staged lines of a child table; the stage also notes rows that came without a readable array. */
export const linesOf = (stage: Stage, child: Table): Fragment =>
  sql`(select * from ${stage.rows(child)} where _index >= 0)`;

const unreadable = (stage: Stage, child: Table): Fragment =>
  sql`(select distinct _seq from ${stage.rows(child)} where _index < 0)`;

/** Live lines of a child table that the answers of known rows lack. */
interface LostLines {
  readonly child: Table;
  /** Rows whose array was left out or unreadable: nothing is known of their lines, so they stay. */
  readonly keptRows: number;
  /** Lines of rows whose array is shorter than before, null or empty: they leave. */
  readonly leaving: number;
}

/** So many lines of a child table would leave that the rows which lost any are not published. */
export interface BlockedLines {
  readonly table: string;
  readonly leaving: number;
  readonly live: number;
}

/** The rows whose answer lacks lines, as a publish treats them. */
export interface JudgedLines {
  readonly blocked: BlockedLines | undefined;
  /** The rows `c` of `changed` that are not published, as a condition. */
  readonly withheld: Fragment | undefined;
  /** Child tables of rows whose lines stay, for want of an array. */
  readonly kept: readonly Table[];
}

const nothingLost: JudgedLines = { blocked: undefined, withheld: undefined, kept: [] };

/** Decides, before any row is written, which lines stay and whose rows are withheld. Without `limits` every array is believed. */
export async function judgeLines(
  publishing: Publishing,
  diff: Diff,
  limits: DeletionLimits | undefined,
): Promise<JudgedLines> {
  const { tables } = publishing.target;
  if (tables.children.length === 0 || diff.updated + diff.refreshed === 0) return nothingLost;
  const lost = await lostLines(publishing);
  const blocked: BlockedLines[] = [];
  const withheld: Fragment[] = [];
  for (const { child, leaving } of lost) {
    if (limits === undefined || leaving <= limits.minRows) continue;
    const live = await liveLines(publishing, child);
    if (!isTooMany(limits, leaving, live)) continue;
    blocked.push({ table: child.name, leaving, live });
    withheld.push(sql`select c._seq from ${linesMissing(publishing, child)} where a._seq is null`);
  }
  return {
    blocked: blocked[0],
    withheld: withheld.length === 0 ? undefined : sql`c._seq in (${sql.join(withheld, sql` union all `)})`,
    kept: lost.flatMap(({ child, keptRows }) => (keptRows > 0 ? child : [])),
  };
}

const liveLines = ({ trx, destination, target }: Publishing, child: Table): Promise<number> =>
  countOf(trx, sql`${tableRef(destination, child)} where _company = ${target.company} and _deleted_at is null`);

/** Live lines `t` of changed rows `c` that their answer lacks; `a` is there where their array was unreadable. */
function linesMissing({ destination, target, names }: Publishing, child: Table): Fragment {
  const { company, tables, stage } = target;
  return sql`${sql.id(names.changed)} c
    join ${tableRef(destination, child)} t
      on t._company = ${company} and ${equal("t", "c", tables.main.key)} and t._deleted_at is null
        and c.op in ('u', 'v', 's', 'r')
        and not exists (select 1 from ${linesOf(stage, child)} r where r._seq = c._seq and r._index = t._index)
    left join ${unreadable(stage, child)} a on a._seq = c._seq`;
}

/** Live lines of changed rows `c` that stay for want of a readable array. */
export const rowsKeeping = (publishing: Publishing, child: Table): Fragment =>
  sql`${linesMissing(publishing, child)} where a._seq is not null`;

async function lostLines(publishing: Publishing): Promise<readonly LostLines[]> {
  const { trx, target } = publishing;
  const { children } = target.tables;
  const each = children.map(
    (child, place) => sql`select ${sql.lit(place)} as place, count(*) - count(a._seq) as leaving,
      count(distinct a._seq) as "keptRows" from ${linesMissing(publishing, child)}`,
  );
  const { rows } = await sql<{ place: number } & Omit<LostLines, "child">>`
    ${sql.join(each, sql` union all `)}`.execute(trx);
  return rows.map(({ place, ...counts }) => ({ child: children[place]!, ...counts }));
}

/** Notes the missing array in `_problems` of rows whose lines stay. An array that is another value is there already. */
export async function noteKept(publishing: Publishing, kept: readonly Table[]): Promise<readonly ColumnProblems[]> {
  const { trx, destination, target, names } = publishing;
  const { company, stage, tables } = target;
  const json = sql.raw(destination.dialect.columnType("json"));
  const noted: ColumnProblems[] = [];
  for (const child of kept) {
    const column = child.path.join(".");
    const reason = "expected an array";
    const problem = sql.lit(JSON.stringify({ [column]: { reason } }).slice(1));
    const known = sql`cast(t._problems as varchar)`;
    const lines = sql`select 1 from ${tableRef(destination, child)} l
      where l._company = t._company and ${equal("l", "t", tables.main.key)} and l._deleted_at is null`;
    const { numAffectedRows: rows = 0n } = await sql`update ${tableRef(destination, tables.main)} t
      set _problems = cast(case when t._problems is null then '{' else left(${known}, -1) || ',' end || ${problem} as ${json})
      from ${sql.id(names.changed)} c join ${unreadable(stage, child)} a on a._seq = c._seq
      where c.op <> 'm' and t._company = ${company} and ${equal("t", "c", tables.main.key)} and exists (${lines})
        and (t._problems is null or strpos(${known}, ${JSON.stringify(column)}) = 0)`.execute(trx);
    if (rows > 0n) noted.push({ table: tables.main.name, column, reason, rows: Number(rows), example: "nothing" });
  }
  return noted;
}

/** The SET of an UPDATE that keeps the values of columns which somebody added: all that tributary writes, from the staged row `r`. */
export function overwriting(publishing: Publishing, table: Table): Fragment {
  const written = stageColumns(table).flatMap(({ name }) => (table.key.includes(name) ? [] : [name]));
  return sql.join([
    assignments([...written, "_extra", "_problems"], "r"),
    ...(table.extended?.left ?? []).map(name => sql`${sql.id(name)} = null`),
    sql`_changed_at = ${timestampOf(publishing)}, _deleted_at = null`,
  ]);
}

/**
 * The child rows of every row that changed, matched by position: equal ones keep their `_changed_at`, differing and new
 * ones get this publish's timestamp, surplus ones `_deleted_at`. `keeps`: where a row has no readable array all stay. Returns how many came and
 * were deleted, and by how many the table's rows, deleted ones included, are more.
 */
export async function publishChildren(
  publishing: Publishing,
  child: Table,
  keeps: boolean,
): Promise<{ readonly inserted: bigint; readonly deleted: bigint; readonly added: bigint }> {
  const { trx, destination, target, names } = publishing;
  const { company, tables, stage } = target;
  const key = tables.main.key;
  const staged = linesOf(stage, child);
  const own = stageColumns(child);
  const written = [...own.map(column => column.name), "_extra", "_problems"];
  const stable = own.filter(column => !column.volatile).map(column => column.name);
  const changeable = [...own.filter(column => column.volatile).map(column => column.name), "_extra", "_problems"];
  const table = tableRef(destination, child);
  const timestamp = timestampOf(publishing);
  const changed = sql`(select * from ${sql.id(names.changed)} where op <> 'm')`;
  const same = sql`t._company = ${company} and ${equal("t", "c", key)}`;

  const known = await sql`select 1 as one from ${table} t, ${changed} c where ${same} limit 1`.execute(trx);
  const insert = sql`insert into ${table} (_company, ${columnList(key)}, _index, ${columnList(written)}, _changed_at)
    select ${company}, ${columnList(key, "c")}, r._index, ${columnList(written, "r")}, ${timestamp}
    from ${changed} c join ${staged} r on r._seq = c._seq`;
  if (known.rows.length === 0) {
    const { numAffectedRows: inserted = 0n } = await insert.execute(trx);
    await beginVersions(publishing, tables, child, sql`${changed} c`, same);
    return { inserted, deleted: 0n, added: inserted };
  }
  const { numAffectedRows: deleted = 0n } =
    await sql`update ${table} t set _deleted_at = ${timestamp}, _changed_at = ${timestamp} from ${changed} c
    where ${same} and t._deleted_at is null
      and not exists (select 1 from ${staged} r where r._seq = c._seq and r._index = t._index)
      ${keeps ? sql`and not exists (select 1 from ${unreadable(stage, child)} a where a._seq = c._seq)` : sql``}`.execute(
      trx,
    );
  await sql`update ${table} t set ${assignments(changeable, "r")}
    from ${changed} c join ${staged} r on r._seq = c._seq
    where ${same} and t._index = r._index and t._deleted_at is null
      and not ${anyDiffers("r", "t", stable)} and ${anyDiffers("r", "t", changeable)}`.execute(trx);
  const replaced = sql`${changed} c join ${staged} r on r._seq = c._seq
    where ${same} and t._index = r._index and (t._deleted_at is not null or ${anyDiffers("r", "t", stable)})`;
  const isExtended = child.extended !== undefined;
  const { numAffectedRows: renewed = 0n } = await (isExtended
    ? sql`update ${table} t set ${overwriting(publishing, child)} from ${replaced}`
    : sql`delete from ${table} t using ${replaced}`
  ).execute(trx);
  const { numAffectedRows: inserted = 0n } =
    await sql`${insert} where not exists (select 1 from ${table} t where ${same} and t._index = r._index)`.execute(trx);
  const touched = sql`${changed} c join ${table} n on n._company = ${company} and ${equal("n", "c", key)}
    and n._changed_at = ${timestamp}`;
  await endVersions(publishing, tables, child, touched, sql`t._company = ${company} and ${equal("t", "n", child.key)}`);
  await beginVersions(publishing, tables, child, sql`${changed} c`, same);
  return isExtended
    ? { inserted: inserted + renewed, deleted, added: inserted }
    : { inserted, deleted, added: inserted - renewed };
}
