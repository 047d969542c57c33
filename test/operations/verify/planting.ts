import { DuckDBInstance } from "@duckdb/node-api";
import type { VerifyReport } from "../../../src/operations/verify/report.ts";
import { plainly } from "../../lake/plain.ts";
import type { Warehouse } from "../../support/warehouse.ts";

/** Runs statements in a warehouse that no run works on, past all that tributary knows of. */
export async function meddle(
  warehouse: Pick<Warehouse, "name" | "destination"> & Partial<Pick<Warehouse, "query">>,
  statements: readonly string[],
): Promise<void> {
  if (warehouse.name === "postgres") {
    for (const statement of statements) await warehouse.query?.(statement);
    return;
  }
  if (warehouse.name === "ducklake")
    return plainly(warehouse.destination, async connection => {
      for (const statement of statements) await connection.run(statement);
    });
  const instance = await DuckDBInstance.create(String(warehouse.destination["path"]));
  const connection = await instance.connect();
  try {
    for (const statement of statements) await connection.run(statement);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** A difference that a test plants: what to run, and what a verification has to say. */
export interface Plant {
  readonly statement: string;
  /** `table | key | column | kind`. */
  readonly told: readonly string[];
}

/** What a verification called wrong, in the form of `Plant.told`. */
export function wrongIn(report: VerifyReport): string[] {
  return report.differences
    .filter(({ kind }) => kind !== "changed_since")
    .map(({ table_name, key, column_name, kind }) => [table_name, key, column_name ?? "", kind].join(" | "))
    .sort();
}

/** What is done to so many rows of a table. */
interface Sort {
  readonly table: string;
  readonly rows: number;
  readonly column?: string;
  /** Which rows it can be done to. */
  readonly where?: string;
  /** `update … set`, or the whole statement, for the row that `at` names. */
  readonly set?: string;
  readonly statement?: (at: string) => string;
  readonly kind?: string;
  readonly key?: readonly string[];
}

const child = (table: string, rows: number, more: Omit<Sort, "table" | "rows">): Sort => ({
  table,
  rows,
  key: [table.startsWith("invoice") ? "doc_id" : "po_number", "_index"],
  ...more,
});
const keys: Readonly<Record<string, readonly string[]>> = {
  purchase_orders: ["po_number"],
  purchase_order_details: ["po_number"],
  invoices: ["doc_id"],
  invoice_matches: ["doc_id"],
  items: ["item_id"],
  findings: ["finding_item_id"],
  ingested: ["row_type", "id"],
};

const gone = (table: string) => (at: string) => `delete from procurement.${table} where ${at}`;
const lines = "purchase_order_line_items";

/** All kinds of damage, a hundred in all but for the swapped pairs. */
const sorts: readonly Sort[] = [
  { table: "purchase_orders", rows: 5, column: "vendor_name", set: "vendor_name || ' '" },
  { table: "purchase_orders", rows: 5, column: "total_amount", set: "total_amount + 0.000000001" },
  { table: "purchase_orders", rows: 5, column: "po_date", set: "po_date + 1" },
  { table: "purchase_orders", rows: 3, column: "is_open", set: "not is_open" },
  { table: "purchase_orders", rows: 2, column: "delivery_days_late", set: "delivery_days_late + 1" },
  { table: "purchase_orders", rows: 4, column: "_extra", where: "_extra is null", set: `'{"planted": 1}'` },
  { table: "purchase_orders", rows: 3, column: "_problems", where: "true", set: `'{"po_date": {"reason": "x"}}'` },
  { table: "purchase_orders", rows: 3, column: "_deleted_at", where: "true", set: "_changed_at" },
  { table: "purchase_orders", rows: 3, where: "true", statement: gone("purchase_orders"), kind: "missing_here" },
  { table: "invoices", rows: 6, column: "vendor_name", set: "null" },
  { table: "invoices", rows: 3, column: "linked_invoice_number", where: "linked_invoice_number is null", set: "''" },
  { table: "invoices", rows: 5, column: "uploaded_at", set: "uploaded_at + interval '1 microsecond'" },
  { table: "invoices", rows: 3, column: "risk_score", set: "risk_score * (1 + 1e-15)" },
  { table: "invoices", rows: 4, column: "document_date", set: "document_date - 1" },
  { table: "invoices", rows: 3, column: "match", set: `'{"status": null}'` },
  { table: "items", rows: 3, where: "true", statement: gone("items"), kind: "missing_here" },
  { table: "items", rows: 3, column: "sku", set: "lower(sku) || chr(233)" },
  { table: "items", rows: 2, column: "_first_seen_at", where: "true", set: "_first_seen_at - interval '1 day'" },
  { table: "findings", rows: 4, column: "amount", set: `'{"value": "0.1"}'` },
  { table: "ingested", rows: 3, column: "ts", set: "ts - interval '1 microsecond'" },
  { table: "purchase_order_details", rows: 2, column: "vendor", set: "'[]'" },
  {
    table: "purchase_order_details",
    rows: 1,
    where: "true",
    statement: gone("purchase_order_details"),
    kind: "missing_here",
  },
  { table: "invoice_matches", rows: 2, column: "match_verdict", set: "match_verdict || '?'" },
  child(lines, 5, { column: "description", set: "description || 'x'" }),
  child(lines, 4, { column: "quantity", set: "-quantity" }),
  child(lines, 3, { where: "true", statement: gone(lines), kind: "missing_here" }),
  child(lines, 2, { column: "_deleted_at", where: "true", set: "_changed_at" }),
  child("invoice_line_items", 3, { column: "line_total", set: "null" }),
];

/** Chooses rows for all of it, no row twice: each difference is found for itself. */
export async function hundred(warehouse: Warehouse): Promise<readonly Plant[]> {
  return warehouse.look(async view => {
    const taken = new Map<string, Set<string>>();
    const plants: Plant[] = [];
    for (const { table, rows, column, where, set, statement, kind = "differs", key = keys[table]! } of sorts) {
      const used = taken.get(table) ?? new Set<string>();
      taken.set(table, used);
      const able = where ?? `${column} is not null`;
      const order = key.map(name => `"${name}"`).join(", ");
      const found = await view.query<Record<string, unknown>>(
        `select ${order} from procurement.${table} where _deleted_at is null and ${able} order by ${order}`,
      );
      const free = found.filter(row => !used.has(JSON.stringify(row))).slice(0, rows);
      if (free.length < rows) throw new Error(`${table}: wanted ${rows} rows where ${able}, found ${free.length}`);
      for (const row of free) {
        used.add(JSON.stringify(row));
        const at = key.map(name => `"${name}" = '${row[name]}'`).join(" and ");
        plants.push({
          statement: statement?.(at) ?? `update procurement.${table} set "${column}" = ${set} where ${at}`,
          told: [[table, nameOf(key, row), kind === "differs" ? column : "", kind].join(" | ")],
        });
      }
    }
    return [...plants, ...(await extras(view))];
  });
}

const nameOf = (key: readonly string[], row: Record<string, unknown>): string =>
  key.map(name => `${name}=${row[name]}`).join(", ");

/** Rows that nobody sent, and two that have each other's values. */
async function extras(view: Pick<Warehouse, "query">): Promise<Plant[]> {
  const copy = (table: string, key: string, nth: number): Plant => ({
    statement: `insert into procurement.${table} select ${"$columns"} from procurement.${table} order by "${key}" limit 1 offset ${nth}`,
    told: [`${table} | ${key}=planted-${nth} |  | missing_there`],
  });
  const inserted = [
    copy("items", "item_id", 20),
    copy("items", "item_id", 21),
    copy("purchase_orders", "po_number", 40),
  ];
  const plants: Plant[] = [];
  for (const [i, plant] of inserted.entries()) {
    const [table, key] = [/into procurement\.(\w+)/.exec(plant.statement)![1]!, plant.told[0]!.split(" | ")[1]!];
    const [name, value] = key.split("=") as [string, string];
    const columns = await columnsOf(view, table);
    const chosen = columns.map(column => (column === name ? `'${value}'` : `"${column}"`)).join(", ");
    plants.push({ ...plant, statement: inserted[i]!.statement.replace("$columns", chosen) });
  }
  const columns = await columnsOf(view, lines);
  const [order] = await view.query<{ po_number: string }>(
    `select po_number from procurement.${lines} order by po_number desc limit 1`,
  );
  const line = columns.map(column => (column === "_index" ? "997" : `"${column}"`)).join(", ");
  plants.push({
    statement: `insert into procurement.${lines} select ${line} from procurement.${lines} where po_number = '${order!.po_number}' order by _index limit 1`,
    told: [`${lines} | po_number=${order!.po_number}, _index=997 |  | missing_there`],
  });
  const pair = await view.query<{ doc_id: string; document_number: string }>(
    "select doc_id, document_number from procurement.invoices where document_number is not null order by doc_id desc limit 2",
  );
  for (const [i, { doc_id }] of pair.entries())
    plants.push({
      statement: `update procurement.invoices set document_number = '${pair[1 - i]!.document_number}' where doc_id = '${doc_id}'`,
      told: [`invoices | doc_id=${doc_id} | document_number | differs`],
    });
  return plants;
}

async function columnsOf(view: Pick<Warehouse, "query">, table: string): Promise<string[]> {
  const rows = await view.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = 'procurement' and table_name = '${table}' order by ordinal_position`,
  );
  return rows.map(row => row.column_name);
}
