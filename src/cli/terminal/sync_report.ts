import { timespan } from "../../duration.ts";
import type { RunReport } from "../../sync/run/run.ts";
import { atService, differences } from "./proof.ts";
import { formatCount, streamTable } from "./table.ts";

type Row = RunReport["streams"][number];

/** What a run did, for people: a line a stream, then what needs their attention, then where the tables are. `next` goes on after a stop. */
export function syncReport(report: RunReport, readers: string, next = "tributary sync"): string {
  const { streams } = report;
  const heading = `Run ${report.run_id} ${verdict(report)} after ${lengthOf(report)}.`;
  const blocks = [runTable(streams), heading];
  blocks.push(...differences(streams.filter(row => (row.difference ?? 0) !== 0)));
  if (report.status === "stopped") blocks.push(saved(streams, next));
  // What could not begin has made no tables.
  const isNothing = streams.every(({ status }) => status === "skipped");
  const where = isNothing && report.errors.length > 0 ? "" : readers;
  blocks.push(...report.notes, ...report.warnings.map(text => `Warning: ${text}`), ...report.errors, where);
  return blocks.filter(block => block !== "").join("\n\n");
}

const runTable = (streams: readonly Row[]): string =>
  streamTable(streams, [
    ["status", row => row.status],
    ["read", row => row.rows_read],
    ["inserted", row => row.inserted],
    ["updated", row => row.updated],
    ["unchanged", row => row.unchanged],
    ["deleted", row => row.deleted],
    ["missing", row => row.missing],
    ["rejects", row => row.rejected],
    ["requests", row => row.requests],
    ["in table", row => row.table_rows],
    ["at service", atService, "right"],
    ["time", lengthOf, "right"],
  ]);

const lengthOf = ({ started_at, finished_at }: Pick<Row, "started_at" | "finished_at">): string =>
  finished_at === null ? "" : timespan(Date.parse(finished_at) - Date.parse(started_at));

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
