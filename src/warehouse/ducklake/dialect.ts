import { sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { duckdbDialect } from "../duckdb/session/dialect.ts";
import { beginStatistics, makeUninlined, RESERVED } from "./inlining.ts";
import { TABLES } from "./session.ts";

/**
 * DuckDB's words over a lake. Whoever writes to it has the lake's lock from before the transaction begins, so that a transaction
 * takes none itself.
 */
export const ducklakeDialect: Dialect = {
  ...duckdbDialect,
  name: "ducklake",
  hasOtherWriters: true,
  tablesAmong: names => {
    const among = names.map(({ schema, name }) => sql`("schema" = ${schema} and name = ${name})`);
    return sql`select "schema", name from ${sql.id("temp", TABLES)} where ${sql.join(among, sql` or `)}`;
  },
  retypesInPlace: false,
  reserved: { names: RESERVED, make: makeUninlined },
  tablesMade: beginStatistics,
  commentsOnViewColumns: false,
  commentsOnFunctions: false,
  asOf: {
    ...duckdbDialect.asOf,
    create: asOf => duckdbDialect.asOf.create(asOf).slice(0, 1),
  },
};
