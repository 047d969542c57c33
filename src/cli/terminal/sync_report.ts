import { timespan } from "../../duration.ts";
import type { RunReport } from "../../sync/run/run.ts";
import { atService, differences } from "./proof.ts";
import { formatCount, formatTable, type TableColumn } from "./table.ts";

type Row = RunReport["streams"][number];

const right = "right" as const;
const counts: readonly { readonly title: string; readonly of: (row: Row) => number }[] = [
  { title: "read", of: row => row.rows_read },
  { title: "inserted", of: row => row.inserted },
  { title: "updated", of: row => row.updated },
  { title: "unchanged", of: row => row.unchanged },
  { title: "deleted", of: row => row.deleted },
  { title: "missing", of: row => row.missing },
  { title: "rejects", of: row => row.rejected },
  { title: "requests", of: row => row.requests },
];

/** What a run did, for people: a line a stream, then what needs their attention, then where the tables are. `next` goes on after a stop. */
export function syncReport(report: RunReport, readers: string, next = "tributary sync"): string {
  const { started_at, finished_at, run_id, streams } = report;
  const time = timespan(Date.parse(finished_at) - Date.parse(started_at));
  const heading = `Run ${run_id} ${verdict(report)} after ${time}.`;
  const blocks = [streamTable(streams), heading];
  blocks.push(...differences(streams.filter(row => (row.difference ?? 0) !== 0)));
  if (report.status === "stopped") blocks.push(saved(streams, next));
  // What could not begin has made no tables.
  const isNothing = streams.every(({ status }) => status === "skipped");
  const where = isNothing && report.errors.length > 0 ? "" : readers;
  blocks.push(...report.notes, ...report.warnings.map(text => `Warning: ${text}`), ...report.errors, where);
  return blocks.filter(block => block !== "").join("\n\n");
}

function streamTable(streams: readonly Row[]): string {
  const several = new Set(streams.map(row => row.company)).size > 1;
  const columns: TableColumn[] = [
    ...(several ? [{ title: "company" }] : []),
    { title: "stream" },
    { title: "status" },
    ...counts.map(({ title }) => ({ title, align: right })),
    { title: "in table", align: right },
    { title: "at service", align: right },
    { title: "time", align: right },
  ];
  const lines = streams.map(row => [
    ...(several ? [row.company] : []),
    row.stream,
    row.status,
    ...counts.map(({ of }) => formatCount(of(row))),
    row.table_rows === null ? "" : formatCount(row.table_rows),
    atService(row),
    row.finished_at === null ? "" : timespan(Date.parse(row.finished_at) - Date.parse(row.started_at)),
  ]);
  return formatTable(columns, lines);
}

function verdict({ status, exit_code, streams }: RunReport): string {
  switch (status) {
    case "succeeded":
      return "succeeded";
    case "warning":
      return "succeeded with warnings";
    case "stopped":
      return "was stopped";
    case "failed": {
      const failed = streams.filter(row => row.status === "failed" || row.status === "incomplete").length;
      const others = failed < streams.length && exit_code === 1 ? "; the others are stored" : "";
      return failed === 0 ? "failed" : `failed in ${failed} of ${streams.length} streams${others}`;
    }
  }
}

/** After a stop: which streams are up to date, what is kept for the next run, what was not begun. */
function saved(streams: readonly Row[], next: string): string {
  const names = (rows: readonly Row[]): string => [...new Set(rows.map(row => row.stream))].join(", ");
  const done = streams.filter(row => row.status === "succeeded" || row.status === "warning");
  const begun = streams.filter(row => row.status === "stopped");
  const idle = streams.filter(row => row.status === "skipped");
  const kept = begun.reduce((sum, row) => sum + row.rows_read, 0);
  const parts = [
    ...(done.length > 0 ? [`up to date: ${names(done)}`] : []),
    ...(begun.length > 0 ? [`begun, ${formatCount(kept)} rows read and kept: ${names(begun)}`] : []),
    ...(idle.length > 0 ? [`not begun: ${names(idle)}`] : []),
  ];
  return `Saved: ${parts.join("; ")}. The next \`${next}\` goes on from there.`;
}
