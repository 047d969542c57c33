import type { z } from "zod";
import { id } from "../../schemas/fields.ts";
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
