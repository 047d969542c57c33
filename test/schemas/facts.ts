import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Stream } from "../../src/stream.ts";

/** A documented shape: an object's fields, an array's elements, or a scalar (`s n i b o any`). */
export type Shape =
  | { kind: "object"; fields: Field[] }
  | { kind: "array"; items: Shape }
  | { kind: "scalar"; types: string[]; nullable: boolean };

export interface Field {
  name: string;
  types: string[];
  nullable: boolean;
  node?: Shape | undefined;
}

const field: z.ZodType<Field> = z.object({
  name: z.string(),
  types: z.array(z.string()).min(1),
  nullable: z.boolean(),
  get node() {
    return shape.optional();
  },
});

const shape: z.ZodType<Shape> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("object"), fields: z.array(field).min(1) }),
  z.object({
    kind: z.literal("array"),
    get items() {
      return shape;
    },
  }),
  z.object({ kind: z.literal("scalar"), types: z.array(z.string()), nullable: z.boolean() }),
]);

const endpoints = z
  .array(z.object({ path: z.string(), shape }))
  .parse(JSON.parse(readFileSync(new URL("../facts/core.json", import.meta.url), "utf8")));

/** The documented fields of `data` at a stream's endpoint. */
export function documentedData(stream: Stream): Field[] {
  const found = endpoints.find(endpoint => endpoint.path.replace(/^\/api\/v1/, "") === stream.path);
  if (found?.shape.kind !== "object") throw new Error(`no documented object for ${stream.path}`);
  return found.shape.fields;
}

/** The documented fields of a stream's row: an element of its list, or the whole answer without what it omits. */
export function documentedRow(stream: Stream): Field[] {
  const data = documentedData(stream);
  const { mode } = stream;
  if (mode.kind === "detail") return data;
  if (mode.kind === "snapshot") return data.filter(candidate => !mode.omit?.includes(candidate.name));
  const rows = data.find(candidate => candidate.name === mode.rows)?.node;
  if (rows?.kind !== "array" || rows.items.kind !== "object")
    throw new Error(`${stream.path}: no documented rows at ${mode.rows}`);
  return rows.items.fields;
}

/** A documented value: where it stands below the row or array element, what it may be, and whether it may be null. */
export interface Leaf {
  path: string;
  types: string[];
  nullable: boolean;
}

/** The documented values of a row, and by the path of its array those of each array of objects in it. */
export function documentedTables(fields: Field[]): Map<string, Leaf[]> {
  const own: Leaf[] = [];
  const tables = new Map([["", own]]);
  collect(fields, [], own, tables);
  return tables;
}

function collect(fields: Field[], above: string[], own: Leaf[], tables: Map<string, Leaf[]>): void {
  for (const { name, types, nullable, node } of fields) {
    const path = [...above, name];
    if (node?.kind === "object") collect(node.fields, path, own, tables);
    else if (node?.kind === "array" && node.items.kind === "object") {
      const elements: Leaf[] = [];
      tables.set(path.join("."), elements);
      collect(node.items.fields, [], elements, tables);
    } else
      own.push({
        path: path.join("."),
        types,
        // A value within an object is missing with it, and "any JSON value" may be null.
        nullable: nullable || above.length > 0 || types.includes("any"),
      });
  }
}
