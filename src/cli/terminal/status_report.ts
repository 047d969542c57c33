import { ago, ahead, timespan } from "../../duration.ts";
import type { Status, StreamStatus } from "../../operations/status.ts";
import { sentencesOf } from "../../warehouse/state/run_log.ts";
import { atService, differences } from "./proof.ts";
import { formatCount, formatTable } from "./table.ts";

/** A warehouse's status, for people. */
export function statusReport(status: Status, now: number): string {
  const blocks = [[...heading(status, now), ...nextRun(status, now)].join("\n")];
  const { warehouse, streams } = status;
  if (!warehouse.loaded) {
    blocks.push(
      "Nothing has been loaded yet: `tributary check` looks whether everything is ready, `tributary sync` loads.",
    );
    return blocks.join("\n\n");
  }
  if (warehouse.note !== null) return [...blocks, warehouse.note].join("\n\n");
  blocks.push(streamTable(streams, now), ...remarks(streams));
  blocks.push(...sentencesOf(status.last_run?.warnings).map(text => `Warning: ${text}`));
  return blocks.join("\n\n");
}

function heading({ warehouse, running, last_run }: Status, now: number): string[] {
  const place = warehouse.path === null ? "PostgreSQL" : `DuckDB ${warehouse.path}`;
  const published = warehouse.published_at === null ? "" : `, published ${ago(warehouse.published_at, now)}`;
  const lines = [`Warehouse: ${place}, schema ${warehouse.schema}${published}`];
  lines.push(
    running === null
      ? "Running:   nothing"
      : `Running:   ${running.run_id} (${running.command}, process ${running.pid} on ${running.host}) since ${ago(running.started_at, now)}`,
  );
  if (last_run === null) return lines;
  const { run_id, started_at, finished_at } = last_run;
  const took = finished_at === null ? "" : `, took ${timespan(Date.parse(finished_at) - Date.parse(started_at))}`;
  lines.push(`Last run:  ${run_id} ${last_run.status}, ${ago(finished_at ?? started_at, now)}${took}`);
  if (last_run.error !== null) lines.push(`           ${last_run.error}`);
  return lines;
}

function nextRun({ next_run }: Status, now: number): string[] {
  if (next_run === null) return [];
  const { schedule, at } = next_run;
  const moment = at.slice(0, 16).replace("T", " ");
  return [`Next run:  ${schedule} at ${moment} UTC, ${ahead(at, now)}, if \`tributary schedule\` is up`];
}

function streamTable(streams: readonly StreamStatus[], now: number): string {
  const several = new Set(streams.map(stream => stream.company)).size > 1;
  const right = "right" as const;
  const columns = [
    ...(several ? [{ title: "company" }] : []),
    { title: "stream" },
    { title: "status" },
    { title: "complete to" },
    { title: "last success" },
    { title: "rows", align: right },
    { title: "at service", align: right },
    { title: "deleted", align: right },
    { title: "pending", align: right },
    { title: "problems", align: right },
    { title: "rejects", align: right },
  ];
  const lines = streams.map(one => [
    ...(several ? [one.company] : []),
    one.stream,
    one.on ? one.status : `off (${one.status})`,
    ago(one.complete_to, now),
    ago(one.last_success_at, now),
    formatCount(one.live_rows),
    atService(one),
    formatCount(one.rows - one.live_rows),
    one.details_pending === null ? "" : formatCount(one.details_pending),
    formatCount(one.problems),
    formatCount(one.rejects),
  ]);
  return formatTable(columns, lines);
}

function remarks(streams: readonly StreamStatus[]): string[] {
  const named = (rows: readonly StreamStatus[]) => [...new Set(rows.map(one => one.stream))].join(", ");
  const failing = streams.filter(one => one.on && one.error !== null);
  const failed = [...Map.groupBy(failing, one => one.error)].map(([error, rows]) => `${named(rows)}: ${error}`);
  const rejecting = streams.filter(one => one.rejects > 0);
  const doubtful = streams.filter(one => one.problems > 0);
  const apart = streams.filter(one => one.on && (one.difference ?? 0) !== 0);
  const behind = streams.filter(one => (one.details_pending ?? 0) > 0);
  return [
    ...failed,
    ...differences(apart),
    ...streams.flatMap(distrusted),
    ...(rejecting.length > 0
      ? [`Rows that could not be stored (${named(rejecting)}): \`tributary rejects\` shows them.`]
      : []),
    ...(doubtful.length > 0
      ? [`Values that could not be read (${named(doubtful)}): \`tributary rejects --problems\` says which.`]
      : []),
    ...(behind.length > 0
      ? [`Details still to be fetched (${named(behind)}): the next \`tributary sync\` goes on.`]
      : []),
  ];
}

function distrusted({ stream, distrusted_filter: filter }: StreamStatus): string[] {
  if (filter === null) return [];
  const since = filter.since === null ? "" : ` since ${filter.since.slice(0, 10)}`;
  const rows = filter.rows.map(({ key, time }) => `${key} of ${time}`);
  const why = rows.length === 0 ? "" : `: it let through ${rows.join(" and ")}`;
  return [
    `The time filter of ${stream} is distrusted${since}${why}. It is read whole until its next full scan, or \`tributary sync ${stream} --full\`; then the filter is tried again.`,
  ];
}
