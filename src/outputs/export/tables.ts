import type { Column, Table } from "../../catalog/columns.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Moment } from "../../warehouse/connect/exporting.ts";
import { versionsName } from "../../warehouse/ddl/as_of.ts";
import { type PresentTable, readCatalog } from "../../warehouse/ddl/database_catalog.ts";
import { type Exportable, type SourceColumn, storedAs } from "../../warehouse/parquet_source.ts";
import { recordedTables } from "../../warehouse/schema/table_record.ts";

export interface ChosenTable {
  readonly name: string;
  readonly stream: string | null;
  readonly description: string | null;
  readonly columns: readonly ChosenColumn[];
}

export interface ChosenColumn extends SourceColumn {
  readonly kind: string | null;
  /** The documented type of JSON; undefined: whatever comes. */
  readonly holds?: "object" | "array" | undefined;
  readonly nullable: boolean;
  readonly description: string | null;
}

export interface Choice {
  readonly tables: readonly ChosenTable[];
  /** Streams of which nothing is there yet, though they are on or were named. */
  readonly missing: readonly string[];
}

/** What to choose from. `named`: streams that were asked for; none means every table of ours, whatever stream it came from. */
export interface Wanted {
  readonly catalogue: readonly Stream[];
  readonly on: ReadonlySet<string>;
  readonly named: ReadonlySet<string>;
}

/** Looks which tables there are: main and child tables and those of versions, in the catalogue's order; neither state nor views. */
export async function chooseTables(
  { db }: Pick<Moment, "db">,
  { dialect, schema }: Pick<Exportable, "dialect" | "schema">,
  { catalogue, on, named }: Wanted,
): Promise<Choice> {
  const { tables: present } = await readCatalog(db, dialect, [schema]);
  const there = (name: string): PresentTable | undefined => {
    const found = present.get(`${schema}.${name}`);
    return found?.isTable === true ? found : undefined;
  };
  const tables: ChosenTable[] = [];
  const missing: string[] = [];
  const known = new Set<string>();
  for (const stream of catalogue) {
    const { main, children } = stream.tables;
    for (const table of [main, ...children]) for (const name of [table.name, versionsName(table)]) known.add(name);
    if (named.size > 0 && !named.has(stream.name)) continue;
    if (there(main.name) === undefined && (named.size > 0 || on.has(stream.name))) missing.push(stream.name);
    for (const name of [(table: Table) => table.name, versionsName])
      for (const table of [main, ...children]) {
        const found = there(name(table));
        if (found !== undefined) tables.push(chosen(found, stream.name, table));
      }
  }
  if (named.size > 0) return { tables, missing };
  // Made by an earlier version of tributary, whose catalogue had more.
  for (const name of await recordedTables(db)) {
    const found = known.has(name) ? undefined : there(name);
    if (found !== undefined) tables.push(chosen(found, null, undefined));
  }
  return { tables, missing };
}

function chosen(present: PresentTable, stream: string | null, table: Table | undefined): ChosenTable {
  const documented = new Map<string, Column>(table?.columns.map(column => [column.name, column]));
  const key = new Set(["_company", ...(table?.key ?? [])]);
  return {
    name: present.name,
    stream,
    description: present.comment ?? null,
    columns: [...present.columns.values()].map(({ name, type, comment }) => ({
      name,
      type,
      storedAs: storedAs(type),
      kind: documented.get(name)?.kind ?? null,
      nullable: !key.has(name),
      description: comment ?? null,
    })),
  };
}
