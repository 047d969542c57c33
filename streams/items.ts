import { item, itemsSummary } from "../schemas/item.ts";
import { defineStream, scan, snapshot } from "../src/catalog/stream.ts";

export const items = defineStream({
  name: "items",
  path: "/items",
  mode: scan({ rows: "items" }),
  row: item,
  key: ["item_id"],
  preset: "core",
});

// Measured from a request of its own: a page narrowed by a filter counts only what it shows.
export const itemSummaries = defineStream({
  name: "items_summary",
  path: "/items",
  query: { limit: "1" },
  mode: snapshot({ omit: ["items"] }),
  row: itemsSummary,
  key: ["observed_on"],
  preset: "standard",
});
