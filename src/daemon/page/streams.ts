import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { ago, roughly, timespan } from "../../duration.ts";
import type { StreamStatus } from "../../operations/status.ts";
import { columnChart, shareBar } from "../../outputs/html/sparks.ts";
import { breakable } from "../../outputs/html/wording.ts";
import { changesOf, type PastStreamRun } from "../../warehouse/read/run_history.ts";
import { ageOf, isLate } from "../../warehouse/state/freshness.ts";
import {
  lastRunOf,
  outcome,
  pathOf,
  runsOf,
  type Tone,
  type Trait,
  tookOf,
  traitsOf,
  type View,
} from "./page_model.ts";
import { time } from "./wording.ts";

/** Up to so many streams every subject is unfolded from the beginning. */
const UNFOLDED = 12;

/** Every stream with its freshness, its last run and its charts: a line a subject that unfolds. The page's script searches, filters and sorts them. */
export function streamSection(view: View) {
  const streams = view.status?.streams ?? [];
  if (view.status?.warehouse.loaded !== true || streams.length === 0) return "";
  const companies = [...Map.groupBy(streams, stream => stream.company)];
  return html`<section aria-labelledby="streams-title" id="streams">
    <div class="heading"><h2 id="streams-title">Streams</h2><p>Charts show the last 30 runs of each stream, the newest on the right.</p></div>
    ${tools(view, streams)}
    <div id="subjects">${companies.map(([company, own]) => {
      const [title, of] = companies.length === 1 ? ["", ""] : [html`<h3>${company}</h3>`, company];
      return html`${title}<div class="card subjects">${subjectsOf(view, own).map(([subject, members]) => subjectLine(view, { subject, of, isOpen: streams.length <= UNFOLDED }, members))}</div>`;
    })}</div>
    ${table("Streams that were looked for", "", html` id="found" hidden`)}
  </section>`;
}

/** A company's streams by subject, in the order of the catalogue; none is without streams. */
function subjectsOf({ groups }: View, streams: readonly StreamStatus[]) {
  const subjects = new Map(groups.flatMap(({ title, streams: all }) => all.map(({ name }) => [name, title] as const)));
  return [...Map.groupBy(streams, ({ stream }) => subjects.get(stream) ?? "Others")];
}

const filters: readonly Trait[] = ["failing", "late", "changed"];

/** What sorts streams: the name of a row's `data-` attribute, highest first but for the two that say otherwise. */
const orders = {
  name: "by name",
  at: "oldest data first",
  changes: "most changes first",
  rows: "most rows first",
  took: "longest run first",
};

/** Without the page's script they would do nothing: it shows them. */
function tools(view: View, streams: readonly StreamStatus[]) {
  const traits = streams.flatMap(stream => traitsOf(view, stream));
  const counts = filters.map(trait => [trait, traits.filter(each => each === trait).length] as const);
  return html`<div class="tools" id="tools" hidden>
    <input type="search" id="search" placeholder="Search" aria-label="Search streams" autocomplete="off" spellcheck="false">
    <div class="filters" role="group" aria-label="Show only streams that are">${counts.map(([trait, many]) => html`<button type="button" data-only="${trait}" aria-pressed="false">${trait} <span class="quiet">${formatCount(many)}</span></button>`)}</div>
    <select id="order" aria-label="Order"><option value="">by subject</option>${Object.entries(orders).map(([name, text]) => html`<option value="${name}">${text}</option>`)}</select>
    <p class="quiet" id="matches" role="status"></p>
  </div>`;
}

interface Line {
  readonly subject: string;
  /** The company where there are several. */
  readonly of: string;
  readonly isOpen: boolean;
}

function subjectLine(view: View, { subject, of, isOpen }: Line, streams: readonly StreamStatus[]) {
  const on = streams.filter(stream => stream.on);
  const traits = on.flatMap(stream => traitsOf(view, stream));
  const pill = (many: number, tone: Tone, word: string) =>
    many === 0 ? "" : html` <span class="pill ${tone}">${formatCount(many)} ${word}</span>`;
  const oldest = on.flatMap(({ complete_to }) => complete_to ?? []).toSorted()[0];
  const rows = streams.reduce((sum, stream) => sum + stream.live_rows, 0);
  const place = of === "" ? subject : `${of} · ${subject}`;
  return html`<details${isOpen ? html` open` : ""}><summary><span class="subject">${subject}</span><span class="pills">${pill(traits.filter(trait => trait === "failing").length, "bad", "failed")}${pill(traits.filter(trait => trait === "late").length, "warn", "late")}${pill(on.filter(stream => stream.rejects > 0).length, "warn", "with rejects")}</span>
    <span class="quiet">${counted(streams.length, "stream")}, ${counted(rows, "row")}</span><span class="quiet oldest">${oldest === undefined ? "" : time(oldest, `${roughly(view.now - Date.parse(oldest))} old`)}</span></summary>
    ${table(
      `Streams: ${place}`,
      streams.toSorted((a, b) => Number(b.on) - Number(a.on)).map(stream => row(view, stream, place)),
    )}</details>`;
}

// Roles are explicit: on phones the style sheet lays rows out as blocks, and browsers then drop the roles of a table.
const table = (caption: string, rows: unknown, attributes: unknown = "") =>
  html`<table class="streams" role="table"${attributes}><caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      ${["Stream", "Data as of", "Last run", "Rows read", "Changes", "Rejects"].map(
        title => html`<th role="columnheader" scope="col">${title}</th>`,
      )}
    </tr></thead>
    <tbody role="rowgroup">${rows}</tbody>
  </table>`;

function row(view: View, stream: StreamStatus, place: string) {
  const runs = runsOf(view, stream);
  const last = runs.at(-1);
  const took = last === undefined ? 0 : tookOf(last, view.now);
  return html`<tr role="row" class="${stream.on ? "" : "off"}" data-is="${traitsOf(view, stream).join(" ")}" data-name="${stream.stream}" data-at="${stream.complete_to ?? ""}" data-rows="${stream.live_rows}" data-changes="${last === undefined ? 0 : changesOf(last)}" data-took="${took}">
    <th role="rowheader" scope="row"><a class="name" href="${pathOf(stream)}">${breakable(stream.stream)}</a>
      <span class="quiet place-of">${place}</span>
      <span class="quiet">${rowsOf(stream)}</span>
      ${(stream.details_pending ?? 0) > 0 ? html`<span class="quiet">${formatCount(stream.details_pending ?? 0)} to be fetched</span>` : ""}
      ${besideService(stream)}</th>
    <td role="cell" data-title="Data as of">${freshness(view, stream)}</td>
    <td role="cell" data-title="Last run">${lastRun(view, stream)}</td>
    <td role="cell" data-title="Rows read">${chart("rows", runs)}</td>
    <td role="cell" data-title="Changes">${chart("changes", runs)}</td>
    <td role="cell" data-title="Rejects">${chart("rejects", runs)}</td>
  </tr>`;
}

/** `1,234 rows, 5 deleted`. */
export function rowsOf({ rows, live_rows }: StreamStatus): string {
  const deleted = rows - live_rows;
  return `${counted(live_rows, "row")}${deleted > 0 ? `, ${formatCount(deleted)} deleted` : ""}`;
}

/** Empty where the table has as many rows as the service. */
export function besideService({ on, difference, difference_reason }: StreamStatus) {
  if (!on || difference === null || difference === 0) return "";
  const more = `${counted(Math.abs(difference), "row")} ${difference > 0 ? "more" : "fewer"}`;
  return html`<span class="quiet">${more} than at the service: ${difference_reason}</span>`;
}

export function freshness(view: View, stream: StreamStatus) {
  const age = ageOf(stream, view.now);
  if (!stream.on) return html`<span class="pill idle">off</span><span class="quiet">not updated any more</span>`;
  if (age === undefined || stream.complete_to === null)
    return html`<span class="pill idle">not complete yet</span><span class="quiet">its first whole read sets this</span>`;
  const late = isLate(stream, view.lateAfterMs, view.now);
  const old = time(stream.complete_to, late || age >= 60_000 ? `${roughly(age)} old` : "less than a minute old");
  return html`<span class="fact">${old}${late ? html` <span class="pill warn">late</span>` : ""}</span>
    ${shareBar(age / view.lateAfterMs, late ? "warn" : "good")}
    ${late ? html`<span class="quiet">late after ${roughly(view.lateAfterMs)}</span>` : ""}`;
}

export function lastRun(view: View, stream: StreamStatus) {
  const { word, tone } = outcome(stream.status);
  const run = stream.status === "never" ? undefined : lastRunOf(view, stream);
  const took = run?.finished_at == null ? "" : timespan(tookOf(run, view.now));
  return html`<span class="pill ${tone}">${word}</span>
    ${run === undefined ? "" : html`<span class="quiet">${time(run.started_at, ago(run.started_at, view.now))}${took === "" ? "" : html` · ${took}`}</span>`}`;
}

const charts = {
  rows: { what: "rows read", measure: (run: PastStreamRun) => run.rows_read },
  changes: { what: "changes", measure: changesOf },
  rejects: { what: "rejects", measure: (run: PastStreamRun) => run.rejected },
};

/** A chart over the stream's last runs, and its last value. */
export function chart(tone: keyof typeof charts, runs: readonly PastStreamRun[]) {
  const { what, measure } = charts[tone];
  const values = runs.map(measure);
  const last = values.at(-1);
  if (last === undefined) return html`<span class="quiet">no runs yet</span>`;
  const alarming = tone === "rejects" && last > 0;
  return html`<div class="measure">${columnChart(what, values, tone)}<span class="${alarming ? "number bad" : "number"}">${formatCount(last)}</span></div>`;
}
