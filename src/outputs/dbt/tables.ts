import type { Model } from "../../catalog/model.ts";
import { OBSERVED_ON, type Stream } from "../../catalog/stream.ts";
import { versionsName } from "../../warehouse/ddl/as_of.ts";
import { shapesOf } from "../../warehouse/ddl/shape.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { tableComment } from "../../warehouse/schema/prepare_warehouse.ts";
import { leftOut } from "../../warehouse/views/table_views.ts";

export interface PackageTable {
  readonly name: string;
  readonly stream: string;
  readonly comment: string;
  readonly columns: readonly PackageColumn[];
  /** What is unique, `_company` first. */
  readonly key: readonly string[];
  /** Every version of another table's rows, not the rows themselves. */
  readonly isHistory: boolean;
  /** Columns that the configuration leaves out: staging models have them as the views do, always null. */
  readonly leftOut: readonly PackageColumn[];
  /** Of a table with a row a day: the table that says which day is the latest, and of what. */
  readonly days: { readonly of: string; readonly each: readonly string[] } | undefined;
}

export interface PackageColumn {
  readonly name: string;
  /** In the words of the configured database. */
  readonly type: string;
  readonly comment: string;
}

/** A model of tributary's as the package speaks of it. */
export interface PackageModel extends Pick<Model, "name" | "description" | "key" | "references"> {
  readonly columns: readonly PackageColumn[];
  /** Its select as a template of dbt's; undefined for one that remains a view of tributary's, and is a source. */
  readonly template: string | undefined;
}

export type PlainSource = Pick<PackageModel, "name" | "description" | "columns">;

/** The tables of the streams: main tables, then their children, then of `versioned` streams the tables of their history. */
export function packageTables(
  dialect: Dialect,
  streams: readonly Stream[],
  versioned: ReadonlySet<string>,
): readonly PackageTable[] {
  const nowhere = { schema: "", stateSchema: "" };
  return streams.flatMap(stream => {
    const { main, children } = stream.tables;
    const days =
      stream.mode.kind === "snapshot"
        ? { of: main.name, each: ["_company", ...main.key.filter(name => name !== OBSERVED_ON)] }
        : undefined;
    return shapesOf(dialect, nowhere, stream.tables, table => tableComment(stream, table), versioned.has(stream.name))
      .filter(({ role }) => role !== "row_state")
      .map(({ name, role, comment = "", columns, primaryKey }) => ({
        name,
        stream: stream.name,
        comment,
        columns: columns.map(column => ({ name: column.name, type: column.type, comment: column.comment ?? "" })),
        key: primaryKey,
        isHistory: role === "versions",
        leftOut: (
          [main, ...children].find(table => [table.name, versionsName(table)].includes(name))?.excluded ?? []
        ).map(column => leftOut(dialect, column)),
        days,
      }));
  });
}
