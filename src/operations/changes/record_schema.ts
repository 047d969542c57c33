import type { Stream } from "../../catalog/stream.ts";
import { canonicalType } from "../../warehouse/ddl/database_catalog.ts";
import { shapesOf } from "../../warehouse/ddl/shape.ts";
import type { Dialect } from "../../warehouse/dialect.ts";
import { storedAs } from "../../warehouse/parquet_source.ts";
import type { Decimals } from "../../warehouse/read/changed_rows.ts";
import type { ChangesTable } from "./changes.ts";
import type { ProtocolRead } from "./telling.ts";

type Columns = ChangesTable["columns"];

/** The tables that streams have or will have, each stream's main table before its children. No connection is needed. */
export function plannedTables(dialect: Dialect, streams: readonly Stream[]): readonly ChangesTable[] {
  const place = { schema: "", stateSchema: "" };
  return streams.flatMap(({ name: stream, tables }) =>
    shapesOf(dialect, place, tables, ({ description }) => description)
      .filter(({ role }) => role === "main" || role === "child")
      .map(({ name, comment = null, primaryKey, columns }) => ({
        ...{ name, stream, description: comment, key: primaryKey.slice(1) },
        columns: columns.map(({ name, type, comment, of }) => ({
          ...{ name, type: canonicalType(type), storedAs: storedAs(canonicalType(type)) },
          ...{
            kind: of?.kind ?? null,
            holds: of?.holds,
            nullable: !primaryKey.includes(name),
            description: comment ?? null,
          },
        })),
      })),
  );
}

/** The same, with the columns that the tables of the warehouse have beyond them, and without those that are left out. */
export function withPresent(
  planned: readonly ChangesTable[],
  present: readonly ChangesTable[],
  without: ProtocolRead["without"],
): readonly ChangesTable[] {
  const there = new Map(present.map(({ name, columns }) => [name, columns]));
  return planned.map(table => {
    const known = new Set(table.columns.map(({ name }) => name));
    const more = (there.get(table.name) ?? []).filter(({ name }) => !known.has(name));
    const left = without?.get(table.name);
    return { ...table, columns: [...table.columns, ...more].filter(({ name }) => !left?.has(name)) };
  });
}

export function recordSchema(columns: Columns, decimals: Decimals, twins: Readonly<Record<string, string>> = {}) {
  const properties: Record<string, object> = {};
  for (const column of columns) {
    const { name } = column;
    properties[name] = valueSchema(column, decimals);
    if (twins[name] !== undefined) properties[twins[name]] = properties[name];
    if (column.storedAs === "decimal" && decimals === "beside")
      properties[`${name}_exact`] = { type: ["null", "string"], description: `${name} with every digit.` };
  }
  return { $schema: "http://json-schema.org/draft-07/schema#", type: "object", additionalProperties: true, properties };
}

function valueSchema(
  { storedAs: stored, type, kind, holds, nullable, description }: Columns[number],
  decimals: Decimals,
): object {
  const as = (types: readonly string[], more: object = {}) => ({
    type: nullable ? ["null", ...types] : types,
    ...more,
    description: description ?? undefined,
  });
  switch (stored) {
    case "decimal": {
      const [precision, scale] = type.match(/\d+/g)!.map(Number);
      return decimals === "beside" ? as(["number"]) : as(["string"], { format: "x-singer.decimal", precision, scale });
    }
    case "text":
      if (!type.startsWith("json")) return as(["string"]);
      if (kind === null) return as(["object"]);
      // As the documents say; where they say "any value", as many types as there are.
      return as(holds === undefined ? ["object", "array", "string", "number", "boolean"] : [holds]);
    case "date":
      return as(["string"], { format: "date" });
    case "moment":
      return as(["string"], { format: "date-time", airbyte_type: "timestamp_with_timezone" });
    default:
      return as([stored === "bigint" ? "integer" : stored === "double" ? "number" : stored]);
  }
}
