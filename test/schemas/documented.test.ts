import { describe, expect, it } from "vitest";
import { endpoints, type Field } from "../../simulator/documented.ts";
import type { Kind, Table } from "../../src/catalog/columns.ts";
import type { Stream } from "../../src/catalog/stream.ts";
import { streams } from "../../streams/index.ts";
import { documentedData, documentedRow, documentedTables, type Leaf, rowPaths } from "./facts.ts";

const NUMERIC: readonly Kind[] = ["id", "money", "quantity", "count", "percent", "score"];
// A plain string may also hold an amount (a price move's price is one), never a rate, a count or a score.
const TEXTUAL: readonly Kind[] = ["id", "text", "date", "moment", "money"];

function fits(kind: Kind, types: readonly string[]): boolean {
  // What may be an object or a flag as well as a text is at home in JSON.
  if (kind === "json" && types.length > 1 && types.some(type => type === "o" || type === "b")) return true;
  if (types.some(type => type === "n" || type === "i")) return NUMERIC.includes(kind);
  if (types.includes("s")) return TEXTUAL.includes(kind);
  return kind === (types.includes("b") ? "flag" : "json");
}

const FACTS = "simulator/documented.json";
const paths = new Set(endpoints.map(({ path }) => path));
const undocumented = streams.filter(({ path }) => !paths.has(path));
const documented = streams.filter(({ path }) => paths.has(path));
const byName = documented.map(stream => [stream.name, stream] as const);

const tablesOfStream = ({ tables }: Stream): readonly Table[] => [tables.main, ...tables.children];

const fromRow = (table: Table) => table.columns.filter(column => column.source === "row" && column.path.length > 0);

const pairs = documented.flatMap(stream => {
  const leaves = documentedTables(documentedRow(stream));
  return tablesOfStream(stream).map(
    table => [table.name, table, leaves.get(table.path.join(".")) ?? []] as [string, Table, Leaf[]],
  );
});

describe("the documented endpoints", () => {
  // What is not read, and why.
  const EXCLUDED: Readonly<Record<string, string>> = {
    "/billing/config": "it holds only a client-side publishable key",
  };

  it("has a stream for each endpoint that can be read", () => {
    const read = new Set(streams.map(stream => stream.path));
    expect(
      endpoints.map(({ path }) => path).filter(path => !read.has(path)),
      "documented, but no stream in streams/ reads it (add one, or give the reason in EXCLUDED)",
    ).toEqual(Object.keys(EXCLUDED));
  });

  it("are those that streams read", () => {
    expect(
      undocumented.map(({ name, path }) => `${name}: ${path}`),
      `streams whose endpoint is not in ${FACTS}: add what the documents show of it there`,
    ).toEqual([]);
  });

  it("are read from both ends where they take a direction", () => {
    const directed = new Set(endpoints.filter(({ query }) => query.includes("sort_dir")).map(({ path }) => path));
    const lists = streams.filter(({ mode }) => mode.kind === "scan" || mode.kind === "feed");
    const both = lists.filter(({ mode }) => "orders" in mode && mode.orders !== undefined);
    expect(both.map(({ path }) => path).sort()).toEqual([...directed].sort());
  });

  it.each(byName)("%s: a table for each documented array of objects", (_, stream) => {
    const arrays = [...documentedTables(documentedRow(stream)).keys()].sort();
    expect(
      tablesOfStream(stream)
        .map(table => table.path.join("."))
        .sort(),
      `arrays of objects in ${FACTS} are \`table(…)\` in the schema, and nothing else is`,
    ).toEqual(arrays);
  });

  it.each(byName)("%s: what is read beside the rows is documented", (_, stream) => {
    const { mode } = stream;
    const data = documentedData(stream);
    if (mode.kind === "snapshot") {
      for (const name of mode.omit ?? []) expect(at(data, name)).toBeDefined();
      return;
    }
    for (const column of mode.pageColumns ?? [])
      expect(at(data, column.field)).toMatchObject({ name: column.field.split(".").at(-1) });
    if (mode.kind === "detail") {
      expect(streams.some(parent => parent.name === mode.of)).toBe(true);
      return;
    }
    if (mode.total !== undefined)
      expect(at(data, mode.total)?.types.some(type => type === "n" || type === "i" || type === "s")).toBe(true);
  });

  it.each(byName.filter(([, stream]) => isOneArray(stream)))(
    "%s: the scalars beside its rows are columns too",
    (_, stream) => {
      const { mode, tables } = stream;
      const pageColumns = mode.kind === "snapshot" ? [] : (mode.pageColumns ?? []);
      const read = new Set(pageColumns.map(column => column.field));
      const keys = new Set(tables.main.columns.filter(({ source }) => source === "context").map(({ name }) => name));
      const leaves = documentedTables(documentedData(stream)).get("") ?? [];
      const rows = rowPaths(stream) ?? [];
      const missing = leaves.filter(({ path }) => !rows.includes(path) && !read.has(path) && !keys.has(path));
      expect(
        missing.map(({ path }) => path),
        "documented beside the rows: add them to the stream's `pageColumns`",
      ).toEqual([]);
    },
  );
});

/** What stands beside a list's rows and is stored nowhere, and why. */
const UNSTORED: Readonly<Record<string, string>> = {
  "/po": "stats are those of /po/stats, field by field; view is how a page shows the list",
  "/reconciliation": "stats and view are objects without documented fields; /reconciliation/stats has figures",
  "/ingested": "view is how a page shows the list",
  "/dock-appointments": "the documents don't say what total counts",
  "/automations/executions": "the documents don't say what total counts",
  "/insights/history": "total, page and pages say where in the list the page is",
  "/rfqs": "where in the list the page is, and the rows once more",
};

it("what stands beside the rows of a list is stored: in a column, in a snapshot of the same endpoint", () => {
  const lists = documented.filter(({ mode }) => mode.kind !== "snapshot" && mode.kind !== "detail");
  const missing = lists.filter(isListing).flatMap(stream => {
    const { mode, path } = stream;
    if (mode.kind === "snapshot" || mode.kind === "detail" || Object.hasOwn(UNSTORED, path)) return [];
    const read = (mode.pageColumns ?? []).map(({ field }) => field.split(".")[0]);
    const measured = documented.some(({ mode: other, path: same }) => other.kind === "snapshot" && same === path);
    const known = [...(rowPaths(stream) ?? []), ...read, mode.total];
    return measured
      ? []
      : documentedData(stream).flatMap(({ name }) => (known.includes(name) ? [] : [`${path}: ${name}`]));
  });
  expect(missing, "add it to the stream's `pageColumns`, or a snapshot with the rows in `omit`").toEqual([]);
});

const isListing = (stream: Stream) => rowPaths(stream) !== undefined && !isOneArray(stream);

/** A detail or lookup whose payload is in essence one array. */
function isOneArray(stream: Stream): boolean {
  const { mode } = stream;
  return (
    (mode.kind === "detail" || (mode.kind === "scan" && mode.lookup !== undefined)) && rowPaths(stream) !== undefined
  );
}

function at(fields: readonly Field[], path: string): Field | undefined {
  const [first, ...rest] = path.split(".");
  const found = fields.find(field => field.name === first);
  if (rest.length === 0) return found;
  return found?.node?.kind === "object" ? at(found.node.fields, rest.join(".")) : undefined;
}

/** Names that leave no doubt: what they count comes in whole numbers. */
const COUNTS = /(^|_)counts?(_|$)|(^|_)total$/;

describe("the columns of each table", () => {
  it.each(pairs)(
    "%s: whole numbers only where the documents or the name say that there can be no others",
    (_, table, leaves) => {
      const doubtful = table.columns.filter(({ kind, name, path, source }) => {
        const types = leaves.find(leaf => leaf.path === path.join("."))?.types ?? [];
        return kind === "count" && source !== "context" && !types.includes("i") && !COUNTS.test(name);
      });
      expect(
        doubtful.map(({ name }) => name),
        "documented as a number, which may have a fraction: quantity() in the schema, or another name",
      ).toEqual([]);
    },
  );

  it.each(pairs)("%s: one column for each documented field, none for anything else", (_, table, leaves) => {
    expect(
      fromRow(table)
        .map(column => column.path.join("."))
        .sort(),
      `columns of the schema (+) against fields in ${FACTS} (-)`,
    ).toEqual(leaves.map(leaf => leaf.path).sort());
  });

  it.each(pairs)("%s: null exactly where the service may answer null", (_, table, leaves) => {
    const nullable = fromRow(table).map(column => [column.path.join("."), column.nullable]);
    expect(Object.fromEntries(nullable), `.nullable() in the schema (+) against ${FACTS} (-)`).toEqual(
      Object.fromEntries(leaves.map(leaf => [leaf.path, leaf.nullable])),
    );
  });

  it.each(pairs)("%s: JSON is an object or an array where the documents say so", (_, table, leaves) => {
    const json = fromRow(table).filter(({ kind }) => kind === "json");
    const documented = (path: string) => leaves.find(leaf => leaf.path === path)?.types.join();
    const said = { o: "object", a: "array" } as const;
    expect(json.map(({ path, holds }) => [path.join("."), holds])).toEqual(
      json.map(({ path }) => [path.join("."), said[documented(path.join(".")) as "o" | "a"]]),
    );
  });

  it.each(pairs)("%s: kinds that the documented types allow", (_, table, leaves) => {
    const wrong = fromRow(table).filter(
      column => !fits(column.kind, leaves.find(leaf => leaf.path === column.path.join("."))?.types ?? []),
    );
    expect(
      wrong.map(column => `${column.name} ${column.kind}`),
      `kinds of the schema that the types in ${FACTS} do not allow`,
    ).toEqual([]);
  });
});
