import { counted } from "../../counted.ts";
import { catalog, template } from "../../message.ts";

export const extractMessages = catalog("extract", {
  no_rows: template(
    { path: "/items", place: "data.items", got: "an array" },
    ({ path, place, got }) =>
      `${path}: expected rows at ${place}, got ${got}. The scan stays incomplete and the next run tries again.`,
  ),
  more_rows: template(
    { path: "/appointments", field: "total", said: 40 as number | true, rows: 25 },
    ({ path, field, said, rows }) =>
      `${path}: \`${field}\` beside the rows is ${said}, and the answer holds ${counted(rows, "row")}: there may be more. These rows are loaded, and nothing is deleted on that account.`,
  ),
  other_key: template(
    { path: "/prices/7", column: "item_id", expected: "7", got: "8" as string | undefined },
    ({ path, column, expected, got = "none" }) => `${path}: expected ${column} ${expected}, got ${got}`,
  ),
});
