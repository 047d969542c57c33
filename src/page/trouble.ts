import { html } from "hono/html";
import type { PastRun } from "../history.ts";
import { type Concern, concerns, outcome, type View } from "./view.ts";
import { ago, parted, prose, time } from "./wording.ts";

/** How many errors of runs before the last one are told. */
const EARLIER = 5;

/** What is wrong now and what to do about it; below it the errors of earlier runs. */
export function troubleSection(view: View) {
  const now = concerns(view);
  const before = earlier(view);
  if (now.length === 0 && before.length === 0) return "";
  return html`<section id="trouble" aria-labelledby="trouble-title">
    <h2 id="trouble-title">${now.length === 0 ? "Earlier errors" : "What to do"}</h2>
    ${now.length === 0 ? "" : html`<ul class="concerns">${now.map(concern => item(concern, view.now))}</ul>`}
    ${before.length === 0 ? "" : past(before, now.length === 0, view.now)}
  </section>`;
}

function item({ tone, what, advice, streams, at }: Concern, now: number) {
  return html`<li class="card concern ${tone}"><p class="what">${prose(what)}</p><p class="advice">${prose(advice)}</p>
    ${streams.length === 0 && at === undefined ? "" : html`<p class="quiet">${streams.join(", ")}${streams.length > 0 && at !== undefined ? " · " : ""}${at === undefined ? "" : time(at, ago(at, now))}</p>`}</li>`;
}

/** Runs before the last one that ended with an error. */
function earlier({ history }: View): readonly (PastRun & { readonly error: string })[] {
  const ended = (history?.runs ?? []).filter(run => run.status !== "running");
  return ended
    .slice(1)
    .flatMap(run => (run.error === null ? [] : [{ ...run, error: run.error }]))
    .slice(0, EARLIER);
}

function past(runs: ReturnType<typeof earlier>, alone: boolean, now: number) {
  const list = html`<ul class="past">${runs.map(run => {
    const { what, advice } = parted(run.error);
    const { word, tone } = outcome(run.status);
    return html`<li><p><span class="pill ${tone}">${word}</span> ${time(run.startedAt)} <span class="quiet">${ago(run.startedAt, now)}</span></p><p>${prose(what)} ${prose(advice)}</p></li>`;
  })}</ul>`;
  if (alone) return html`<div class="card">${list}</div>`;
  return html`<details class="card"><summary>Errors of earlier runs</summary>${list}</details>`;
}
