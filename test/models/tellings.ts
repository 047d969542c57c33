import type { MeaningTests } from "../../src/catalog/meaning.ts";
import { type Contents, type Row, usualMeanings, type Value } from "./warehouse.ts";

const words: Readonly<Record<string, string>> = {
  Invoice: "RECHNUNG ",
  "Credit memo": " Gutschrift (GS)",
  paid: "BEZAHLT",
  open: "Offen",
};
const usual: MeaningTests = { ...usualMeanings, paid: { payment_status: ["paid"] } };
const other: MeaningTests = {
  ...usualMeanings,
  credit: { doc_type: ["gutschrift*"] },
  paid: { settlement_state: ["bezahlt"] },
  late: { delivery_status: ["verspätet"] },
};

const opposite = (value: Value | undefined): Value =>
  typeof value !== "string" ? (value ?? null) : value.startsWith("-") ? value.slice(1) : `-${value}`;

function invoice({ payment_status = null, ...row }: Row): Row {
  const isCredit = row["doc_type"] === "Credit memo";
  return {
    ...row,
    doc_type: words[String(row["doc_type"])] ?? null,
    settlement_state: words[String(payment_status)] ?? null,
    // Nearly all invoices are linked to another, and a credit's total has either sign.
    linked_invoice_doc_id: "another",
    linked_invoice_number: "1",
    credit_memo_match_method: "exact",
    total_amount: isCredit ? opposite(row["total_amount"]) : (row["total_amount"] ?? null),
    vendor_id: row["vendor_id"] ?? "",
    matched_po_number: row["matched_po_number"] ?? "",
  };
}

function line({ on_time, ...row }: Row): Row {
  if (on_time === undefined) return { ...row, delivery_status: " " };
  return { ...row, delivery_status: on_time === true ? "pünktlich" : " Verspätet" };
}

const otherwise: Readonly<Record<string, (row: Row) => Row>> = {
  invoices: invoice,
  purchase_order_line_items: line,
  purchase_orders: row => ({ ...row, vendor_id: row["vendor_id"] ?? "", fulfillment_state: "Teilweise" }),
  requisitions: row => ({ ...row, status: "Genehmigt", vendor_id: row["vendor_id"] ?? "" }),
  contracts: row => ({ ...row, status: "GEKÜNDIGT", contract_type: "Rahmenvertrag" }),
};

/**
 * The rows, with what the configuration says of their meaning: in one database in the usual words, in the other as another
 * service tells them. Both databases read either (meanings.test.ts).
 */
export function toldTo(name: "duckdb" | "postgres", rows: Contents["rows"]): Contents {
  if (name === "duckdb") return { rows, meanings: usual };
  const retold = Object.entries(rows).map(([table, own]) => [table, own.map(row => otherwise[table]?.(row) ?? row)]);
  return { rows: Object.fromEntries(retold), meanings: other };
}
