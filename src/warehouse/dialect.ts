import type { RawBuilder } from "kysely";
import type { Kind } from "../catalog/columns.ts";

/** Where the two databases differ in words. */
export interface Dialect {
  readonly name: "duckdb" | "postgres";
  /** The column type of a kind, as contract: id, text → text; money, quantity, percent → numeric(38,9) … */
  columnType(kind: Kind): string;
  /** Whether tables carry a primary key (DuckDB's cost more than the difference they guard). */
  readonly primaryKeys: boolean;
  /** Where a row stands within its table, as a column that every table has. */
  readonly rowPlace: "ctid" | "rowid";
  /** What time it is by the clock of the database's own machine; undefined where that is this one. */
  readonly serverTime: RawBuilder<unknown> | undefined;
  /** The field names of a JSON object as a FROM item with the column `value`; no rows for other JSON. */
  fieldNames(json: RawBuilder<unknown>): RawBuilder<unknown>;
}
