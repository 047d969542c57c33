import type { ModelColumn } from "../../catalog/model.ts";
import type { ColumnDescription, StreamDescription, TableDescription } from "./stream_description.ts";
import { sourceOf } from "./wording.ts";

/** What `models/columns.json` says of a model's column: its types, and as `table.column` what its value is made from. */
export interface MadeColumn {
  readonly duckdb: string;
  readonly postgres: string;
  readonly from: readonly string[];
}

interface Described extends Pick<TableDescription, "name" | "api_path"> {
  readonly stream: StreamDescription;
  readonly own: readonly ColumnDescription[];
  readonly engineNames: readonly string[];
}

export type MadeColumns = Readonly<Record<string, Readonly<Record<string, MadeColumn>>>>;

export interface ModelColumnEntry extends ModelColumn, Omit<MadeColumn, "from"> {
  /** Columns of tables and of other models; none where the view counts rows, or says the value itself. */
  readonly from: readonly Source[];
  /** Where that ends: fields of the API. */
  readonly fields: readonly Field[];
  /** What the way there leads through, each step as what is read and by whom. */
  readonly steps: readonly Step[];
}

interface Source {
  readonly table: string;
  readonly column: string;
  readonly id: string;
}

interface Field {
  /** The path below the service's address, with the array in its answer. */
  readonly source: string;
  readonly path: string;
  readonly id: string;
}

export interface Step {
  /** A table or a model. */
  readonly by: string;
  /** A table, a model, or an endpoint as `/path`. */
  readonly of: string;
}

/** A column of a table or model, and the columns of models whose values are made from it. */
export type Uses = ReadonlyMap<string, readonly Source[]>;

export interface Lineage {
  columnsOf(model: { readonly name: string; readonly columns: readonly ModelColumn[] }): readonly ModelColumnEntry[];
  /** By `table.column`. */
  readonly uses: Uses;
}

/** Follows columns of models down to the API; `tables` by name. */
export function lineageOf(made: MadeColumns, tables: ReadonlyMap<string, Described>): Lineage {
  const sourcesOf = (model: string, column: string): readonly Source[] => {
    const sources = (made[model]?.[column]?.from ?? []).map(name => placed(name, tables));
    return [...new Map(sources.map(source => [source.id, source])).values()];
  };
  const trace = (model: string, column: string, found: Found, way: readonly string[]): Found => {
    for (const source of sourcesOf(model, column)) {
      found.steps.set(`${model} ${source.table}`, { by: model, of: source.table });
      const key = `${source.table}.${source.column}`;
      if (way.includes(key)) continue;
      if (made[source.table] !== undefined) trace(source.table, source.column, found, [...way, key]);
      const table = tables.get(source.table);
      const path = table?.own.find(({ name }) => name === source.column)?.api_path;
      if (table === undefined || path == null) continue;
      found.steps.set(`${table.name} /`, { by: table.name, of: table.stream.endpoint });
      found.fields.set(key, { source: sourceOf(table), path: path === "" ? "the whole row" : path, id: source.id });
    }
    return found;
  };
  const uses = Object.entries(made).flatMap(([model, columns]) =>
    Object.keys(columns).flatMap(column =>
      sourcesOf(model, column).map(source => ({
        key: `${source.table}.${source.column}`,
        user: { table: model, column, id: `c.${model}.${column}` },
      })),
    ),
  );
  return {
    columnsOf: ({ name: model, columns }) =>
      columns.map(column => {
        const { fields, steps } = trace(model, column.name, { fields: new Map(), steps: new Map() }, []);
        const { duckdb, postgres } = made[model]?.[column.name] ?? { duckdb: "", postgres: "" };
        const from = sourcesOf(model, column.name);
        return { ...column, duckdb, postgres, from, fields: [...fields.values()], steps: [...steps.values()] };
      }),
    uses: new Map([...Map.groupBy(uses, ({ key }) => key)].map(([key, of]) => [key, of.map(({ user }) => user)])),
  };
}

interface Found {
  readonly fields: Map<string, Field>;
  readonly steps: Map<string, Step>;
}

/** `_tributary.runs.status` is a column of a state table; those of a table of versions are described with the table. */
function placed(name: string, tables: ReadonlyMap<string, Described>): Source {
  const [column = "", table = "", schema] = name.split(".").reverse();
  if (schema !== undefined) return { table: `${schema}.${table}`, column, id: `s.${table}` };
  const base = tables.has(table) ? table : table.replace(/_versions$/, "");
  const entry = tables.get(base);
  const isEngines = entry?.engineNames.includes(column) ?? false;
  return { table: base, column, id: isEngines ? `c.${column}` : `c.${base}.${column}` };
}
