import { sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { duckdbDialect } from "../duckdb/session/dialect.ts";
import { beginStatistics, makeUninlined, RESERVED } from "./inlining.ts";
import { TABLES } from "./place.ts";

/**
 * DuckDB's SQL over a lake. A transaction takes no locks itself: the session takes one for the whole warehouse before it begins a
 * transaction.
 */
export const ducklakeDialect: Dialect = {
  ...duckdbDialect,
  name: "ducklake",
  hasOtherWriters: true,
  tablesAmong: names => {
    const among = names.map(({ schema, name }) => sql`("schema" = ${schema} and name = ${name})`);
    return sql`select "schema", name from ${sql.id("temp", TABLES)} where ${sql.join(among, sql` or `)}`;
  },
  rowsAreNear: false,
  reserved: { names: RESERVED, make: makeUninlined },
  tablesMade: beginStatistics,
  commentsEverything: false,
  asOf: {
    ...duckdbDialect.asOf,
    create: asOf => duckdbDialect.asOf.create(asOf).slice(0, 1),
  },
};
