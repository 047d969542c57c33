import { INDEX_COLUMN, type Table } from "../../catalog/columns.ts";
import type { StateMismatch } from "../../warehouse/read/state_mismatch.ts";
import type { Value } from "./compare_value.ts";

/** `differs`: another value · `missing_here`: the table lacks the row · `missing_there`: only the table has it · `changed_since`: changed at the service since it was loaded, no fault · `changed_unseen`: a detail that did so while its list's row stayed the same. */
export type Kind = "differs" | "missing_here" | "missing_there" | "changed_since" | "changed_unseen";

/** Whether the warehouse is wrong: what the service has changed since is no fault. */
export const isFault = (kind: Kind): boolean => kind !== "changed_since" && kind !== "changed_unseen";

export interface Discrepancy {
  readonly table: string;
  /** As `column=value`; where the table itself is gone, what says that. */
  readonly key: string;
  /** Undefined: the row as a whole. */
  readonly column: string | undefined;
  readonly kind: Kind;
  readonly warehouse: Value;
  readonly service: Value;
}

export function keyText({ key }: Pick<Table, "key">, parts: readonly string[], index?: number): string {
  const named = parts.map((part, i) => `${key[i]}=${part}`);
  return [...named, ...(index === undefined ? [] : [`${INDEX_COLUMN}=${index}`])].join(", ");
}

export const ofRow = (table: string, key: string, kind: Kind): Discrepancy => ({
  ...{ table, key, column: undefined, kind, warehouse: null, service: null },
});

export const lostTable = (table: string): Discrepancy => ofRow(table, "every row", "missing_here");

/** The discrepancy, in the terms of the tables, where a table contradicts its row state. */
export function discrepancyOf(mismatch: StateMismatch, main: Table): Discrepancy {
  const { table, key, index, sort } = mismatch;
  const text = keyText(main, key, index);
  if (sort === "lost") return ofRow(table, text, "missing_here");
  if (sort === "extra" || sort === "repeated") return ofRow(table, text, "missing_there");
  const { table_value: warehouse, state_value: service } = mismatch;
  return { table, key: text, column: sort, kind: "differs", warehouse, service };
}
