import { titleOf } from "../../config/destination.ts";
import { counted, formatCount } from "../../counted.ts";
import { ago, ahead, roughly, timespan } from "../../duration.ts";
import type { FleetStatus } from "../../fleet/view.ts";
import type { Status, StreamStatus } from "../../operations/status.ts";
import { type Estimated, shareText, type WrongEstimate } from "../../warehouse/details/wrong_estimate.ts";
import { storedMessages } from "../../warehouse/state/run_log.ts";
import { type Look, outcome } from "./look.ts";
import { planReport } from "./plan_report.ts";
import { atService, differences } from "./proof.ts";
import { streamTable } from "./table.ts";

/** A warehouse's status, for people. `isWhole`: the figures behind the plan, too. */
export function statusReport(status: Status, now: number, look: Look, isWhole = false): string {
  const blocks = [[...heading(status, now, look), ...nextRun(status, now), ...workers(status)].join("\n")];
  const { warehouse, streams } = status;
  if (!warehouse.loaded) {
    blocks.push(
      "Nothing has been loaded yet: `tributary check` looks whether everything is ready, `tributary sync` loads.",
    );
    return blocks.join("\n\n");
  }
  if (warehouse.note !== null) return [...blocks, warehouse.note].join("\n\n");
  blocks.push(statusTable(streams, now, look), ...remarks(streams));
  blocks.push(...planReport(status.plan ?? [], look, isWhole));
  blocks.push(...storedMessages(status.last_run?.warnings).map(({ message }) => `Warning: ${message}`));
  return blocks.join("\n\n");
}

function heading({ warehouse, lake, running, last_run }: Status, now: number, look: Look): string[] {
  const place = [titleOf(warehouse), warehouse.path].filter(part => part !== null).join(" ");
  const published = warehouse.published_at === null ? "" : `, published ${ago(warehouse.published_at, now)}`;
  const lines = [`Warehouse: ${place}, schema ${warehouse.schema}${published}`];
  if (lake !== null) lines.push(`Lake:      ${lakeText(lake, now)}`);
  lines.push(
    running === null
      ? "Running:   nothing"
      : `Running:   ${running.run_id} (${running.command}, process ${running.pid} on ${running.host}) since ${ago(running.started_at, now)}`,
  );
  if (last_run === null) return lines;
  const { run_id, started_at, finished_at } = last_run;
  const took = finished_at === null ? "" : `, took ${timespan(Date.parse(finished_at) - Date.parse(started_at))}`;
  lines.push(`Last run:  ${run_id} ${outcome(last_run.status, look)}, ${ago(finished_at ?? started_at, now)}${took}`);
  if (last_run.error !== null) lines.push(`           ${last_run.error}`);
  return lines;
}

function lakeText(lake: NonNullable<Status["lake"]>, now: number): string {
  const { files, bytes, snapshots, oldest_snapshot_at, tables_due, files_to_remove, expired_at } = lake;
  const maintained =
    expired_at === null ? "not looked for old ones yet" : `last looked for old ones ${ago(expired_at, now)}`;
  const work = [
    ...(tables_due > 0 ? [`files of ${formatCount(tables_due)} tables are put together next`] : []),
    ...(files_to_remove > 0 ? [`${formatCount(files_to_remove)} files that nothing needs wait to be removed`] : []),
  ];
  const made = `${formatCount(files)} files, ${(bytes / 1e6).toFixed(1)} MB; ${formatCount(snapshots)} snapshots since ${ago(oldest_snapshot_at, now)}, ${maintained}`;
  return [made, ...work].join("; ");
}

function nextRun({ next_run }: Status, now: number): string[] {
  if (next_run === null) return [];
  const { schedule, at } = next_run;
  const moment = at.slice(0, 16).replace("T", " ");
  return [`Next run:  ${schedule} at ${moment} UTC, ${ahead(at, now)}, if \`tributary schedule\` is up`];
}

function workers({ workers: fleet }: Status): string[] {
  if (fleet === null) return [];
  if (fleet.note !== null) return [`Workers:   can't be looked at: ${fleet.note}`];
  const up = fleet.workers.filter(worker => worker.up).length;
  const silent = fleet.workers.length - up;
  const { runs, waiting_companies, active_companies } = fleet.queue;
  return [
    `Workers:   ${up === 0 ? "none is up" : `${up} up`}${silent === 0 ? "" : `, ${silent} silent`}`,
    ...fleet.workers.map(worker => `  ${workerText(worker)}`),
    runs.length === 0
      ? "Queue:     empty"
      : `Queue:     ${counted(runs.length, "run")}; ${counted(waiting_companies, "company", "companies")} waiting, ${formatCount(active_companies)} being worked on`,
  ];
}

function workerText({
  id,
  version,
  seen_seconds_ago,
  draining,
  refusal,
  jobs,
}: FleetStatus["workers"][number]): string {
  const named = ({ company, run_id }: (typeof jobs)[number]) => company ?? `conducts ${run_id}`;
  const does = jobs.length === 0 ? "no jobs" : jobs.map(named).join(", ");
  const what = refusal === null ? does : `takes no jobs: ${refusal}`;
  return `${id} (${version}), seen ${timespan(1_000 * seen_seconds_ago)} ago${draining ? ", leaves when it is done" : ""}: ${what}`;
}

const statusTable = (streams: readonly StreamStatus[], now: number, look: Look): string =>
  streamTable(
    streams,
    [
      ["status", one => outcome(one.on ? one.status : `off (${one.status})`, look)],
      ["complete to", one => ago(one.complete_to, now)],
      ["last success", one => ago(one.last_success_at, now)],
      ["rows", one => one.live_rows],
      ["at service", atService, "right"],
      ["deleted", one => one.rows - one.live_rows],
      ["pending", one => one.details_pending],
      ["problems", one => one.problems],
      ["rejects", one => one.rejects],
    ],
    look,
    ["status", "complete to", "problems", "rejects", "rows", "pending"],
  );

function remarks(streams: readonly StreamStatus[]): string[] {
  const named = (rows: readonly StreamStatus[]) => [...new Set(rows.map(one => one.stream))].join(", ");
  const failing = streams.filter(one => one.on && one.error !== null);
  const failed = [...Map.groupBy(failing, one => one.error)].map(([error, rows]) => `${named(rows)}: ${error}`);
  const about = (those: (one: StreamStatus) => boolean, what: string, advice: string): string[] => {
    const found = streams.filter(those);
    return found.length === 0 ? [] : [`${what} (${named(found)}): ${advice}`];
  };
  return [
    ...failed,
    ...differences(streams.filter(one => one.on && (one.difference ?? 0) !== 0)),
    ...streams.flatMap(distrusted),
    ...about(({ rejects }) => rejects > 0, "Rows that could not be stored", "`tributary rejects` shows them."),
    ...about(
      ({ problems }) => problems > 0,
      "Values that could not be read",
      "`tributary rejects --problems` says which.",
    ),
    ...about(
      ({ details_pending }) => (details_pending ?? 0) > 0,
      "Details still to be fetched",
      "the next `tributary sync` goes on.",
    ),
    ...streams.flatMap(looked),
  ];
}

/** What is promised of details, what random looks say of them, and which one waits for longest. */
function looked({ stream, details_freshness: found }: StreamStatus): string[] {
  if (found === null) return [];
  const { promised, estimate, longest_unseen_at } = found;
  const within = roughly(promised.within_days * 86_400_000);
  return [
    [
      `${stream}: ${shareText(promised.share)} of active details are promised to be at most ${within} behind;`,
      estimate === null ? "there are no random looks yet that would tell." : estimated(estimate),
      ...(longest_unseen_at === null ? [] : [`Longest unseen: since ${longest_unseen_at.slice(0, 10)}.`]),
    ].join(" "),
  ];
}

function estimated({ fresh, wrong, sampled }: WrongEstimate): string {
  const bounds = ({ share, low, high }: Estimated) => `${shareText(share)} (${shareText(low)} to ${shareText(high)})`;
  const active = fresh === null ? "none was at an active one" : `${bounds(fresh)} are`;
  return `by ${counted(sampled, "look")} at random of the last week ${active}. Of all ${bounds(wrong)} changed unseen.`;
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
