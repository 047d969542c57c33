import { formatCount } from "../../counted.ts";
import { textsOf } from "../../message.ts";
import type { ExportReport } from "../../outputs/export/export.ts";
import type { TableProgress } from "../../outputs/export/writing.ts";
import { type Look, outcome } from "./look.ts";
import { rowTable } from "./table.ts";

/** The progress in a line; `at` is the number of the table. */
export function exportLine({ table, doing, rows, of, tables }: TableProgress, at: number): string {
  if (doing === "comparing") return `comparing table ${at} of ${tables}: ${table}`;
  return `writing ${table}: ${formatCount(rows)} of ${formatCount(of ?? rows)} rows`;
}

/** What an export did, a line a table. */
export function exportText(report: ExportReport, look: Look): string {
  const { out, status, tables, removed, missing, warnings } = report;
  const rows = formatCount(tables.reduce((sum, line) => sum + line.rows, 0));
  const written = tables.filter(line => line.status === "written").length;
  const last =
    status === "unchanged"
      ? `Nothing changed since the last export (${tables.length} tables, ${rows} rows): nothing was written. ${out}`
      : `${written} of ${tables.length} tables written, ${rows} rows in all: ${out}`;
  return [
    rowTable(
      tables,
      [
        ["table", line => line.table],
        ["rows", line => line.rows],
        ["files", line => line.files],
        ["bytes", line => line.bytes],
        ["status", line => outcome(line.status, look)],
      ],
      look,
      { first: ["status", "rows"] },
    ),
    "",
    ...(removed.length > 0 ? [`No longer in the export: ${listed(removed)}.`] : []),
    ...(missing.length > 0 ? [`Not there yet, \`tributary sync\` loads them: ${listed(missing)}.`] : []),
    ...textsOf(warnings),
    last,
  ].join("\n");
}

const NAMED = 10;

/** The first names of many; --json has them all. */
function listed(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(", ")} and ${formatCount(more)} more` : names.join(", ");
}
