import { sql } from "kysely";
import type { Column, Kind, Table, TableSet } from "../../catalog/columns.ts";
import { INDEX_COLUMN } from "../../catalog/columns.ts";
import { stageColumns } from "../../rows/batch.ts";
import type { Db, Fragment } from "../database.ts";
import type { Looked } from "../ddl/present_tables.ts";
import type { Dialect } from "../dialect.ts";
import { equal, rowStateRef, tableRef } from "../sql_fragments.ts";

/** What the row state knows of a row; hashes as text. */
export interface RowState {
  readonly hash: string;
  readonly vhash: string;
  readonly stamp: number;
  readonly deletedAt: string | null;
  readonly firstSeenAt: string | null;
}

/** A row as a table holds it: its values as text, in the order of `comparedColumns`. */
export interface StoredRow {
  readonly values: readonly (string | null)[];
  readonly deletedAt: string | null;
}

export interface StoredKey {
  readonly rowState: RowState | undefined;
  /** One, unless somebody else wrote into the table. */
  readonly rows: readonly StoredRow[];
  /** By child table, in the order of `TableSet.children`; by position. */
  readonly children: readonly ReadonlyMap<number, readonly StoredRow[]>[];
}

export type Compared = Pick<Column, "name" | "kind" | "volatile">;

/** The columns of a table that come from the service, in the order in which rows are read and encoded. */
export function comparedColumns(table: Table): readonly Compared[] {
  const rest = ["_extra", "_problems"].map(name => ({ name, kind: "json" as const, volatile: true }));
  return [...stageColumns(table), ...rest];
}

/** What the warehouse holds of some keys, in their order; all of it as of one moment. */
export async function storedRows(
  warehouse: Looked,
  company: string,
  tables: TableSet,
  keys: readonly (readonly string[])[],
): Promise<readonly StoredKey[]> {
  const { db, dialect } = warehouse;
  return db.transaction().execute(async trx => {
    for (const statement of dialect.atOneMoment) await statement.execute(trx);
    const found = keys.map(() => ({
      rowState: undefined as RowState | undefined,
      rows: [] as StoredRow[],
      children: tables.children.map(() => new Map<number, StoredRow[]>()),
    }));
    const wanted = keysOf(dialect, tables.main, keys);
    for (const row of await mainRows(trx, warehouse, company, tables.main, wanted)) {
      const own = found[Number(row["nth"])]!;
      if (row["hash"] !== null) own.rowState = rowStateOf(row);
      if (row["here"] === true) own.rows.push(storedRow(tables.main, row));
    }
    for (const [i, child] of tables.children.entries()) {
      for (const row of await childRows(trx, warehouse, company, { main: tables.main, child }, wanted)) {
        const own = found[Number(row["nth"])]!.children[i]!;
        const index = Number(row["place"]);
        own.set(index, [...(own.get(index) ?? []), storedRow(child, row)]);
      }
    }
    return found;
  });
}

type Row = Readonly<Record<string, unknown>>;

const rowStateOf = (row: Row): RowState => ({
  hash: String(row["hash"]),
  vhash: String(row["vhash"]),
  stamp: Number(row["stamp"]),
  deletedAt: textIn(row["l_deleted_at"]),
  firstSeenAt: textIn(row["l_first_seen_at"]),
});

const storedRow = (table: Table, row: Row): StoredRow => ({
  values: comparedColumns(table).map((_column, i) => textIn(row[`v${i}`])),
  deletedAt: textIn(row["t_deleted_at"]),
});

const textIn = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** The keys as a FROM item: `nth` and the key's columns. */
function keysOf(dialect: Dialect, { key, columns }: Table, keys: readonly (readonly string[])[]): Fragment {
  const types = key.map(name => dialect.columnType(columns.find(column => column.name === name)!.kind));
  const cast = sql.join(
    key.map((name, i) => sql`cast(${sql.id(`k${i}`)} as ${sql.raw(types[i]!)}) as ${sql.id(name)}`),
  );
  const lines = keys.map((parts, nth) => sql`(${sql.lit(nth)}, ${sql.join(parts)})`);
  const names = sql.join(["nth", ...key.map((_name, i) => `k${i}`)].map(name => sql.id(name)));
  return sql`(select nth, ${cast} from (values ${sql.join(lines)}) v(${names}))`;
}

async function mainRows(db: Db, place: Looked, company: string, main: Table, keys: Fragment): Promise<readonly Row[]> {
  const { dialect } = place;
  const { rows } =
    await sql<Row>`select k.nth, cast(l.hash as varchar) as hash, cast(l.vhash as varchar) as vhash, l.stamp,
      ${textOf(dialect, "moment", sql.id("l", "deleted_at"))} as l_deleted_at,
      ${textOf(dialect, "moment", sql.id("l", "first_seen_at"))} as l_first_seen_at,
      t._company is not null as here, ${textOf(dialect, "moment", sql.id("t", "_deleted_at"))} as t_deleted_at,
      ${valuesOf(dialect, main)}
    from ${keys} k
    left join ${rowStateRef(place, main)} l on l._company = ${company} and ${equal("l", "k", main.key)}
    left join ${tableRef(place, main)} t on t._company = ${company} and ${equal("t", "k", main.key)}`.execute(db);
  return rows;
}

async function childRows(
  db: Db,
  place: Looked,
  company: string,
  { main, child }: { readonly main: Table; readonly child: Table },
  keys: Fragment,
): Promise<readonly Row[]> {
  const { dialect } = place;
  const { rows } = await sql<Row>`select k.nth, ${sql.id("t", INDEX_COLUMN)} as place,
      ${textOf(dialect, "moment", sql.id("t", "_deleted_at"))} as t_deleted_at, ${valuesOf(dialect, child)}
    from ${keys} k join ${tableRef(place, child)} t on t._company = ${company} and ${equal("t", "k", main.key)}`.execute(
    db,
  );
  return rows;
}

const valuesOf = (dialect: Dialect, table: Table): Fragment =>
  sql.join(
    comparedColumns(table).map(
      ({ name, kind }, i) => sql`${textOf(dialect, kind, sql.id("t", name))} as ${sql.id(`v${i}`)}`,
    ),
  );

/** A column's value as text that says all of it, whatever the session's settings. */
export function textOf(dialect: Dialect, kind: Kind, column: Fragment): Fragment {
  const plain = sql`cast(${column} as varchar)`;
  const finite = dialect.finiteText(kind, column);
  return finite === undefined ? plain : sql`case when isfinite(${column}) then ${finite} else ${plain} end`;
}

/** Keys of live rows, as the row state knows them; `among`: those whose first key column has one of these values, absent: all. */
export async function liveKeys(
  place: Looked,
  company: string,
  { main }: TableSet,
  among: readonly string[] | undefined,
  slice: { readonly nth: number; readonly of: number } = { nth: 0, of: 1 },
): Promise<readonly (readonly string[])[]> {
  const names = main.key.map(
    (name, i) => sql`${textOf(place.dialect, kindOf(main, name), sql.id(name))} as ${sql.id(`k${i}`)}`,
  );
  const chosen = among === undefined ? sql`` : sql` and ${sql.id(main.key[0]!)} in (${sql.join(among)})`;
  const { rows } = await sql<Row>`select ${sql.join(names)} from ${rowStateRef(place, main)}
    where _company = ${company} and deleted_at is null${chosen}
      and (hash % ${sql.lit(slice.of)} + ${sql.lit(slice.of)}) % ${sql.lit(slice.of)} = ${sql.lit(slice.nth)}`.execute(
    place.db,
  );
  return rows.map(row => main.key.map((_name, i) => String(row[`k${i}`])));
}

export const kindOf = ({ columns }: Table, name: string): Kind => columns.find(column => column.name === name)!.kind;

/** The key's columns of `t`, each as text `k<n>`. */
export const keyTexts = (dialect: Dialect, table: Table, of: string): Fragment =>
  sql.join(
    table.key.map((name, i) => sql`${textOf(dialect, kindOf(table, name), sql.id(of, name))} as ${sql.id(`k${i}`)}`),
  );
