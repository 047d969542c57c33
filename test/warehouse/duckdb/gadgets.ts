import { type Column, INDEX_COLUMN, type Kind, type TableSet } from "../../../src/catalog/columns.ts";
import type { Batch, EncodedTable } from "../../../src/rows/batch.ts";

function column(name: string, kind: Kind): Column {
  return {
    name,
    path: [name],
    source: "row",
    kind,
    nullable: true,
    volatile: false,
    currency: undefined,
    description: "",
  };
}

/** A main table with a column of each kind and a child table. */
export const gadgets: TableSet = {
  main: {
    name: "gadgets",
    description: "",
    path: [],
    key: ["gadget_id"],
    columns: [
      column("gadget_id", "id"),
      column("label", "text"),
      column("price", "money"),
      column("stock", "quantity"),
      column("pieces", "count"),
      column("rating", "score"),
      column("active", "flag"),
      column("made_on", "date"),
      column("seen_at", "moment"),
      column("facts", "json"),
    ],
  },
  children: [
    {
      name: "gadget_parts",
      description: "",
      path: ["parts"],
      key: ["gadget_id", INDEX_COLUMN],
      columns: [column("gadget_id", "id"), column(INDEX_COLUMN, "count"), column("part", "text")],
    },
  ],
};

/** Text that is to be quoted; other values are written as they are, null as nothing. */
export interface Quoted {
  readonly text: string;
}
export const text = (value: string): Quoted => ({ text: value });

export type Field = Quoted | string | number | bigint | boolean | null;

/** Rows as the encoder writes them. */
export function encoded(rows: readonly (readonly Field[])[], wide: readonly string[] = []): EncodedTable {
  const lines = rows.map(row => `${row.map(field).join(",")}\n`);
  return {
    bytes: Buffer.from(lines.join("")),
    rows: rows.length,
    wide,
    longest: Math.max(0, ...lines.map(line => Buffer.byteLength(line))),
  };
}

function field(value: Field): string {
  if (value === null) return "";
  return typeof value === "object" ? `"${value.text.replaceAll('"', '""')}"` : String(value);
}

export const nothing = encoded([]);

const stored = [...gadgets.main.columns.map(({ name }) => name), "_extra", "_problems"];

/** A gadget's line: the columns that are named, the others NULL. */
export const gadget = (seq: number, fields: Readonly<Record<string, Field>>): readonly Field[] => [
  seq,
  ...stored.map(name => fields[name] ?? null),
];

/** A batch of main rows and nothing else but what is given. */
export const batchOf = (main: EncodedTable, rest: Partial<Batch> = {}): Batch => ({
  keys: nothing,
  main,
  children: [nothing],
  outcomes: nothing,
  ...rest,
});

/** A batch of rows that say nothing but who they are: main `_seq` from `first`, each with one part. */
export function plainBatch(first: number, count: number): Batch {
  const numbers = Array.from({ length: count }, (_, i) => first + i);
  const line = (n: number) =>
    gadget(n, { gadget_id: text(`g${n}`), label: text(`line\n${n}`), price: "1.5", pieces: n, active: true });
  return batchOf(encoded(numbers.map(line)), {
    keys: encoded(numbers.map(n => [n, text(`g${n}`), n, n])),
    children: [encoded(numbers.map(n => [n, 0, text(`part of ${n}`), null, null]))],
  });
}
