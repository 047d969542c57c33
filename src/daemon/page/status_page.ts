import { html } from "hono/html";
import { titleOf } from "../../config/destination.ts";
import { counted, formatCount } from "../../counted.ts";
import { ago, ahead, roughly, timespan } from "../../duration.ts";
import { documentOf } from "../../outputs/html/document.ts";
import { liveSection } from "./live.ts";
import { type Concern, concerns, namer, outcome, pathOf, type Tone, type View, verdict } from "./page_model.ts";
import { runSection } from "./runs.ts";
import { streamSection } from "./streams.ts";
import { date, prose, time } from "./wording.ts";
import { workerSection } from "./workers.ts";

export function pageDocument(view: View) {
  const { tone, sentence } = verdict(view);
  return framed(view, {
    ...{ title: sentence, tone },
    main: html`<div class="verdict ${tone}"><h1>${sentence}</h1>${nothingYet(view)}</div>
  ${troubleSection(concerns(view), view)}
  ${tiles(view)}
  ${liveSection(view)}
  ${workerSection(view)}
  ${streamSection(view)}
  ${runSection(view)}`,
  });
}

/** What all pages have around what they say; `tone` colours the tab's icon. */
export function framed(
  view: View,
  { title, tone, main }: { readonly title: string; readonly tone: Tone; readonly main: unknown },
) {
  return documentOf({
    title: `${title} · tributary`,
    head: html`<link rel="icon" href="/icon-${tone}.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>`,
    body: html`<header><p class="brand"><a href="/">${logo} tributary</a></p><p class="place">${place(view)}</p></header>
<main>
  ${main}
</main>
<footer><p><span id="as-of">As of ${time(new Date(view.now).toISOString())}.</span> Times are in <span id="zone">UTC</span>.</p><p id="connection" role="status"></p></footer>`,
  });
}

const logo = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M3 4c5 0 6 5 9 8m9-8c-5 0-6 5-9 8m0 0v9"/></svg>`;

/** The icon of the browser's tab, coloured by the verdict. */
export function icon(tone: string): string | undefined {
  const colour = { good: "#1a7f4e", warn: "#b7791f", bad: "#c62828", idle: "#64748b" }[tone];
  if (colour === undefined) return undefined;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="12" fill="${colour}"/><path d="M6 6c4 0 4 4 6 7m6-7c-4 0-4 4-6 7m0 0v6" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>`;
}

function place({ status, now }: View) {
  if (status === undefined) return "";
  const { path, schema, published_at } = status.warehouse;
  const where = path?.split(/[\\/]/).at(-1) ?? titleOf(status.warehouse);
  const published = published_at === null ? "" : html`, published ${time(published_at, ago(published_at, now))}`;
  return html`${where} · schema ${schema}${published}`;
}

function nothingYet({ status }: View) {
  if (status === undefined || status.warehouse.loaded) return status?.warehouse.note ?? "";
  return html`<p><code>tributary check</code> looks whether everything is ready, <code>tributary sync</code> loads.</p>`;
}

function tiles(view: View) {
  const { status } = view;
  if (status === undefined) return "";
  const on = status.streams.filter(stream => stream.on);
  return html`<dl class="tiles">
    ${tile("Oldest data", ...oldest(view))}
    ${tile("Last run", ...lastRun(view))}
    ${tile("Next run", ...nextRun(view))}
    ${tile(
      "In the warehouse",
      counted(
        on.reduce((sum, stream) => sum + stream.live_rows, 0),
        "row",
      ),
      `${counted(on.length, "stream")} on`,
    )}
  </dl>`;
}

export const tile = (title: string, fact: unknown, more: unknown) =>
  html`<div class="card tile"><dt>${title}</dt><dd><span class="large">${fact}</span><span class="quiet">${more}</span></dd></div>`;

function oldest({ status, now, lateAfterMs }: View): [unknown, unknown] {
  const moments = (status?.streams ?? []).flatMap(({ on, complete_to }) =>
    on && complete_to !== null ? complete_to : [],
  );
  const first = moments.toSorted()[0];
  if (first === undefined) return ["none yet", `late after ${roughly(lateAfterMs)}`];
  return [time(first, ago(first, now)), `late after ${roughly(lateAfterMs)}`];
}

function lastRun({ status, last, now }: View): [unknown, unknown] {
  const run = status?.last_run ?? undefined;
  const end = run?.finished_at ?? run?.started_at;
  // A run that could not begin is known to the daemon alone.
  if (last !== undefined && "error" in last.outcome && (end === undefined || last.finishedAt > end))
    return [
      html`<span class="bad">could not begin</span>`,
      html`${last.run.schedule}, ${time(last.finishedAt, ago(last.finishedAt, now))}`,
    ];
  if (run === undefined || end === undefined) return ["none yet", ""];
  const { word, tone } = outcome(run.status);
  const took =
    run.finished_at === null ? "" : html`, took ${timespan(Date.parse(run.finished_at) - Date.parse(run.started_at))}`;
  return [html`<span class="${tone}">${word}</span>`, html`${time(end, ago(end, now))}${took}`];
}

function nextRun({ nextRuns, now }: View): [unknown, unknown] {
  if (nextRuns === undefined) return ["not known here", html`<code>tributary schedule</code> starts runs`];
  const [next, ...others] = nextRuns;
  if (next === undefined) return ["none planned", html`<code>schedules</code> in the configuration plans some`];
  const why = next.cause === "retry" ? " (another try)" : next.cause === "missed" ? " (missed)" : "";
  const more = others.length === 0 ? "" : `, ${formatCount(others.length)} more planned`;
  return [time(next.at, ahead(next.at, now)), html`${next.schedule}${why}, ${time(next.at, date(next.at))}${more}`];
}

/** Of what is wrong, and of the streams of each such thing, so many are shown before the fold. */
const SHOWN = { concerns: 4, streams: 5 };

export function troubleSection(found: readonly Concern[], view: View) {
  if (found.length === 0) return "";
  const [first, rest] = [found.slice(0, SHOWN.concerns), found.slice(SHOWN.concerns)];
  return html`<section id="trouble" aria-labelledby="trouble-title"><h2 id="trouble-title">What to do</h2>
    <ul class="concerns">${first.map(concern => item(concern, view))}</ul>
    ${rest.length === 0 ? "" : html`<details class="card rest"><summary>${formatCount(rest.length)} more</summary><ul class="concerns">${rest.map(concern => item(concern, view))}</ul></details>`}
  </section>`;
}

function item({ tone, what, advice, streams, at, parts }: Concern, view: View) {
  const name = namer(view.status?.streams ?? []);
  const links = streams.map(stream => html`<a href="${pathOf(stream)}">${name(stream)}</a>`);
  const about = [
    ...(links.length === 0 ? [] : [commaed(links.slice(0, SHOWN.streams))]),
    ...(at === undefined ? [] : [time(at, ago(at, view.now))]),
  ];
  const more = links.slice(SHOWN.streams);
  return html`<li class="card concern ${tone}"><p class="what">${prose(what)}</p>${advice === undefined ? "" : html`<p class="advice">${prose(advice)}</p>`}
    ${about.length === 0 ? "" : html`<p class="quiet">${about[0]}${about.length > 1 ? html` · ${about[1]}` : ""}</p>`}
    ${more.length === 0 ? "" : html`<details class="rest"><summary>and ${counted(more.length, "more stream")}</summary><p class="quiet">${commaed(more)}</p></details>`}
    ${parts === undefined ? "" : html`<details class="rest"><summary>Show them</summary><ul>${parts.map(part => html`<li>${prose(part)}</li>`)}</ul></details>`}</li>`;
}

const commaed = (parts: readonly unknown[]) => parts.map((part, index) => (index === 0 ? part : html`, ${part}`));
