import { type Kysely, type RawBuilder, sql } from "kysely";
import { z } from "zod";
import type { Dialect } from "../dialect.ts";
import type { StateTables } from "../state_tables.ts";
import type { ViewRecord } from "./view.ts";

const KEY = "views";
const storedRecord = z.record(z.string(), z.object({ definition: z.string(), comments: z.string() }));

/** What stands in the views' schema now. */
export interface PresentViews {
  readonly isSchemaThere: boolean;
  /** True for a view that is ours: it was recorded, and has a comment still, which one that was made again by hand lacks. */
  readonly names: ReadonlyMap<string, boolean>;
  readonly record: ViewRecord;
}

interface Line {
  readonly name: string | null;
  readonly is_view: boolean;
  readonly is_commented: boolean;
}

/** Reads what is there, in two small queries. */
export async function presentViews(
  db: Kysely<StateTables>,
  dialect: Dialect,
  place: { readonly schema: string; readonly stateSchema: string },
): Promise<PresentViews> {
  const query = dialect.name === "postgres" ? postgresLines : duckdbLines;
  const { rows } = await query(place.schema).execute(db);
  const recorded = await sql<{ value: unknown }>`
    select value from ${sql.id(place.stateSchema, "warehouse")} where key = ${KEY}`.execute(db);
  const record = recorded.rows[0] === undefined ? {} : storedRecord.parse(recorded.rows[0].value);
  const lines = rows.filter(line => line.name !== null);
  return {
    isSchemaThere: rows.length > 0,
    names: new Map(
      lines.map(({ name, is_view, is_commented }) => [name!, is_view && is_commented && Object.hasOwn(record, name!)]),
    ),
    record,
  };
}

/** Statements that record exactly these views. */
export function recordViews(stateSchema: string, record: ViewRecord): readonly RawBuilder<unknown>[] {
  const warehouse = sql.id(stateSchema, "warehouse");
  const sorted = Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  const forget = sql`delete from ${warehouse} where key = ${sql.lit(KEY)}`;
  if (Object.keys(record).length === 0) return [forget];
  return [
    forget,
    sql`insert into ${warehouse} (key, value) values (${sql.lit(KEY)}, ${sql.lit(JSON.stringify(sorted))})`,
  ];
}

const postgresLines = (schema: string) => sql<Line>`
  select c.relname as name, coalesce(c.relkind = 'v', false) as is_view, d.description is not null as is_commented
  from pg_catalog.pg_namespace n
  left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f')
  left join pg_catalog.pg_description d on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = c.oid
    and d.objsubid = 0
  where n.nspname = ${schema}`;

const duckdbLines = (schema: string) => sql<Line>`
  with relations as (
    select schema_name, view_name as name, true as is_view, comment from duckdb_views()
    where database_name = current_database()
    union all
    select schema_name, table_name, false, comment from duckdb_tables() where database_name = current_database()
  )
  select r.name, coalesce(r.is_view, false) as is_view, r.comment is not null as is_commented
  from duckdb_schemas() s left join relations r on r.schema_name = s.schema_name
  where s.database_name = current_database() and s.schema_name = ${schema}`;
