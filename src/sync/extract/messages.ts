import { counted } from "../../counted.ts";
import { catalog, template } from "../../message.ts";

export const extractMessages = catalog("extract", {
  no_rows:
    "{path=/items}: expected rows at {place=data.items}, got {got=an array}. The scan stays incomplete and the next run tries again.",
  null_rows:
    "{path=/po}: null came where rows are expected, so some may be left out. The rows that came are loaded, and nothing is deleted on that account.",
  more_rows: template(
    { path: "/appointments", field: "total", said: 40 as number | true, rows: 25 },
    ({ path, field, said, rows }) =>
      `${path}: \`${field}\` beside the rows is ${said}, and the answer holds ${counted(rows, "row")}: there may be more. These rows are loaded, and nothing is deleted on that account.`,
  ),
  odd_total:
    '{path=/items}: expected plain digits in `{field=total}`, got {got="0x28"}. The list counts as one without a total. Tell the service\'s operator.',
  windows_unread: template(
    {
      path: "/events",
      windows: [{ from: "2025-08-01", to: "2025-09-01" as string | null }],
      reason: "Expected every row of /events, but the service fails at one.",
    },
    ({ path, windows, reason }) =>
      `${path}: ${counted(windows.length, "window")} of the backfill could not be read to the end: ${windows.map(({ from, to }) => `from ${from}${to === null ? " on" : ` to ${to}`}`).join(", ")}. The rows that came were loaded, and the next backfill reads these windows again. The first: ${reason}`,
  ),
  other_key: template(
    { path: "/prices/7", column: "item_id", expected: "7", got: "8" as string | undefined },
    ({ path, column, expected, got = "none" }) => `${path}: expected ${column} ${expected}, got ${got}`,
  ),
});
