import type { z } from "zod";
import { id, record } from "../../schemas/fields.ts";
import { defineStream, detail, type Stream, scan } from "../../src/catalog/stream.ts";

/** Orders and their details as a version of tributary knows them: of either its key, and the columns that a test is about. */
export function ordersWith(columns: { order?: z.ZodRawShape; detail?: z.ZodRawShape }): readonly Stream[] {
  return [
    defineStream({
      name: "purchase_orders",
      path: "/po",
      mode: scan({ rows: "purchase_orders", total: "stats.total", confirm: "/po/{po_number}" }),
      row: record("Orders.", { po_number: id(), ...columns.order }),
      key: ["po_number"],
      preset: "core",
    }),
    defineStream({
      name: "purchase_order_details",
      path: "/po/{po_number}",
      mode: detail({ of: "purchase_orders" }),
      row: record("Details.", { po_number: id(), ...columns.detail }),
      key: ["po_number"],
      preset: "core",
    }),
  ];
}
