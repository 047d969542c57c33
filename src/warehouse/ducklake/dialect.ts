import type { Dialect } from "../dialect.ts";
import { duckdbDialect } from "../duckdb/session/dialect.ts";

/**
 * DuckDB's words over a lake. Whoever writes to it has the lake's lock from before the transaction begins, so that a transaction
 * takes none itself.
 */
export const ducklakeDialect: Dialect = {
  ...duckdbDialect,
  name: "ducklake",
  hasOtherWriters: true,
  commentsOnViewColumns: false,
  commentsOnFunctions: false,
  asOf: {
    ...duckdbDialect.asOf,
    create: asOf => duckdbDialect.asOf.create(asOf).slice(0, 1),
  },
};
