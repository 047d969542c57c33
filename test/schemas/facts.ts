import { endpoints, type Field, type Shape } from "../../simulator/documented.ts";
import type { Stream } from "../../src/catalog/stream.ts";

/** What is documented of `data` at a stream's endpoint; null where nothing is. */
export function documentedShape(stream: Stream): Shape | null {
  const found = endpoints.find(endpoint => endpoint.path === stream.path);
  if (found === undefined) throw new Error(`${stream.name}: ${stream.path} is not documented`);
  return found.shape;
}

/** The documented fields of `data` at a stream's endpoint; none where it is an array, or not shown. */
export function documentedData(stream: Stream): readonly Field[] {
  const data = documentedShape(stream);
  return data?.kind === "object" ? data.fields : [];
}

/** Where a stream's rows stand in an answer; undefined where the answer is the row. */
export function rowPaths({ mode }: Stream): readonly string[] | undefined {
  if (mode.kind === "snapshot" || (mode.kind === "scan" && mode.lookup?.single === true)) return undefined;
  const { rows } = mode;
  if (rows === undefined) return undefined;
  return typeof rows === "string" ? [rows] : Object.values(rows.of);
}

/** The documented fields of a stream's row: an element of its list, or the whole answer without what it omits. */
export function documentedRow(stream: Stream): readonly Field[] {
  const { mode } = stream;
  if (documentedShape(stream) === null) return keyFields(stream);
  const paths = rowPaths(stream);
  if (paths === undefined) {
    const omitted = mode.kind === "snapshot" ? (mode.omit ?? []) : [];
    return documentedData(stream).filter(candidate => !omitted.includes(candidate.name));
  }
  const scalar = mode.kind === "snapshot" ? undefined : mode.scalar;
  const elements = paths.map(path => elementAt(documentedShape(stream), path, stream.path));
  const [first] = elements;
  if (first?.kind === "object") return first.fields;
  if (first?.kind === "scalar" && scalar !== undefined)
    return [{ name: scalar, types: first.types.length === 0 ? ["any"] : first.types, nullable: true }];
  return [];
}

/** Of an answer that the documents don't show, a row has what its key names, and is kept whole. */
function keyFields({ key, tables: { main } }: Stream): readonly Field[] {
  const inRow = key.filter(name => main.columns.some(column => column.name === name && column.source === "row"));
  return inRow.map(name => ({ name, types: ["s"], nullable: false }));
}

function elementAt(data: Shape | null, path: string, endpoint: string): Shape | undefined {
  let node: Shape | null | undefined = data;
  for (const name of path === "" ? [] : path.split("."))
    node = node?.kind === "object" ? node.fields.find(candidate => candidate.name === name)?.node : undefined;
  if (node === null) return undefined;
  if (node?.kind !== "array") throw new Error(`${endpoint}: no documented rows at '${path}'`);
  return node.items;
}

/** A documented value: where it stands below the row or array element, what it may be, and whether it may be null. */
export interface Leaf {
  path: string;
  types: readonly string[];
  nullable: boolean;
}

/** The documented values of a row, and by the path of its array those of each array of objects in it. */
export function documentedTables(fields: readonly Field[]): Map<string, Leaf[]> {
  const own: Leaf[] = [];
  const tables = new Map([["", own]]);
  collect(fields, [], own, tables);
  return tables;
}

function collect(fields: readonly Field[], above: string[], own: Leaf[], tables: Map<string, Leaf[]>): void {
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
