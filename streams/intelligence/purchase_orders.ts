import { openItem, openItemsSummary } from "../../schemas/intelligence/open_item.ts";
import { purchaseOrderAsOf } from "../../schemas/intelligence/purchase_order_as_of.ts";
import {
  purchaseOrderBlanketReleases,
  purchaseOrderChangeOrder,
  purchaseOrderLandedCost,
} from "../../schemas/intelligence/purchase_order_changes.ts";
import { purchaseOrderPromises } from "../../schemas/intelligence/purchase_order_promises.ts";
import { defineStream, detail, lookup, scan, snapshot } from "../../src/catalog/stream.ts";

const ofOrders = { of: "purchase_orders", open: "is_open", newest: "po_date" };

export const openItems = defineStream({
  name: "open_items",
  path: "/ops/open-items",
  mode: scan({ rows: "items", absence: "left" }),
  row: openItem,
  key: ["po_number", "_index"],
  preset: "standard",
});

export const openItemSummaries = defineStream({
  name: "open_items_summary",
  path: "/ops/open-items",
  query: { limit: "1" },
  mode: snapshot({ omit: ["items"] }),
  row: openItemsSummary,
  key: ["observed_on"],
  preset: "standard",
});

export const changeOrders = defineStream({
  name: "purchase_order_change_orders",
  path: "/po/{po_number}/change-orders",
  mode: detail({ ...ofOrders, rows: "change_orders" }),
  row: purchaseOrderChangeOrder,
  key: ["po_number", "change_order_id"],
  preset: "all",
});

export const blanketReleases = defineStream({
  name: "purchase_order_blanket_releases",
  path: "/po/{po_number}/blanket-releases",
  mode: detail(ofOrders),
  row: purchaseOrderBlanketReleases,
  key: ["po_number"],
  preset: "all",
});

export const landedCost = defineStream({
  name: "purchase_order_landed_cost",
  path: "/orders/{po_number}/landed-cost",
  mode: detail(ofOrders),
  row: purchaseOrderLandedCost,
  key: ["po_number"],
  preset: "all",
});

export const promises = defineStream({
  name: "purchase_order_promises",
  path: "/lineage/promise/{po_number}",
  mode: detail(ofOrders),
  row: purchaseOrderPromises,
  key: ["po_number"],
  preset: "all",
});

export const asOf = defineStream({
  name: "purchase_order_as_of",
  path: "/po/{po_number}/as-of",
  mode: lookup({ ask: ["at"] }),
  row: purchaseOrderAsOf,
  key: ["po_number", "at_"],
  preset: "lookup",
});
