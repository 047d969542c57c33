import { sql } from "kysely";
import type { Kind } from "../../catalog/columns.ts";
import type { Dialect } from "../dialect.ts";

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

/** PostgreSQL in words. */
export const postgresDialect: Dialect = {
  name: "postgres",
  columnType: kind => types[kind],
  rowPlace: "ctid",
  serverTime: sql`clock_timestamp()`,
  primaryKeys: true,
  fieldNames: json =>
    sql`(select jsonb_object_keys(case when jsonb_typeof(${json}) = 'object' then ${json} else '{}'::jsonb end) as value)`,
};
