import { sql } from "kysely";
import type { TableSet } from "../../catalog/columns.ts";
import type { Fragment } from "../sql_fragments.ts";

/** The parent's key as the detail state names it: the parent's column that the detail's key begins with. */
export const parentKey = (of: string, detail: ChildStream): Fragment =>
  sql`cast(${sql.id(of, detail.on[0]![1])} as varchar)`;

/** A stream whose rows belong to another stream's: `on` pairs its key columns with that stream's. */
export interface ChildStream {
  readonly stream: string;
  readonly tables: TableSet;
  readonly on: readonly (readonly [own: string, parents: string])[];
}
