import { inDependencyOrder, type Model } from "../../catalog/model.ts";
import type { Stream } from "../../catalog/stream.ts";
import { shapesOf } from "../../warehouse/ddl/shape.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { tableComment } from "../../warehouse/schema/prepare_warehouse.ts";
import { dailyName } from "../../warehouse/views/table_views.ts";

/** A table as the package speaks of it. */
export interface PackageTable {
  readonly name: string;
  readonly stream: string;
  readonly comment: string;
  readonly columns: readonly PackageColumn[];
  /** What is unique, `_company` first. */
  readonly key: readonly string[];
  /** Every version of another table's rows, not the rows themselves. */
  readonly isHistory: boolean;
}

export interface PackageColumn {
  readonly name: string;
  /** In the words of the configured database. */
  readonly type: string;
  readonly comment: string;
}

/** The tables of the streams: main tables, then their children, then of `versioned` streams the tables of their history. */
export function packageTables(
  dialect: Dialect,
  streams: readonly Stream[],
  versioned: ReadonlySet<string>,
): readonly PackageTable[] {
  const nowhere = { schema: "", stateSchema: "" };
  return streams.flatMap(stream =>
    shapesOf(dialect, nowhere, stream.tables, table => tableComment(stream, table), versioned.has(stream.name))
      .filter(({ role }) => role !== "row_state")
      .map(({ name, role, comment = "", columns, primaryKey }) => ({
        name,
        stream: stream.name,
        comment,
        columns: columns.map(column => ({ name: column.name, type: column.type, comment: column.comment ?? "" })),
        key: primaryKey,
        isHistory: role === "versions",
      })),
  );
}

/** The models that a warehouse with these streams has beside the views of its tables. */
export function packageModels(models: readonly Model[], streams: readonly Stream[]): readonly Model[] {
  const there = new Set<string>();
  for (const { mode, tables } of streams)
    for (const { name } of [tables.main, ...tables.children]) {
      there.add(name);
      if (mode.kind === "snapshot") there.add(dailyName(name));
    }
  return inDependencyOrder(models).filter(({ name, needs }) => {
    const isMade = needs.every(needed => there.has(needed));
    if (isMade) there.add(name);
    return isMade;
  });
}
