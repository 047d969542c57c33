import { purchaseOrder } from "../schemas/purchase_order.ts";
import { purchaseOrderDetail } from "../schemas/purchase_order_detail.ts";
import { defineStream, detail, scan } from "../src/catalog/stream.ts";
import { listCurrency } from "./list_currency.ts";

export const purchaseOrders = defineStream({
  name: "purchase_orders",
  path: "/po",
  mode: scan({
    rows: "purchase_orders",
    total: "stats.total",
    pageColumns: [listCurrency],
    confirm: "/po/{po_number}",
  }),
  row: purchaseOrder,
  key: ["po_number"],
  preset: "core",
});

export const purchaseOrderDetails = defineStream({
  name: "purchase_order_details",
  path: "/po/{po_number}",
  mode: detail({ of: "purchase_orders", open: "is_open", newest: "po_date" }),
  row: purchaseOrderDetail,
  key: ["po_number"],
  preset: "core",
});
