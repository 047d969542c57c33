import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import { barChart, ticks } from "../../outputs/html/sparks.ts";
import { changesOf, type PastRun, type PastStreamRun } from "../../warehouse/read/run_history.ts";
import { namer, outcome, type Tone, tookOf, type View } from "./page_model.ts";
import { clockTime, time } from "./wording.ts";

/** Runs that are shown before the fold. */
const SHOWN = 7;
/** Of a run with more streams than `many` only so many have a bar: first of those that failed, then of the others, the longest ones. */
const BARS = { many: 24, failed: 3, drawn: 5 };

/** The last runs, newest first: when, how it ended, how long it took, and what each stream did meanwhile as a bar. */
export function runSection(view: View) {
  const runs = view.history?.runs ?? [];
  if (runs.length === 0) return "";
  const name = namer(view.status?.streams ?? []);
  const rest = runs.slice(SHOWN);
  return html`<section aria-labelledby="runs-title" id="runs">
    <div class="heading"><h2 id="runs-title">Last runs</h2>${runs.some(run => run.streams.length > BARS.many) ? html`<p>Bars show what failed and what took longest.</p>` : ""}${legend}</div>
    <div class="card">
      ${timeline(runs.slice(0, SHOWN), "The last runs", true, name, view.now)}
      ${rest.length === 0 ? "" : html`<details><summary>${counted(rest.length, "earlier run")}</summary>${timeline(rest, "Earlier runs", false, name, view.now)}</details>`}
    </div>
  </section>`;
}

/** Length of the time axis in ms. At most three times the median: a first load of hours must not make all later bars invisible. */
function limitOf(runs: readonly PastRun[], now: number): number {
  const lengths = runs.map(run => tookOf(run, now)).toSorted((a, b) => a - b);
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
  const length = tookOf(run, now);
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
  const isMany = turns.length > BARS.many;
  const shown = isMany ? weightiest(turns, now) : turns;
  const drawn = shown.map(part => {
    const from = Math.max(0, Date.parse(part.started_at) - began);
    const to = (part.finished_at === null ? now : Date.parse(part.finished_at)) - began;
    const { word, tone } = outcome(part.status);
    const did = `${counted(part.rows_read, "row")} read, ${counted(changesOf(part), "change")}`;
    const rejected = part.rejected > 0 ? `, ${counted(part.rejected, "reject")}` : "";
    const note = `${name(part)}: ${word}, from ${clockTime(part.started_at)} UTC for ${timespan(to - from)}; ${did}${rejected}`;
    return { from, to, tone, note, name: name(part), said: `${name(part)} ${word} ${timespan(to - from)}` };
  });
  const what = `${counted(turns.length, "stream")}: ${drawn.map(({ said }) => said).join(", ")}`;
  const chart = barChart(isMany ? `The longest of ${what}` : what, drawn, limit, named);
  return isMany ? html`${chart}<span class="quiet">${summary(turns, name)}</span>` : chart;
}

function weightiest(turns: readonly PastStreamRun[], now: number): readonly PastStreamRun[] {
  const longestFirst = turns.toSorted((a, b) => tookOf(b, now) - tookOf(a, now));
  const failed = longestFirst.filter(isBad).slice(0, BARS.failed);
  return [...failed, ...longestFirst.filter(part => !failed.includes(part))].slice(0, BARS.drawn);
}

const isBad = ({ status }: PastStreamRun): boolean => outcome(status).tone === "bad";

const worstFirst: readonly Tone[] = ["bad", "warn", "idle", "good"];

/** `165 streams: 3 failed (a, b, c), 2 with warnings, 160 succeeded`; of those that failed the first few are named. */
function summary(turns: readonly PastStreamRun[], name: (run: PastStreamRun) => string): string {
  const rank = ({ status }: PastStreamRun): number => worstFirst.indexOf(outcome(status).tone);
  const ends = [
    ...Map.groupBy(
      turns.toSorted((a, b) => rank(a) - rank(b)),
      ({ status }) => outcome(status).word,
    ),
  ];
  if (ends.length === 1) return `${counted(turns.length, "stream")} ${ends[0]![0]}`;
  const texts = ends.map(([word, parts]) => {
    const few = parts.slice(0, BARS.failed).map(name).join(", ") + (parts.length > BARS.failed ? ", …" : "");
    return `${formatCount(parts.length)} ${word}${isBad(parts[0]!) ? ` (${few})` : ""}`;
  });
  return `${counted(turns.length, "stream")}: ${texts.join(", ")}`;
}
