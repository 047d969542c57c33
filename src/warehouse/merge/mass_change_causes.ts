import { sql } from "kysely";
import type { Table } from "../../catalog/columns.ts";
import { stageColumns } from "../../rows/batch.ts";
import type { Fragment } from "../database.ts";
import type { Destination } from "../destination.ts";
import { anyDiffers, countOf, equal, tableRef } from "../sql_fragments.ts";
import { linesOf } from "./lines.ts";
import { type LoadTarget, temporaryNames } from "./load_target.ts";

/** So many wide rows, old and new, are compared in little memory; their hashes pick them as chance would. */
const SAMPLE = 10_000;

/** What made rows change: how many did, and in how many of them each column differs, most first. */
export interface Causes {
  /** Known rows that stayed and whose values changed. */
  readonly changed: number;
  /** The columns' numbers are estimates from a part of the rows. */
  readonly estimated: boolean;
  /** A child table's columns carry its name; `rows` without a column's are ones that came or went. */
  readonly columns: readonly { readonly name: string; readonly rows: number }[];
}

/**
 * Counts by column which values of the changed rows differ from the tables'. After `compare` and before `publish`: it reads
 * the temporary table of the one and the old values that the other replaces.
 */
export async function causesOfChange(destination: Destination, target: LoadTarget): Promise<Causes> {
  const { main, children } = target.tables;
  return destination.withRoom("compare", async () => {
    const { db } = destination;
    const changed = await countOf(db, sql`${sql.id(temporaryNames(target).changed)} where op = 'u'`);
    const scale = Math.max(1, changed / SAMPLE);
    const columns = await columnsOfMain(destination, target, main);
    for (const child of children) columns.push(...(await columnsOfChild(destination, target, child)));
    const found = columns.filter(column => column.rows > 0).toSorted((a, b) => b.rows - a.rows);
    const scaled = found.map(({ name, rows: counted }) => ({ name, rows: Math.round(counted * scale) }));
    return { changed, estimated: scale > 1, columns: scaled };
  });
}

type Column = Causes["columns"][number];

async function columnsOfMain(destination: Destination, target: LoadTarget, main: Table): Promise<Column[]> {
  const { stage, company } = target;
  const names = comparedColumns(target, main);
  const pairs = sql`select ${differences(names)} from ${changedRows(target)}
    join ${stage.rows(main)} r on r._seq = c._seq
    join ${tableRef(destination, main)} t on t._company = ${company} and ${equal("t", "c", main.key)}`;
  return countEach(destination, names, pairs);
}

/** Child rows are matched by position; a row with several that differ counts once. */
async function columnsOfChild(destination: Destination, target: LoadTarget, child: Table): Promise<Column[]> {
  const { tables, stage, company } = target;
  const names = comparedColumns(target, child);
  const changed = changedRows(target);
  const staged = linesOf(stage, child);
  const stored = tableRef(destination, child);
  const own = sql`t._company = ${company} and ${equal("t", "c", tables.main.key)} and t._deleted_at is null`;
  const pairs = sql`select c._seq, ${differences(names)} from ${changed} join ${staged} r on r._seq = c._seq
    join ${stored} t on ${own} and t._index = r._index`;
  const any = names.map((_, i) => sql`bool_or(${at(i)}) as ${at(i)}`);
  const byRow = sql`select ${sql.join(any)} from (${pairs}) p group by _seq`;
  const came = sql`select c._seq from ${changed} join ${staged} r on r._seq = c._seq
    where not exists (select 1 from ${stored} t where ${own} and t._index = r._index)`;
  const went = sql`select c._seq from ${changed} join ${stored} t on ${own}
    where not exists (select 1 from ${staged} r where r._seq = c._seq and r._index = t._index)`;
  const moved = await countOf(destination.db, sql`(${came} union ${went}) m`);
  const counted = await countEach(destination, names, byRow);
  return [
    ...counted.map(({ name, rows }) => ({ name: `${child.name}.${name}`, rows })),
    { name: `rows of ${child.name}`, rows: moved },
  ];
}

const changedRows = (target: LoadTarget): Fragment =>
  sql`(select * from ${sql.id(temporaryNames(target).changed)} where op = 'u'
    order by _hash, _seq limit ${sql.lit(SAMPLE)}) c`;

function comparedColumns({ tables }: LoadTarget, table: Table): string[] {
  const compared = stageColumns(table).filter(column => !column.volatile && !tables.main.key.includes(column.name));
  return compared.map(column => column.name);
}

/** Names can be long, and two tables' the same: the columns of these questions are numbered. */
const at = (index: number): Fragment => sql.id(`d${index}`);

const differences = (names: readonly string[]): Fragment =>
  sql.join(names.map((name, i) => sql`${anyDiffers("r", "t", [name])} as ${at(i)}`));

async function countEach(destination: Destination, names: readonly string[], flags: Fragment): Promise<Column[]> {
  if (names.length === 0) return [];
  const counts = names.map((_, i) => sql`count(*) filter (where ${at(i)}) as ${at(i)}`);
  const { rows } = await sql<Record<string, number>>`select ${sql.join(counts)} from (${flags}) f`.execute(
    destination.db,
  );
  return names.map((name, i) => ({ name, rows: rows[0]![`d${i}`]! }));
}
