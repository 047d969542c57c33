import { html } from "hono/html";
import { ago, roughly, timespan } from "../../duration.ts";
import type { StreamStatus } from "../../operations/status.ts";
import { areaChart, columnChart, shareBar } from "../../outputs/html/sparks.ts";
import { breakable, count, counted } from "../../outputs/html/wording.ts";
import { type Estimated, shareText } from "../../warehouse/details/wrong_estimate.ts";
import { changesOf, type PastStreamRun } from "../../warehouse/read/run_history.ts";
import { ageOf, isLate } from "../../warehouse/state/freshness.ts";
import { lastRunOf, outcome, type View } from "./page_model.ts";
import { date, time } from "./wording.ts";

/** Every stream with its freshness, its last run and its charts; a table a company. */
export function streamSection(view: View) {
  const groups = [...Map.groupBy(view.status?.streams ?? [], stream => stream.company)];
  if (view.status?.warehouse.loaded !== true || groups.length === 0) return "";
  return html`<section aria-labelledby="streams-title" id="streams">
    <div class="heading"><h2 id="streams-title">Streams</h2><p>Charts show the last 30 runs of each stream, the newest on the right.</p></div>
    ${groups.map(([company, streams]) =>
      groups.length === 1
        ? table(view, streams, "Streams")
        : html`<h3>${company}</h3>${table(view, streams, `Streams of ${company}`)}`,
    )}
  </section>`;
}

// Roles are explicit: on phones the style sheet lays rows out as blocks, and browsers then drop the roles of a table.
function table(view: View, streams: readonly StreamStatus[], caption: string) {
  return html`<table class="card streams" role="table"><caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      ${["Stream", "Data as of", "Last run", "Rows read", "Changes", "Rejects"].map(
        title => html`<th role="columnheader" scope="col">${title}</th>`,
      )}
    </tr></thead>
    <tbody role="rowgroup">${streams.toSorted((a, b) => Number(b.on) - Number(a.on)).map(stream => row(view, stream))}</tbody>
  </table>`;
}

function row(view: View, stream: StreamStatus) {
  const past = view.history?.streams.find(one => one.company === stream.company && one.stream === stream.stream);
  const runs = past?.runs ?? [];
  const deleted = stream.rows - stream.live_rows;
  return html`<tr role="row" class="${stream.on ? "" : "off"}">
    <th role="rowheader" scope="row"><span class="name">${breakable(stream.stream)}</span>
      <span class="quiet">${counted(stream.live_rows, "row")}${deleted > 0 ? html`, ${count(deleted)} deleted` : ""}</span>
      ${(stream.details_pending ?? 0) > 0 ? html`<span class="quiet">${count(stream.details_pending ?? 0)} to be fetched</span>` : ""}
      ${besideService(stream)}${looked(stream)}</th>
    <td role="cell" data-title="Data as of">${freshness(view, stream)}</td>
    <td role="cell" data-title="Last run">${lastRun(view, stream)}</td>
    <td role="cell" data-title="Rows read">${chart(areaChart, "rows", runs, run => run.rows_read)}</td>
    <td role="cell" data-title="Changes">${chart(columnChart, "changes", runs, changesOf)}</td>
    <td role="cell" data-title="Rejects">${chart(columnChart, "rejects", runs, run => run.rejected)}</td>
  </tr>`;
}

/** What is promised of details, and what random looks say of them; empty without looks. */
function looked({ details_freshness: found }: StreamStatus) {
  if (found === null || found.estimate === null) return "";
  const { promised, longest_unseen_at } = found;
  const { fresh, wrong, sampled } = found.estimate;
  const bounds = ({ low, high }: Estimated) => `${shareText(low)} to ${shareText(high)}`;
  const within = roughly(promised.within_days * 86_400_000);
  const broken = fresh !== null && fresh.high < promised.share ? "less than promised" : "promised";
  const longest = longest_unseen_at === null ? "" : `, the longest unseen since ${longest_unseen_at.slice(0, 10)}`;
  return html`${fresh === null ? "" : html`<span class="quiet" title="${bounds(fresh)} of those of open or young rows">${shareText(fresh.share)} of active details at most ${within} behind, ${broken}: ${shareText(promised.share)}</span>`}
    <span class="quiet" title="${bounds(wrong)}, by ${counted(sampled, "look")} at random of the last week">about ${shareText(wrong.share)} of details changed unseen${longest}</span>`;
}

/** Empty where the table has as many rows as the service. */
function besideService({ on, difference, difference_reason }: StreamStatus) {
  if (!on || difference === null || difference === 0) return "";
  const more = `${counted(Math.abs(difference), "row")} ${difference > 0 ? "more" : "fewer"}`;
  return html`<span class="quiet">${more} than at the service: ${difference_reason}</span>`;
}

function freshness(view: View, stream: StreamStatus) {
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

function lastRun(view: View, stream: StreamStatus) {
  const { word, tone } = outcome(stream.status);
  const run = stream.status === "never" ? undefined : lastRunOf(view, stream);
  const took =
    run?.finished_at == null ? "" : html`${timespan(Date.parse(run.finished_at) - Date.parse(run.started_at))}`;
  return html`<span class="pill ${tone}">${word}</span>
    ${run === undefined ? "" : html`<span class="quiet">${time(run.started_at, ago(run.started_at, view.now))}${took === "" ? "" : html` · ${took}`}</span>`}`;
}

/** A chart over the stream's last runs, and its last value; `tone` is its colour's name. */
function chart(
  draw: typeof areaChart,
  tone: "rows" | "changes" | "rejects",
  runs: readonly PastStreamRun[],
  measure: (run: PastStreamRun) => number,
) {
  const what = tone === "rows" ? "rows read" : tone;
  const points = runs.map(run => ({
    value: measure(run),
    note: `${date(run.started_at)} UTC: ${count(measure(run))} ${what}`,
  }));
  const last = points.at(-1);
  if (last === undefined) return html`<span class="quiet">no runs yet</span>`;
  const alarming = tone === "rejects" && last.value > 0;
  return html`<div class="measure">${draw(what, points, tone)}<span class="${alarming ? "number bad" : "number"}">${count(last.value)}</span></div>`;
}
