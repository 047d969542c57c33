import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { ago, roughly, timespan } from "../../duration.ts";
import type { StreamStatus } from "../../operations/status.ts";
import { breakable } from "../../outputs/html/wording.ts";
import { type Estimated, shareText } from "../../warehouse/details/wrong_estimate.ts";
import type { PastStreamRun } from "../../warehouse/read/run_history.ts";
import type { AskedDetails, StreamRecord } from "../../warehouse/read/stream_record.ts";
import { type Concern, concerns, lastRunOf, runsOf, type StreamRef, tookOf, type View } from "./page_model.ts";
import type { StreamLook } from "./page_snapshot.ts";
import { ending, runTables, table } from "./runs.ts";
import { framed, tile, troubleSection } from "./status_page.ts";
import { besideService, chart, freshness, lastRun, rowsOf } from "./streams.ts";
import { parted, time } from "./wording.ts";

export function streamDocument(view: View, stream: StreamStatus, look: StreamLook) {
  const record = "record" in look ? look.record : undefined;
  const about = concerns(view).filter(({ streams }) => streams.some(isSame(stream)));
  const unread: readonly Concern[] =
    "unreadable" in look ? [{ tone: "bad", ...parted(look.unreadable), streams: [], at: undefined }] : [];
  const tone = !stream.on
    ? "idle"
    : about.some(each => each.tone === "bad")
      ? "bad"
      : about.length > 0
        ? "warn"
        : "good";
  const several = new Set(view.status?.streams.map(({ company }) => company)).size > 1;
  const subject = view.groups.find(({ streams }) => streams.some(({ name }) => name === stream.stream))?.title;
  const place = [...(several ? [stream.company] : []), ...(subject === undefined ? [] : [subject])].join(" · ");
  return framed(view, {
    ...{ title: stream.stream, tone },
    main: html`<nav aria-label="Way back"><a href="/">All streams</a></nav>
  <div class="verdict ${tone}"><h1>${breakable(stream.stream)}</h1><p class="quiet">${place}</p></div>
  ${troubleSection([...unread, ...about], view)}
  ${tiles(view, stream)}
  ${runSection(view, runsOf(view, stream))}
  ${record === undefined ? "" : html`${askedSection(record.asked, stream)}${problemSection(record)}${driftSection(view, record)}${shapeSection(view, record)}`}`,
  });
}

export const streamOf = ({ status }: View, named: StreamRef): StreamStatus | undefined =>
  status?.streams.find(isSame(named));

const isSame = (one: StreamRef) => (other: StreamRef) => one.company === other.company && one.stream === other.stream;

function tiles(view: View, stream: StreamStatus) {
  const run = lastRunOf(view, stream);
  const waiting = stream.details_pending ?? 0;
  return html`<dl class="tiles">
    ${tile("Data as of", freshness(view, stream), "")}
    ${tile("Last run", lastRun(view, stream), "")}
    ${tile("Requests of the last run", run === undefined ? "none yet" : formatCount(run.requests), waiting === 0 ? "" : `${formatCount(waiting)} details to be fetched`)}
    ${tile("In the warehouse", rowsOf(stream), besideService(stream))}
  </dl>`;
}

const section = (id: string, title: string, note: unknown, content: unknown) =>
  html`<section id="${id}" aria-labelledby="${id}-title"><div class="heading"><h2 id="${id}-title">${title}</h2><p>${note}</p></div>${content}</section>`;

function runSection(view: View, runs: readonly PastStreamRun[]) {
  if (runs.length === 0) return "";
  const charts = (["rows", "changes", "rejects"] as const).map(
    tone =>
      html`<div><dt class="quiet">${tone === "rows" ? "Rows read" : tone === "changes" ? "Changes" : "Rejects"}</dt><dd>${chart(tone, runs)}</dd></div>`,
  );
  const titles = ["Started", "Outcome", "Took", "Requests", "Rows read", "Changes", "Rejects"];
  const rows = runs
    .toReversed()
    .map(run => [
      time(run.started_at),
      ending(run),
      timespan(tookOf(run, view.now)),
      ...[run.requests, run.rows_read].map(formatCount),
      changesIn(run),
      formatCount(run.rejected),
    ]);
  const tables = runTables("runs of the stream", titles, rows);
  return section("runs", "Last runs", "", html`<dl class="card charts">${charts}</dl>${tables}`);
}

function changesIn({ inserted, updated, deleted }: PastStreamRun): string {
  const said = [
    ...(inserted === 0 ? [] : [`${formatCount(inserted)} new`]),
    ...(updated === 0 ? [] : [`${formatCount(updated)} changed`]),
    ...(deleted === 0 ? [] : [`${formatCount(deleted)} deleted`]),
  ];
  return said.join(", ") || "none";
}

/** What `_tributary.details.why` says, in words. */
const reasons: Readonly<Record<string, string>> = {
  new: "the row was new",
  changed: "the row had changed",
  retry: "another try after a failure",
  formats: "to store it in another way",
  recheck: "it was absent, or lacked lines",
  refresh: "its time was up",
  forced: "somebody asked for it",
  caused: "another list's row had changed",
  audit: "a look at unchanged rows",
};

function askedSection(asked: readonly AskedDetails[], stream: StreamStatus) {
  if (asked.length === 0) return "";
  const sum = (measure: (one: AskedDetails) => number) => asked.reduce((total, one) => total + measure(one), 0);
  const notes = [
    counted(
      sum(one => one.details),
      "detail",
    ),
    ...(sum(one => one.absent) === 0 ? [] : [`${formatCount(sum(one => one.absent))} that the service has none for`]),
    ...(sum(one => one.failed) === 0 ? [] : [`${formatCount(sum(one => one.failed))} that failed`]),
  ];
  const rows = asked.map(({ why, last, details, found }) => [
    reasons[why] ?? why,
    ...[last, details, found].map(formatCount),
  ]);
  const titles = ["Why each was asked for last", "By the last run", "In all", "Had changed"];
  return section("asked", "Requests", notes.join(", "), [
    table("Why details were asked for", titles, rows),
    stream.details_freshness === null ? "" : freshnessLines(stream.details_freshness),
  ]);
}

/** What is promised of details, what random looks say of them, and which has not been looked at for longest. */
function freshnessLines({ promised, estimate, longest_unseen_at }: NonNullable<StreamStatus["details_freshness"]>) {
  const within = roughly(promised.within_days * 86_400_000);
  const between = ({ share, low, high }: Estimated) =>
    `about ${shareText(share)}, between ${shareText(low)} and ${shareText(high)}`;
  const looks =
    estimate === null ? [] : [`${between(estimate.wrong)}, by ${counted(estimate.sampled, "look")} at random`];
  return lines([
    ["Promised", [`${shareText(promised.share)} of active details at most ${within} behind`]],
    ["As looks at random say", estimate?.fresh == null ? [] : [between(estimate.fresh)]],
    ["Changed unseen", looks],
    ["Not looked at for longest", longest_unseen_at === null ? [] : [html`since ${time(longest_unseen_at)}`]],
  ]);
}

/** `table.column`, which may be broken where its words end. */
const columnName = (row: { readonly table_name: string; readonly column_name: string }) =>
  html`<span class="name">${breakable(row.table_name)}.<wbr>${breakable(row.column_name)}</span>`;

const example = (text: string | null) =>
  text === null ? html`<span class="quiet">not shown</span>` : html`<code>${text}</code>`;

function problemSection({ problems }: StreamRecord) {
  if (problems.length === 0) return "";
  const rows = problems.map(problem => [
    columnName(problem),
    problem.reason,
    `${formatCount(problem.rows)} (${(100 * problem.share).toLocaleString("en-US", { maximumSignificantDigits: 2 })} %)`,
    example(problem.example),
    time(problem.last_seen_at),
  ]);
  const titles = ["Column", "Why it is empty", "Rows", "Example", "Last seen"];
  const note = html`<code>tributary rejects --problems</code> tells the same`;
  return section(
    "problems",
    "Values that did not fit",
    note,
    table("Values that did not fit their column", titles, rows),
  );
}

function driftSection(view: View, { changes }: StreamRecord) {
  if (changes.length === 0) return "";
  const rows = changes.map(change => [
    columnName(change),
    change.change,
    formatCount(change.count),
    example(change.example),
    html`${time(change.first_seen_at, ago(change.first_seen_at, view.now))} to ${time(change.last_seen_at, ago(change.last_seen_at, view.now))}`,
  ]);
  const titles = ["Field", "What is different", "Rows", "Example", "Seen"];
  const note = "How the service's rows differ from its documents";
  return section("drift", "Other than documented", note, table("Fields that differ from the documents", titles, rows));
}

/** So many changes of a version are shown before the fold. */
const FEW = 6;

/** Each change of the tables' shape is a version of them; of a new stream all its tables are one. */
function shapeSection(view: View, { shaped }: StreamRecord) {
  if (shaped.length === 0) return "";
  const versions = [...Map.groupBy(shaped, ({ changed_at, version }) => `${changed_at} ${version}`).values()];
  const rows = versions.map(changes => {
    const { changed_at, version } = changes[0]!;
    const list = html`<ul>${changes.map(({ change }) => html`<li>${breakable(change)}</li>`)}</ul>`;
    const said =
      changes.length <= FEW
        ? list
        : html`<details><summary>${formatCount(changes.length)} changes</summary>${list}</details>`;
    return [time(changed_at, ago(changed_at, view.now)), version, said];
  });
  const titles = ["When", "By tributary", "What a run did to its tables"];
  return section("shape", "Versions of its schema", "", table("Versions of the stream's tables", titles, rows));
}

/** A line each with a title and what it holds; those without anything are left out. */
const lines = (all: readonly (readonly [title: string, parts: readonly unknown[]])[]) =>
  html`<dl class="card lines">${all.map(([title, parts]) =>
    parts.length === 0
      ? ""
      : html`<div><dt>${title}</dt><dd><ul>${parts.map(part => html`<li>${part}</li>`)}</ul></dd></div>`,
  )}</dl>`;
