import { counted, formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import type { RunReport } from "../../sync/run/run.ts";
import { type Look, outcome } from "./look.ts";
import { atService, differences } from "./proof.ts";
import { streamTable } from "./table.ts";

type Row = RunReport["streams"][number];

/** What a run did, for people: a line a stream, then what needs their attention, then where the tables are. `next` goes on after a stop; the command took `tookMs`. */
export function syncReport(
  report: RunReport,
  readers: string,
  look: Look,
  tookMs: number,
  next = "tributary sync",
): string {
  const { streams } = report;
  const ended = `Run ${report.run_id} ${outcome(verdict(report), look)} after ${timespan(tookMs)}.`;
  const blocks = [...runTable(streams, look), `${ended}${totals(streams)}`];
  blocks.push(...differences(streams.filter(row => (row.difference ?? 0) !== 0)));
  if (report.status === "stopped") blocks.push(saved(streams, next));
  // A run that got nothing, as with a wrong key, does not send readers to the tables.
  const isNothing = streams.every(({ status }) => status === "skipped" || status === "failed");
  const where = isNothing && report.errors.length > 0 ? "" : readers;
  blocks.push(...report.notes.map(({ message }) => message));
  blocks.push(...report.warnings.map(({ message }) => `${look.paint("yellow", "Warning:")} ${message}`));
  blocks.push(where, ...report.errors.map(({ message }) => look.paint("red", message)));
  return blocks.filter(block => block !== "").join("\n\n");
}

/** On a terminal only what has changed, trouble last, and a line about the others; elsewhere a line a stream, in the run's order. */
function runTable(streams: readonly Row[], look: Look): string[] {
  if (look.width === undefined) return [lineTable(streams, look)];
  const { paint } = look;
  const [still, others] = parted(streams, isUnchanged);
  const [skipped, worked] = parted(others, row => row.status === "skipped");
  const [fine, troubled] = parted(worked, row => row.status === "succeeded");
  const shown = [...fine, ...troubled.toSorted((a, b) => WORST.indexOf(a.status) - WORST.indexOf(b.status))];
  const folded = [...Map.groupBy(skipped, row => row.error ?? "nothing was to be done")].map(
    ([why, rows]) => `${counted(rows.length, "stream")} skipped: ${why}`,
  );
  if (still.length > 0)
    folded.unshift(`${counted(still.length, "stream")} unchanged, ${counted(sum(still, "requests"), "request")}`);
  return [...(shown.length === 0 ? [] : [lineTable(shown, look)]), folded.map(line => paint("dim", line)).join("\n")];
}

/** The worst is nearest to the prompt. */
const WORST: readonly Row["status"][] = ["running", "stopped", "warning", "incomplete", "failed"];

const COUNTED = ["inserted", "updated", "deleted", "missing", "rejected", "problems"] as const;

const isUnchanged = (row: Row): boolean =>
  row.status === "succeeded" && COUNTED.every(name => row[name] === 0) && (row.difference ?? 0) === 0;

const parted = (rows: readonly Row[], which: (row: Row) => boolean): [Row[], Row[]] => [
  rows.filter(which),
  rows.filter(row => !which(row)),
];

const sum = (rows: readonly Row[], name: (typeof COUNTED)[number] | "requests" | "rows_read"): number =>
  rows.reduce((all, row) => all + row[name], 0);

/** Of a run that read something, or asked: "nothing has changed" says more than one that could not begin knows. */
function totals(streams: readonly Row[]): string {
  const [rows, requests] = [sum(streams, "rows_read"), sum(streams, "requests")];
  if (rows + requests === 0) return "";
  const changes = (["inserted", "updated", "deleted", "rejected"] as const)
    .map(name => [sum(streams, name), name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${formatCount(count)} ${name}`);
  const read = `${counted(rows, "row")} read with ${counted(requests, "request")}`;
  return `\nIn all ${read}: ${changes.join(", ") || "nothing has changed"}.`;
}

const lineTable = (streams: readonly Row[], look: Look): string =>
  streamTable(
    streams,
    [
      ["status", row => outcome(row.status, look)],
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
    ],
    look,
    ["status", "inserted", "updated", "rejects", "deleted", "missing", "time", "read", "requests", "in table"],
  );

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
