import { catalog, template } from "../../message.ts";

export const extractMessages = catalog("extract", {
  no_rows: template(
    { path: "/items", place: "data.items", got: "an array" },
    ({ path, place, got }) =>
      `${path}: expected rows at ${place}, got ${got}. The scan stays incomplete and the next run tries again.`,
  ),
  other_key: template(
    { path: "/prices/7", column: "item_id", expected: "7", got: "8" as string | undefined },
    ({ path, column, expected, got = "none" }) => `${path}: expected ${column} ${expected}, got ${got}`,
  ),
});
