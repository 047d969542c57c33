import { openLineageColumnLineage } from "@polyglot-sql/sdk";
import { readMeanings } from "../../src/catalog/meaning.ts";
import { type Model, type Models, modelSelect } from "../../src/catalog/model.ts";
import { configSchema } from "../../src/config/schema.ts";
import { readModels } from "../../src/library/connector.ts";
import { viewTypes } from "../../src/warehouse/connect/view_types.ts";
import { tableOrder, viewOrder } from "../../src/warehouse/schema/prepare_warehouse.ts";
import { streams } from "../../streams/index.ts";

/*
 * models/columns.json: of each column of a model its type, as DuckDB has it of the view, and the columns of tables and other
 * models that its value is made from, as the parser of SQL reads the model's select. Columns that only join or filter are none.
 */

const meanings = configSchema.shape.meanings.parse(undefined);

/** A DuckDB type of a view's column as PostgreSQL calls it; decimals that are worked out have no bounds there. */
const postgresTypes: Readonly<Record<string, string>> = {
  VARCHAR: "text",
  DATE: "date",
  BIGINT: "bigint",
  INTEGER: "integer",
  BOOLEAN: "boolean",
  DOUBLE: "double precision",
  JSON: "jsonb",
  TIMESTAMPTZ: "timestamptz",
};

export async function modelColumnsFile(): Promise<string> {
  const program = await readModels();
  const types = await typesOf(program);
  const known = knownColumns(program);
  const entries = program.models.map(model => {
    const from = sourcesOf(model, program, known);
    const columns = model.columns.map(({ name }) => {
      const duckdb = types.get(`${model.name}.${name}`);
      const postgres = duckdb?.startsWith("DECIMAL") ? "numeric" : postgresTypes[duckdb ?? ""];
      if (postgres === undefined)
        throw new TypeError(`${model.name}.${name} has the type ${duckdb}, which has no name here`);
      return `    ${JSON.stringify(name)}: ${JSON.stringify({ duckdb, postgres, from: from.get(name) ?? [] })}`;
    });
    return `  ${JSON.stringify(model.name)}: {\n${columns.join(",\n")}\n  }`;
  });
  return `{\n${entries.join(",\n")}\n}\n`;
}

/** By `model.column`: as DuckDB has them beside the tables of all streams. */
async function typesOf(models: Models): Promise<ReadonlyMap<string, string>> {
  const place = { schema: models.writtenFor.schema, stateSchema: models.writtenFor.stateSchema };
  const types = await viewTypes({
    ...tableOrder(place, { streams, grantSelectTo: [] }),
    views: viewOrder(place, streams, { wanted: true, models, meanings, currency: undefined }),
  });
  return new Map(
    [...types].flatMap(([view, columns]) =>
      [...columns].map(
        ([name, type]) => [`${view}.${name}`, type.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ")] as const,
      ),
    ),
  );
}

/** The columns of every table and model, by its name. */
function knownColumns({ models }: Models): ReadonlyMap<string, readonly string[]> {
  const engine = [
    "_company",
    "_seen_at",
    "_first_seen_at",
    "_changed_at",
    "_deleted_at",
    "_extra",
    "_run_id",
    "_problems",
  ];
  const tables = streams.flatMap(stream => [stream.tables.main, ...stream.tables.children]);
  return new Map<string, readonly string[]>([
    ...tables.flatMap(({ name, columns }): readonly (readonly [string, readonly string[]])[] => {
      const own = [...columns.map(column => column.name), ...engine];
      return [
        [name, own],
        [`${name}_versions`, [...own, "_valid_from", "_valid_to"]],
      ];
    }),
    ...models.map(({ name, columns }) => [name, columns.map(column => column.name)] as const),
  ]);
}

/** By column: what its value is made from, as `table.column`. */
function sourcesOf(
  model: Model,
  { meanings: asked, writtenFor }: Models,
  known: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  // What shows amounts in another currency is put around the model's own select, and reads all its columns with a star.
  const text = modelSelect(
    { ...model, reported: undefined },
    () => true,
    {
      [`${writtenFor.schema}_analytics`]: "data",
      [writtenFor.schema]: "data",
      [writtenFor.stateSchema]: writtenFor.stateSchema,
    },
    {
      meanings: readMeanings(asked, streams, meanings),
      currency: "EUR",
      schema: "data",
      product: (a, b) => `(${a} * ${b})`,
    },
  );
  const tables = [...known].map(([name, columns]) => ({
    name,
    columns: columns.map(column => ({ name: column, type: "VARCHAR" })),
  }));
  const { success, facet, error } = openLineageColumnLineage(text, {
    ...{ producer: "https://localhost", datasetNamespace: "", dialect: "postgresql" },
    schema: { tables: tables.filter(({ name }) => text.includes(name)) },
    outputDataset: { namespace: "", name: model.name },
  });
  if (!success || facet === undefined) throw new Error(`models/${model.name}.sql could not be read: ${error}`);
  const own = new Map(
    Object.entries(facet.fields).map(([column, { inputFields }]) => {
      const names = inputFields.flatMap(({ name, field }) => {
        if (name.startsWith(`${writtenFor.stateSchema}.`)) return [`${name}.${field}`];
        const table = name.replace(/^data\./, "");
        return known.get(table)?.includes(field) ? [`${table}.${field}`] : [];
      });
      return [column, [...new Set(names)].sort()];
    }),
  );
  const reported = (model.reported?.columns ?? []).map(name => {
    const names = [...(own.get(name) ?? []), ...(own.get("currency_code") ?? []), "currency_rates.factor"];
    return [`${name}_reported`, [...new Set(names)].sort()] as const;
  });
  return new Map([...own, ...reported]);
}
