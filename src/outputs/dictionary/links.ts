import type { NoRelation, Relation } from "../../catalog/relation.ts";

/** A join of two tables within a company, with its text. */
export interface Link {
  readonly from: string;
  /** Columns of `from`, in the order of `toColumns`. */
  readonly columns: readonly string[];
  readonly to: string;
  readonly toColumns: readonly string[];
  /** The service's paths guarantee it; else it is assumed, and each run measures it. */
  readonly certain: boolean;
  readonly note: string;
}

export function linkOf({ from, to, certainty, where, note }: Relation): Link {
  const condition = where === undefined ? "" : ` Where ${where.column} is ${where.values.join(" or ")}.`;
  return {
    from: from.table,
    columns: from.columns,
    to: to.table,
    toColumns: to.columns,
    certain: certainty === "certain",
    note: `${note}${condition}`,
  };
}

/** `po_number`, or where names differ `doc_id = id`. */
export function joinOf({ columns, toColumns }: Link): string {
  return columns
    .map((name, index) => (name === toColumns[index] ? name : `${name} = ${toColumns[index]}`))
    .join(" and ");
}

export function warningOf({ to, note }: NoRelation): string {
  return `Not to be joined${to === undefined ? "" : ` with ${to.table}.${to.columns.join(", ")}`}: ${note}`;
}
