import type { Model } from "../../catalog/model.ts";
import type { NoRelation, Relation } from "../../catalog/relation.ts";
import { readableState } from "../../warehouse/ddl/grants.ts";
import { rowStateColumns } from "../../warehouse/ddl/shape.ts";
import { duckdbDialect } from "../../warehouse/duckdb/session/dialect.ts";
import { postgresDialect } from "../../warehouse/postgres/dialect.ts";
import { rowStateName, stateTables } from "../../warehouse/state_tables.ts";
import { type Lineage, lineageOf, type MadeColumns, type ModelColumnEntry, type Uses } from "./lineage.ts";
import { type Link, linkOf, warningOf } from "./links.ts";
import type { ColumnDescription, StreamDescription, TableDescription } from "./stream_description.ts";
import type { TableSample, WarehouseSample } from "./warehouse_sample.ts";

export interface Dictionary {
  readonly schemas: Schemas;
  readonly domains: readonly Domain[];
  readonly models: readonly ModelEntry[];
  readonly engine: readonly EngineColumn[];
  readonly state: readonly StateEntry[];
  readonly links: readonly Link[];
  readonly uses: Uses;
  /** What the warehouse told; undefined where none was looked at. */
  readonly sample: WarehouseSample | undefined;
}

export interface Schemas {
  readonly data: string;
  /** Undefined where the configuration wants no views. */
  readonly views: string | undefined;
  readonly state: string;
}

export interface Domain {
  readonly title: string;
  readonly slug: string;
  readonly tables: readonly TableEntry[];
}

export interface TableEntry extends TableDescription {
  readonly stream: StreamDescription;
  /** The main table of a child table; undefined for main tables. */
  readonly main: string | undefined;
  /** Without the engine's own. */
  readonly own: readonly ColumnDescription[];
  readonly engineNames: readonly string[];
  readonly out: readonly Link[];
  readonly in: readonly Link[];
  readonly versioned: boolean;
  /** By column: why it must not be joined although its name suggests it. */
  readonly warnings: ReadonlyMap<string, string>;
  readonly sample: TableSample | undefined;
}

export interface ModelEntry extends Omit<ModelSource, "columns"> {
  readonly columns: readonly ModelColumnEntry[];
  /** Its select, as this configuration has it; undefined where there is no such view. */
  readonly sql: string | undefined;
  readonly out: readonly Link[];
  readonly in: readonly Link[];
  /** Why the warehouse has no such view; undefined where it has one. */
  readonly missing: string | undefined;
}

export interface EngineColumn {
  readonly name: string;
  readonly comment: string;
  readonly duckdb: string;
  readonly postgres: string;
}

export interface StateEntry {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly EngineColumn[];
}

type ModelSource = Omit<Model, "parts">;

export interface Sources {
  readonly schemas: Schemas;
  readonly streams: readonly StreamDescription[];
  readonly models: readonly ModelSource[];
  readonly made: MadeColumns;
  readonly selects: ReadonlyMap<string, string>;
  readonly relations: readonly Relation[];
  /** Columns that look like a join and are none. */
  readonly apart: readonly NoRelation[];
  readonly versioned: ReadonlySet<string>;
  readonly sample: WarehouseSample | undefined;
}

export function dictionaryOf(sources: Sources): Dictionary {
  const { schemas, streams, models, relations, apart, versioned, sample } = sources;
  const known = new Set([
    ...streams.flatMap(stream => stream.tables.map(({ name }) => name)),
    ...models.map(({ name }) => name),
  ]);
  const kept = relations.map(linkOf).filter(({ from, to }) => known.has(from) && known.has(to));
  const from = Map.groupBy(kept, link => link.from);
  const to = Map.groupBy(kept, link => link.to);
  const entries = streams.flatMap(stream =>
    stream.tables.map((table, index): TableEntry => {
      const { name, columns } = table;
      const own = columns.filter(column => column.kind !== null);
      const engineNames = columns.filter(column => column.kind === null).map(column => column.name);
      const links = { out: from.get(name) ?? [], in: to.get(name) ?? [] };
      const warnings = new Map(
        apart.flatMap(none =>
          none.from.table === name ? none.from.columns.map(column => [column, warningOf(none)]) : [],
        ),
      );
      const main = index === 0 ? undefined : stream.name;
      return {
        ...table,
        ...links,
        stream,
        main,
        own,
        engineNames,
        warnings,
        versioned: versioned.has(stream.name),
        sample: sample?.tables.get(name),
      };
    }),
  );
  const domains = [...Map.groupBy(entries, ({ stream }) => stream.group)].map(([title, tables]) => ({
    title,
    slug: slugOf(title),
    tables,
  }));
  const lineage = lineageOf(sources.made, new Map(entries.map(entry => [entry.name, entry])));
  return {
    schemas,
    domains,
    models: modelEntries(sources, kept, lineage),
    uses: lineage.uses,
    engine: engineColumns(entries),
    state: describeState(),
    links: kept,
    sample,
  };
}

/** `Findings, issues and insights` → `findings-issues-and-insights`. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

function engineColumns(tables: readonly TableEntry[]): readonly EngineColumn[] {
  const columns = tables.flatMap(table => table.columns.filter(({ kind }) => kind === null));
  return [...new Map(columns.map(column => [column.name, column])).values()];
}

/** A model is there where all it needs is: tables of streams that are on, and models that are there themselves. */
function modelEntries(
  { models, streams, selects }: Sources,
  links: readonly Link[],
  { columnsOf }: Lineage,
): readonly ModelEntry[] {
  const off = new Map(
    streams.filter(({ on }) => !on).flatMap(stream => stream.tables.map(({ name }) => [name, stream.name] as const)),
  );
  const byName = new Map(models.map(model => [model.name, model]));
  const lacking = (name: string, way: readonly string[]): readonly string[] => {
    const stream = off.get(name);
    if (stream !== undefined) return [stream];
    const model = byName.get(name);
    return model === undefined || way.includes(name)
      ? []
      : model.needs.flatMap(other => lacking(other, [...way, name]));
  };
  const own = models.flatMap(({ name, references }) =>
    references.map(
      ({ column, to }): Link => ({
        ...{ from: name, columns: [column], to: to.table, toColumns: to.columns },
        ...{ certain: true, note: "" },
      }),
    ),
  );
  return models.map(model => {
    const out = own.filter(({ from }) => from === model.name);
    const into = [...links, ...own].filter(({ to }) => to === model.name);
    const streams = [...new Set(lacking(model.name, []))];
    const [what, are] = streams.length === 1 ? ["the stream", "is"] : ["the streams", "are"];
    const missing = `It is not made as long as ${what} ${streams.join(", ")} ${are} off.`;
    return {
      ...{ ...model, out, in: into, columns: columnsOf(model) },
      ...{ sql: selects.get(model.name), missing: streams.length === 0 ? undefined : missing },
    };
  });
}

/** The tables of the state schema, those for dashboards first. */
export function describeState(): readonly StateEntry[] {
  const isReadable = (name: string) => readableState.some(readable => readable === name);
  const entries = Object.entries(stateTables)
    .toSorted(([a], [b]) => Number(isReadable(b)) - Number(isReadable(a)))
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

const rowState: StateEntry = {
  name: rowStateName("<table>"),
  description:
    "One for each main table: the program's own record of its rows, by _company and the table's key. A run compares with it, so that it need not read the wide table.",
  columns: rowStateColumns(duckdbDialect).map(({ name, type, comment }, at) => ({
    ...{ name, comment, duckdb: type.toUpperCase() },
    postgres: rowStateColumns(postgresDialect)[at]!.type,
  })),
};
