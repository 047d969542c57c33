import { sql } from "kysely";
import { INDEX_COLUMN, type Table, type TableSet } from "../../catalog/columns.ts";
import type { Fragment } from "../database.ts";
import type { Looked } from "../ddl/present_tables.ts";
import { equal, rowStateRef, tableRef } from "../sql_fragments.ts";
import { keyTexts, textOf } from "./stored_rows.ts";

/** A row on which a table and the row state contradict each other: they are written in one transaction, so one was touched. */
export interface StateMismatch {
  readonly table: string;
  /** The main row's key, and of a child row its position. */
  readonly key: readonly string[];
  readonly index: number | undefined;
  readonly sort: "lost" | "extra" | "repeated" | "_deleted_at" | "_first_seen_at";
  /** What the table says, and what the row state does. */
  readonly table_value: string | null;
  readonly state_value: string | null;
}

type Row = Readonly<Record<string, unknown>>;

/** Where a company's tables contradict the row state, at most `limit` rows a table. */
export async function stateMismatches(
  place: Looked,
  company: string,
  tables: TableSet,
  limit: number,
): Promise<readonly StateMismatch[]> {
  const found = await mainMismatches(place, company, tables.main, limit);
  for (const child of tables.children)
    found.push(...(await childMismatches(place, company, tables.main, child, limit)));
  return found;
}

async function mainMismatches(place: Looked, company: string, main: Table, limit: number): Promise<StateMismatch[]> {
  const { dialect } = place;
  const either = sql.join(
    main.key.map(name => sql`coalesce(${sql.id("t", name)}, ${sql.id("l", name)}) as ${sql.id(name)}`),
  );
  const key = sql.join(main.key.map(name => sql.id(name)));
  const { rows } = await sql<Row>`select ${keyTexts(dialect, main, "d")},
      case when n is null then 'lost' when stamp is null then 'extra' when n > 1 then 'repeated'
        when _deleted_at is distinct from deleted_at then '_deleted_at' else '_first_seen_at' end as sort,
      ${moments(place, ["_deleted_at", "deleted_at", "_first_seen_at", "first_seen_at"])}
    from (select ${either}, t.n, t._deleted_at, t._first_seen_at, l.stamp, l.deleted_at, l.first_seen_at
      from (select ${key}, count(*) as n, min(_deleted_at) as _deleted_at, min(_first_seen_at) as _first_seen_at
        from ${tableRef(place, main)} where _company = ${company} group by ${key}) t
      full join (select * from ${rowStateRef(place, main)} where _company = ${company}) l on ${equal("t", "l", main.key)}) d
    where n is null or stamp is null or n > 1 or _deleted_at is distinct from deleted_at
      or _first_seen_at is distinct from first_seen_at
    limit ${sql.lit(limit)}`.execute(place.db);
  return rows.map(row => mismatchOf(main, main, row, undefined));
}

async function childMismatches(
  place: Looked,
  company: string,
  main: Table,
  child: Table,
  limit: number,
): Promise<StateMismatch[]> {
  const { rows } = await sql<Row>`select ${keyTexts(place.dialect, main, "d")}, ${sql.id("d", INDEX_COLUMN)} as place,
      case when l.stamp is null then 'extra' else '_deleted_at' end as sort,
      ${moments(place, ["_deleted_at", "deleted_at"])}
    from ${tableRef(place, child)} d
    left join (select * from ${rowStateRef(place, main)} where _company = ${company}) l on ${equal("d", "l", main.key)}
    where d._company = ${company} and (l.stamp is null or (d._deleted_at is null and l.deleted_at is not null))
    limit ${sql.lit(limit)}`.execute(place.db);
  return rows.map(row => mismatchOf(child, main, row, Number(row["place"])));
}

const moments = ({ dialect }: Looked, names: readonly string[]): Fragment =>
  sql.join(names.map(name => sql`${textOf(dialect, "moment", sql.id(name))} as ${sql.id(`of${name}`)}`));

function mismatchOf(table: Table, main: Table, row: Row, index: number | undefined): StateMismatch {
  const sort = row["sort"] as StateMismatch["sort"];
  const [ours, theirs] = sort === "_first_seen_at" ? [sort, "first_seen_at"] : ["_deleted_at", "deleted_at"];
  const text = (name: string) => (typeof row[name] === "string" ? (row[name] as string) : null);
  const told = sort === "_deleted_at" || sort === "_first_seen_at";
  return {
    table: table.name,
    key: main.key.map((_name, i) => String(row[`k${i}`])),
    index,
    sort,
    table_value: told ? text(`of${ours}`) : null,
    state_value: told ? text(`of${theirs}`) : null,
  };
}
