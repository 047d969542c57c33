import { html } from "hono/html";
import { ago } from "../../duration.ts";
import type { PastRun } from "../../warehouse/read/run_history.ts";
import { type Concern, concerns, outcome, type View } from "./page_model.ts";
import { parted, prose, time } from "./wording.ts";

/** How many errors of runs before the last one are told. */
const EARLIER = 5;

/** What is wrong now, and what to do about it. */
export function troubleSection(view: View) {
  const now = concerns(view);
  if (now.length === 0) return "";
  return html`<section id="trouble" aria-labelledby="trouble-title"><h2 id="trouble-title">What to do</h2>
    <ul class="concerns">${now.map(concern => item(concern, view.now))}</ul>
  </section>`;
}

function item({ tone, what, advice, streams, at }: Concern, now: number) {
  return html`<li class="card concern ${tone}"><p class="what">${prose(what)}</p>${advice === undefined ? "" : html`<p class="advice">${prose(advice)}</p>`}
    ${streams.length === 0 && at === undefined ? "" : html`<p class="quiet">${streams.join(", ")}${streams.length > 0 && at !== undefined ? " · " : ""}${at === undefined ? "" : time(at, ago(at, now))}</p>`}</li>`;
}

/** Errors that runs before the last one ended with, each once: the last such run, and how many there were. */
function earlier({
  history,
}: View): readonly { readonly run: PastRun; readonly error: string; readonly times: number }[] {
  const ended = (history?.runs ?? []).filter(run => run.status !== "running").slice(1);
  return [...Map.groupBy(ended, run => run.error)]
    .flatMap(([error, runs]) => (error === null ? [] : [{ run: runs[0]!, error, times: runs.length }]))
    .slice(0, EARLIER);
}

/** The errors of runs before the last one. */
export function pastTroubleSection(view: View) {
  const runs = earlier(view);
  if (runs.length === 0) return "";
  return html`<section id="past-trouble" aria-labelledby="past-trouble-title"><h2 id="past-trouble-title">Earlier errors</h2>
    <ul class="card past">${runs.map(({ run, error, times }) => {
      const { what, advice } = parted(error);
      const { word, tone } = outcome(run.status);
      return html`<li><p><span class="pill ${tone}">${word}</span> ${time(run.startedAt)} <span class="quiet">${ago(run.startedAt, view.now)}${times === 1 ? "" : `, the last of ${times} such runs`}</span></p><p>${prose(what)} ${prose(advice ?? "")}</p></li>`;
    })}</ul>
  </section>`;
}
