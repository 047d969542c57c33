import type { z } from "zod";
import { id, table, text } from "../../schemas/fields.ts";
import { detail, type Stream, scan } from "../../src/catalog/stream.ts";
import { streamOf } from "../catalog/streams.ts";

/** Orders and their details as a version of tributary knows them: of either its key, and the columns that a test is about. */
export function ordersWith(columns: { order?: z.ZodRawShape; detail?: z.ZodRawShape }): readonly Stream[] {
  return [
    streamOf(
      "purchase_orders",
      { po_number: id(), ...columns.order },
      { path: "/po", mode: scan({ rows: "purchase_orders", total: "stats.total", confirm: "/po/{po_number}" }) },
    ),
    streamOf(
      "purchase_order_details",
      { po_number: id(), ...columns.detail },
      { path: "/po/{po_number}", mode: detail({ of: "purchase_orders" }) },
    ),
  ];
}

const lines = { line_no: id().nullable(), description: text().nullable() };
/** With the lines of orders, a child table of their details. */
export const orderCatalogue = ordersWith({
  order: { vendor_name: text().nullable() },
  detail: { status: text().nullable(), line_items: table("purchase_order_line_items", "Lines.", lines) },
});
