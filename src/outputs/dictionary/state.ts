import { rowStateComments } from "../../warehouse/ddl/comments.ts";
import { duckdbDialect } from "../../warehouse/duckdb/session/dialect.ts";
import { postgresDialect } from "../../warehouse/postgres/dialect.ts";
import { rowStateName, stateTables } from "../../warehouse/state_tables.ts";
import type { StateEntry } from "./dictionary.ts";

/** The tables of the state schema, those for dashboards first. */
export function describeState(readable: readonly string[]): readonly StateEntry[] {
  const entries = Object.entries(stateTables)
    .toSorted(([a], [b]) => Number(readable.includes(b)) - Number(readable.includes(a)))
    .map(([name, table]): StateEntry => {
      const columns = Object.entries(table.columns).map(([column, { kind, comment }]) => ({
        name: column,
        comment,
        duckdb: duckdbDialect.columnType(kind),
        postgres: postgresDialect.columnType(kind),
      }));
      return { name, description: table.comment, columns };
    });
  return [...entries, rowState];
}

const types: Readonly<Record<keyof typeof rowStateComments, "bigint" | "integer" | "moment">> = {
  hash: "bigint",
  vhash: "bigint",
  stamp: "integer",
  first_seen_at: "moment",
  missing_since: "moment",
  deleted_at: "moment",
};

const rowState: StateEntry = {
  name: rowStateName("<table>"),
  description:
    "One for each main table: the program's own record of its rows, by _company and the table's key. A run compares with it, so that it need not read the wide table.",
  columns: Object.entries(types).map(([name, type]) => ({
    name,
    comment: rowStateComments[name as keyof typeof rowStateComments],
    duckdb: type === "moment" ? duckdbDialect.columnType("moment") : type.toUpperCase(),
    postgres: type === "moment" ? postgresDialect.columnType("moment") : type,
  })),
};
