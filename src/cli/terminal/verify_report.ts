import { counted, formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import { textsOf } from "../../message.ts";
import { isFault } from "../../operations/verify/discrepancy.ts";
import type { VerifyDifference, VerifyLine, VerifyReport } from "../../operations/verify/report.ts";
import { type Look, outcome } from "./look.ts";
import { cutText, rowTable, streamTable } from "./table.ts";

const MOST_SHOWN = 20;
/** Of one column, or of rows of one table. */
const MOST_ALIKE = 3;

/** What a verification found, for people: a line a stream, the first differences, and where all of them are. */
export function verifyReport(report: VerifyReport, stateSchema: string, look: Look): string {
  const { started_at, finished_at, streams, differences, errors, warnings, run_id, sample } = report;
  const time = timespan(Date.parse(finished_at) - Date.parse(started_at));
  const wrong = differences.filter(({ kind }) => isFault(kind));
  const details = sample === null ? "all details" : `at most ${formatCount(sample)} details of each kind`;
  const blocks = [
    lineTable(streams, look),
    ...(wrong.length === 0 ? [] : [differenceTable(wrong, look)]),
    `${verdict(report)} (${details}; ${time})`,
    ...(streams.some(({ changed_since }) => changed_since > 0)
      ? [
          "Changed since: the service changed these rows after they were loaded; the next `tributary sync` brings them, details where their list's row changed too.",
        ]
      : []),
    ...(hasUnseen(streams) ? [unseenText(report)] : []),
    ...(differences.length > 0
      ? [`All of it: select * from ${stateSchema}.verification_differences where run_id = '${run_id}'`]
      : []),
    ...(wrong.length === 0
      ? []
      : [
          "Somebody other than tributary wrote into these tables, or a disk did. `tributary reset <stream> --drop` and a sync load a stream anew.",
        ]),
    ...textsOf(warnings).map(text => `Warning: ${text}`),
    ...textsOf(errors),
  ];
  return blocks.join("\n\n");
}

function unseenText({ unseen_within_nights: nights }: VerifyReport): string {
  const reached =
    nights === null
      ? "streams.defaults.details.audit gives no share of them to a night, so no night is planned to request one"
      : `the looks at unchanged rows reach each within ${formatCount(nights)} nights at the latest`;
  return `Unseen: the service changed these details while their list's rows stayed the same; ${reached}. \`tributary refresh <list> <key>\` brings one at once.`;
}

function verdict({ status, streams }: VerifyReport): string {
  const sum = (of: (line: VerifyLine) => number) => streams.reduce((all, line) => all + of(line), 0);
  const rows = formatCount(sum(line => line.rows_checked));
  const found = sum(line => line.differences);
  switch (status) {
    case "equal":
      return `No difference in ${rows} rows`;
    case "different":
      return `${counted(found, "difference")} in ${rows} rows`;
    case "incomparable":
      return `Nothing comparable: not one of ${rows} rows is as it was loaded`;
    case "incomplete":
      return `No difference in ${rows} rows, but not everything could be compared`;
  }
}

const hasUnseen = (streams: readonly VerifyLine[]): boolean => streams.some(line => line.changed_unseen > 0);

const lineTable = (streams: readonly VerifyLine[], look: Look): string =>
  streamTable(
    streams,
    [
      ["status", line => outcome(line.status, look)],
      ["rows", line => line.rows_checked],
      ["equal", line => line.rows_equal],
      ["differences", line => line.differences],
      ["changed since", line => line.changed_since],
      ...(hasUnseen(streams) ? [["unseen", (line: VerifyLine) => line.changed_unseen] as const] : []),
      ["requests", line => line.requests],
      ["", line => (line.status === "skipped" ? "nothing of it has been loaded" : cutText(line.error ?? "", 80))],
    ],
    look,
    ["status", "differences", "changed since", "unseen", "rows", ""],
  );

function differenceTable(wrong: readonly VerifyDifference[], look: Look): string {
  // A few of each kind: a column that is wrong in every row must not hide the others.
  const sorts = Map.groupBy(wrong, one => JSON.stringify([one.table_name, one.column_name, one.kind]));
  const shown = [...sorts.values()].flatMap(all => all.slice(0, MOST_ALIKE)).slice(0, MOST_SHOWN);
  const table = rowTable(
    shown,
    [
      ["table", one => one.table_name],
      ["row", one => cutText(one.key, 50)],
      ["column", one => one.column_name],
      ["what", one => one.kind.replaceAll("_", " ")],
      ["here", one => one.column_name && valueText(one.warehouse_value)],
      ["at the service", one => one.column_name && valueText(one.service_value)],
    ],
    look,
    { first: ["row", "column", "what"] },
  );
  const more = wrong.length - shown.length;
  return `${table}${more > 0 ? `\n… and ${formatCount(more)} more` : ""}`;
}

const valueText = (value: string | null): string => (value === null ? "NULL" : cutText(value, 40));
