import { type RawBuilder, sql } from "kysely";
import type { Kind } from "../../catalog/columns.ts";
import { areFactors } from "../../catalog/model.ts";
import type { Dialect } from "../dialect.ts";
import { postgresCatalog } from "./catalog.ts";

const types: Readonly<Record<Kind, string>> = {
  id: "text",
  text: "text",
  money: "numeric(38,9)",
  quantity: "numeric(38,9)",
  percent: "numeric(38,9)",
  count: "bigint",
  score: "double precision",
  flag: "boolean",
  date: "date",
  moment: "timestamptz",
  json: "jsonb",
};

const jsonField: Dialect["jsonField"] = (column, path, removed) => {
  const own = sql.id(column);
  const at = (fields: readonly string[]) => sql.lit(`{${fields.map(field => `"${field}"`).join(",")}}`);
  const value = sql`(${own} #> ${at(path)})`;
  const text = sql`(${own} #>> ${at(path)})`;
  let without: RawBuilder<unknown> = sql`(${own} #- ${at(removed)})`;
  for (let depth = removed.length - 1; depth > 0; depth--) {
    const parent = at(removed.slice(0, depth));
    without = sql`(case when ${without} #> ${parent} = '{}' then ${without} #- ${parent} else ${without} end)`;
  }
  // A cast of 2024-02-31 is an error, and there is no way to try one before version 16.
  const existing = (cast: RawBuilder<unknown>) => sql`case when cast(substr(${text}, 9, 2) as integer)
    <= extract(day from cast(substr(${text}, 1, 7) || '-01' as date) + interval '1 month' - interval '1 day')
    then ${cast} end`;
  const dated = (cast: RawBuilder<unknown>) => sql`case when ${text} !~ '^0000' then ${existing(cast)} end`;
  return {
    value,
    text,
    type: sql`(case jsonb_typeof(${value}) when 'object' then 'other' when 'array' then 'other' else jsonb_typeof(${value}) end)`,
    without: sql`nullif(${without}, '{}')`,
    safe: sql`true`,
    matches: form => sql`${text} ~ ${sql.lit(form)}`,
    date: () => dated(sql`cast(${text} as date)`),
    moment: () => dated(sql`cast(${text} as timestamptz)`),
  };
};

export const postgresDialect: Dialect = {
  ...postgresCatalog,
  name: "postgres",
  columnType: kind => types[kind],
  product: (a, b) => `cast(case when ${areFactors(a, b)} then round(${a} * ${b}, 9) end as decimal(38, 9))`,
  primaryKeys: true,
  hasForeignKeys: true,
  hasRoles: true,
  hasOtherWriters: true,
  viewsHoldTables: true,
  altersTogether: true,
  stagesAreTables: true,
  plansByStatistics: true,
  sortsBeyondMemory: true,
  copyLines: query => `copy (${query}) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`,
  rowPlace: "ctid",
  serverTime: sql`clock_timestamp()`,
  fieldNames: json =>
    sql`(select jsonb_object_keys(case when jsonb_typeof(${json}) = 'object' then ${json} else '{}'::jsonb end) as value)`,
  jsonField,
  byteText: column => sql`cast(${column} as text) collate "C"`,
  finiteText: (kind, column) =>
    kind === "moment"
      ? sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`
      : kind === "date"
        ? sql`to_char(${column}, 'YYYY-MM-DD')`
        : undefined,
  lockTables: (tables, mode) => [sql`lock table ${sql.join(tables)} in ${sql.raw(mode)} mode`],
  atOneMoment: [sql`set transaction isolation level repeatable read`],
  // Where statistics are missing, a loop in a loop took 53 s for what takes 1 s. Sorts and hashes of 240,000 rows fit into 32 MB.
  readsWholeTables: [sql`set local enable_nestloop = off`, sql`set local work_mem = '32MB'`],
  mayHold: sql`select not pg_is_in_recovery() and has_database_privilege(current_database(), 'TEMPORARY') as may`,
  holds: [sql`set transaction read write`],
  // PostgreSQL takes it that half of the rows come out, and so many would not be worth its workers' while: 0.7 instead of
  // 1.2 s for a million. Within the memory that they can share in a container (64 MB).
  findsLittle: [sql`set local parallel_tuple_cost = 0; set local work_mem = '4MB'`],
  async attempt(db, work) {
    await sql`savepoint attempt`.execute(db);
    try {
      const done = await work();
      await sql`release savepoint attempt`.execute(db);
      return done;
    } catch (error) {
      // A session that is lost has nothing to go back to.
      await sql`rollback to savepoint attempt`.execute(db).catch(() => undefined);
      throw error;
    }
  },
};
