import { rowStateComments } from "../../warehouse/ddl/comments.ts";
import { duckdbDialect } from "../../warehouse/duckdb/session/dialect.ts";
import { postgresDialect } from "../../warehouse/postgres/dialect.ts";
import { stateComments } from "../../warehouse/state/state_comments.ts";
import { stateColumns } from "../../warehouse/state/state_shape.ts";
import { rowStateName, type StateTables } from "../../warehouse/state_tables.ts";
import type { StateEntry } from "./dictionary.ts";

/** The tables of the state schema, those for dashboards first. */
export function describeState(readable: readonly string[]): readonly StateEntry[] {
  const names = Object.keys(stateColumns) as (keyof StateTables)[];
  const entries = names
    .toSorted((a, b) => Number(readable.includes(b)) - Number(readable.includes(a)))
    .map((name): StateEntry => {
      const comments: Readonly<Record<string, string>> = stateComments[name].columns;
      const columns = Object.entries(stateColumns[name]).map(([column, kind]) => ({
        name: column,
        comment: comments[column] ?? "",
        duckdb: duckdbDialect.columnType(kind),
        postgres: postgresDialect.columnType(kind),
      }));
      return { name, description: stateComments[name].table, columns };
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
