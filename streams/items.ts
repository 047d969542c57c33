import { item } from "../schemas/item.ts";
import { defineStream, scan } from "../src/catalog/stream.ts";

export const items = defineStream({
  name: "items",
  path: "/items",
  mode: scan({ rows: "items" }),
  row: item,
  key: ["item_id"],
  preset: "core",
});
