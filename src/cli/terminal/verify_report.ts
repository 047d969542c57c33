import { timespan } from "../../duration.ts";
import type { VerifyDifference, VerifyEstimate, VerifyLine, VerifyReport } from "../../operations/verify/report.ts";
import { cutText, formatCount, formatTable, type TableColumn } from "./table.ts";

const right = "right" as const;

/** Differences that are shown one by one. */
const MOST_SHOWN = 20;
/** Of one column, or of rows of one table. */
const MOST_ALIKE = 3;

/** What a verification found, for people: a line a stream, the first differences, and where all of them are. */
export function verifyReport(report: VerifyReport, stateSchema: string): string {
  const { started_at, finished_at, streams, differences, errors, warnings, run_id, seed, sample } = report;
  const time = timespan(Date.parse(finished_at) - Date.parse(started_at));
  const wrong = differences.filter(({ kind }) => kind !== "changed_since");
  const details =
    sample === null ? "all details" : `at most ${formatCount(sample)} details of each kind, --seed ${seed}`;
  const blocks = [
    streamTable(streams),
    ...(wrong.length === 0 ? [] : [differenceTable(wrong)]),
    `${verdict(report)} (${details}; ${time})`,
    ...(streams.some(({ changed_since }) => changed_since > 0)
      ? ["Changed since: the service changed these rows after they were loaded; the next `tributary sync` brings them."]
      : []),
    ...(differences.length > 0
      ? [`All of it: select * from ${stateSchema}.verification_differences where run_id = '${run_id}'`]
      : []),
    ...(wrong.length === 0
      ? []
      : [
          "Somebody other than tributary wrote into these tables, or a disk did. `tributary reset <stream> --drop` and a sync load a stream anew.",
        ]),
    ...warnings.map(text => `Warning: ${text}`),
    ...errors,
  ];
  return blocks.join("\n\n");
}

function verdict({ status, streams }: VerifyReport): string {
  const sum = (of: (line: VerifyLine) => number) => streams.reduce((all, line) => all + of(line), 0);
  const rows = formatCount(sum(line => line.rows_checked));
  const found = sum(line => line.differences);
  switch (status) {
    case "equal":
      return `No difference in ${rows} rows`;
    case "different":
      return `${formatCount(found)} ${found === 1 ? "difference" : "differences"} in ${rows} rows`;
    case "incomplete":
      return `No difference in ${rows} rows, but not everything could be compared`;
  }
}

function streamTable(streams: readonly VerifyLine[]): string {
  const several = new Set(streams.map(line => line.company)).size > 1;
  const columns: TableColumn[] = [
    ...(several ? [{ title: "company" }] : []),
    { title: "stream" },
    { title: "status" },
    { title: "rows", align: right },
    { title: "equal", align: right },
    { title: "differences", align: right },
    { title: "changed since", align: right },
    { title: "requests", align: right },
    { title: "" },
  ];
  const lines = streams.map(line => [
    ...(several ? [line.company] : []),
    line.stream,
    line.status,
    ...[line.rows_checked, line.rows_equal, line.differences, line.changed_since, line.requests].map(formatCount),
    line.status === "skipped" ? "nothing of it has been loaded" : cutText(line.error ?? "", 80),
  ]);
  return formatTable(columns, lines);
}

function differenceTable(wrong: readonly VerifyDifference[]): string {
  const titles = ["table", "row", "column", "what", "here", "at the service"].map(title => ({ title }));
  // Of each sort a few: a column that is wrong in every row must not hide the others.
  const sorts = Map.groupBy(wrong, one => JSON.stringify([one.table_name, one.column_name, one.kind]));
  const chosen = [...sorts.values()].flatMap(all => all.slice(0, MOST_ALIKE)).slice(0, MOST_SHOWN);
  const shown = chosen.map(one => [
    one.table_name,
    cutText(one.key, 50),
    one.column_name ?? "",
    one.kind.replaceAll("_", " "),
    one.column_name === null ? "" : valueText(one.warehouse_value),
    one.column_name === null ? "" : valueText(one.service_value),
  ]);
  const more = wrong.length - shown.length;
  return `${formatTable(titles, shown)}${more > 0 ? `\n… and ${formatCount(more)} more` : ""}`;
}

const valueText = (value: string | null): string => (value === null ? "NULL" : cutText(value, 40));

/** What a verification would request, for people. */
export function estimateReport({ streams, requests }: VerifyEstimate): string {
  const several = new Set(streams.map(line => line.company)).size > 1;
  const columns: TableColumn[] = [
    ...(several ? [{ title: "company" }] : []),
    { title: "stream" },
    { title: "requests", align: right },
    { title: "why" },
  ];
  const lines = streams.map(line => [
    ...(several ? [line.company] : []),
    line.stream,
    formatCount(line.requests),
    line.why,
  ]);
  return `${formatTable(columns, lines)}\n\nAbout ${formatCount(requests)} requests. Nothing was asked for, and nothing written.`;
}
