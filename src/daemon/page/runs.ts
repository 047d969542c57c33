import { html } from "hono/html";
import { timespan } from "../../duration.ts";
import { barChart, ticks } from "../../outputs/html/sparks.ts";
import { counted } from "../../outputs/html/wording.ts";
import { changesOf, type PastRun, type PastStreamRun } from "../../warehouse/read/run_history.ts";
import { namer, outcome, type View } from "./page_model.ts";
import { clockTime, time } from "./wording.ts";

/** Runs that are shown before the fold. */
const SHOWN = 10;

/** The last runs, newest first: when, how it ended, how long it took, and what each stream did meanwhile as a bar. */
export function runSection(view: View) {
  const runs = view.history?.runs ?? [];
  if (runs.length === 0) return "";
  const name = namer(view.status?.streams ?? []);
  const rest = runs.slice(SHOWN);
  return html`<section aria-labelledby="runs-title" id="runs">
    <div class="heading"><h2 id="runs-title">Last runs</h2>${legend}</div>
    <div class="card">
      ${timeline(runs.slice(0, SHOWN), "The last runs", true, name, view.now)}
      ${rest.length === 0 ? "" : html`<details><summary>${counted(rest.length, "earlier run")}</summary>${timeline(rest, "Earlier runs", false, name, view.now)}</details>`}
    </div>
  </section>`;
}

/** Length of the time axis in ms. At most three times the median: a first load of hours must not make all later bars invisible. */
function limitOf(runs: readonly PastRun[], now: number): number {
  const lengths = runs.map(run => lengthOf(run, now)).toSorted((a, b) => a - b);
  const usual = lengths[Math.floor(lengths.length / 2)] ?? 1;
  return Math.max(1, Math.min(lengths.at(-1) ?? 1, 3 * usual));
}

const legend = html`<ul class="legend" aria-label="Colours of the bars">
  <li><span class="swatch good"></span>succeeded</li><li><span class="swatch warn"></span>warnings, stopped</li><li><span class="swatch bad"></span>failed</li>
</ul>`;

function timeline(
  runs: readonly PastRun[],
  caption: string,
  newest: boolean,
  name: (run: PastStreamRun) => string,
  now: number,
) {
  const limit = limitOf(runs, now);
  return html`<table class="runs" role="table"><caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      <th role="columnheader" scope="col">Started</th><th role="columnheader" scope="col">Outcome</th><th role="columnheader" scope="col" class="right">Took</th>
      <th role="columnheader" scope="col"><span class="unseen">Streams over time</span>${axis(limit)}</th>
    </tr></thead>
    <tbody role="rowgroup">${runs.map((run, index) => row(run, { limit, named: newest && index === 0 }, name, now))}</tbody>
  </table>`;
}

function axis(limit: number) {
  return html`<svg class="axis" width="100%" height="14" aria-hidden="true">
    ${ticks(limit).map(({ ms, share }) => {
      const anchor = share < 4 ? "start" : share > 96 ? "end" : "middle";
      return html`<text x="${share.toFixed(2)}%" y="11" text-anchor="${anchor}">${ms === 0 ? "0" : brief(ms)}</text>`;
    })}
  </svg>`;
}

const brief = (ms: number): string => timespan(ms).replace(/ 0?0 (?:s|min|h)$/, "");

interface Drawing {
  /** Where the axis ends, in ms. */
  readonly limit: number;
  readonly named: boolean;
}

function row(run: PastRun, drawing: Drawing, name: (run: PastStreamRun) => string, now: number) {
  const { word, tone } = outcome(run.status);
  const length = lengthOf(run, now);
  return html`<tr role="row">
    <th role="rowheader" scope="row">${time(run.started_at)}<span class="quiet">${run.command}</span></th>
    <td role="cell"><span class="pill ${tone}">${word}</span></td>
    <td role="cell" class="right fact">${timespan(length)}</td>
    <td role="cell" class="${length > drawing.limit * 1.01 ? "track cut" : "track"}">${bars(run, drawing, name, now)}</td>
  </tr>`;
}

function bars(run: PastRun, { limit, named }: Drawing, name: (run: PastStreamRun) => string, now: number) {
  const turns = run.streams.filter(part => part.status !== "skipped");
  if (turns.length === 0) return html`<span class="quiet">no stream had its turn</span>`;
  const began = Date.parse(run.started_at);
  const drawn = turns.map(part => {
    const from = Math.max(0, Date.parse(part.started_at) - began);
    const to = (part.finished_at === null ? now : Date.parse(part.finished_at)) - began;
    const { word, tone } = outcome(part.status);
    const did = `${counted(part.rows_read, "row")} read, ${counted(changesOf(part), "change")}`;
    const rejected = part.rejected > 0 ? `, ${counted(part.rejected, "reject")}` : "";
    const note = `${name(part)}: ${word}, from ${clockTime(part.started_at)} UTC for ${timespan(to - from)}; ${did}${rejected}`;
    return { from, to, tone, note, name: name(part), said: `${name(part)} ${word} ${timespan(to - from)}` };
  });
  return barChart(
    `${counted(turns.length, "stream")}: ${drawn.map(({ said }) => said).join(", ")}`,
    drawn,
    limit,
    named,
  );
}

const lengthOf = (run: PastRun, now: number): number =>
  Math.max(0, (run.finished_at === null ? now : Date.parse(run.finished_at)) - Date.parse(run.started_at));
