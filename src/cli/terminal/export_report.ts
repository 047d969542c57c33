import { formatCount } from "../../counted.ts";
import type { ExportProgress, ExportReport } from "../../outputs/export/export.ts";
import type { Look } from "./look.ts";
import { rowTable } from "./table.ts";

/** The progress in a line. */
export const exportLine = ({ table, nth, tables, rows, of }: ExportProgress): string =>
  `writing table ${nth} of ${tables}: ${table}, ${formatCount(rows)} of ${formatCount(of)} rows`;

/** What an export did, a line a table. */
export function exportText({ out, tables, removed, missing }: ExportReport, look: Look): string {
  const rows = formatCount(tables.reduce((sum, line) => sum + line.rows, 0));
  return [
    rowTable(
      tables,
      [
        ["table", line => line.table],
        ["rows", line => line.rows],
        ["files", line => line.files],
        ["bytes", line => line.bytes],
      ],
      look,
      { first: ["rows"] },
    ),
    "",
    ...(removed.length > 0 ? [`No longer in the export: ${listed(removed)}.`] : []),
    ...(missing.length > 0 ? [`Not there yet, \`tributary sync\` loads them: ${listed(missing)}.`] : []),
    `${tables.length} tables written, ${rows} rows in all: ${out}`,
  ].join("\n");
}

const NAMED = 10;

/** The first names of many; --json has them all. */
function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(", ")} and ${formatCount(more)} more` : names.join(", ");
}
