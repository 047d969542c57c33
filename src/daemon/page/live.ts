import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { ago, timespan } from "../../duration.ts";
import type { RunningStatus } from "../../operations/status.ts";
import { breakable } from "../../outputs/html/wording.ts";
import type { Cause, LiveRun } from "../schedule/events.ts";
import type { View } from "./page_model.ts";
import { time } from "./wording.ts";

/** What is running now; `live` is the part that moves and is sent again with every progress. */
export function liveSection(view: View) {
  return html`<section id="live" aria-labelledby="live-title">${liveContent(view)}</section>`;
}

export function liveContent({ live, status, now }: Pick<View, "live" | "now"> & { readonly status: View["status"] }) {
  if (live !== undefined) return running(live, now);
  if (status?.running != null) return elsewhere(status.running, now);
  return html`<h2 id="live-title">Running now</h2><p class="card still">Nothing is running.</p>`;
}

const causes: Readonly<Record<Cause, string>> = {
  schedule: "on schedule",
  missed: "catching up on a run that was missed",
  retry: "trying again after a failure",
  hint: "asked for from outside",
};

/** Streams of a run up to which all are shown. */
const ALL = 12;

function running(run: LiveRun, now: number) {
  const snapshot = run.view?.snapshot();
  const title = html`<div class="heading"><h2 id="live-title">Running now</h2><p><strong>${run.schedule}</strong>, ${causes[run.cause]}, for ${timespan(now - Date.parse(run.startedAt))}</p></div>`;
  if (snapshot === undefined)
    return html`${title}<p class="card still">${run.waits ?? "It is getting ready: its streams are not known yet."}</p>`;
  const { streams } = snapshot;
  const ended = streams.filter(({ state }) => isEnded(state)).length;
  // Of many streams those are shown that something happens to.
  const isMany = streams.length > ALL;
  const [rest, going] = [true, false].map(wanted =>
    streams.filter(({ state }) => (isMany && (state === "waiting" || state === "done")) === wanted),
  ) as [Progress[], Progress[]];
  const limited = snapshot.limited429 > 0 ? `, ${counted(snapshot.limited429, "answer")} 429` : "";
  return html`${title}<div class="card">
    <div class="whole"><progress max="${streams.length}" value="${ended}" aria-label="Streams that are done"></progress>
      <p><strong>${formatCount(ended)} of ${counted(streams.length, "stream")}</strong> done</p></div>
    <ul class="going">${going.map(progressOf)}</ul>
    ${rest.length === 0 ? "" : html`<details class="rest"><summary>${counted(rest.length, "stream")} waiting or done</summary><ul class="going">${rest.map(progressOf)}</ul></details>`}
    <p class="quiet">${snapshot.step === undefined ? `Limited by ${snapshot.limitedBy}: ${snapshot.inFlight} of ${counted(snapshot.ceiling, "request")} in flight${limited}` : `Now ${snapshot.step}`}.</p>
  </div>`;
}

const isEnded = (state: Progress["state"]): boolean => ["done", "failed", "stopped"].includes(state);

type Progress = ReturnType<NonNullable<LiveRun["view"]>["snapshot"]>["streams"][number];

function progressOf(one: Progress) {
  const rows =
    one.total === undefined ? counted(one.rows, "row") : `${formatCount(one.rows)} of ${counted(one.total, "row")}`;
  const left = one.remainingMs === undefined ? "" : `, ${timespan(one.remainingMs)} left`;
  const notes = one.waitingFor === undefined ? rows + left : `${rows}, waiting for ${one.waitingFor}`;
  return html`<li class="${one.state}" data-stream="${one.stream}"><span class="name">${breakable(one.stream)}</span><span class="state">${one.state}</span>
    ${bar(one)}<span class="quiet">${notes}</span></li>`;
}

/** Without a total there is no telling how far it is: such a bar only says that it moves. */
function bar({ stream, state, rows, total }: Progress) {
  const label = `Progress of ${stream}`;
  if (state === "waiting") return html`<progress max="1" value="0" aria-label="${label}"></progress>`;
  if (isEnded(state)) return html`<progress max="1" value="1" aria-label="${label}"></progress>`;
  if (total === undefined || total === 0) return html`<progress aria-label="${label}"></progress>`;
  return html`<progress max="${total}" value="${Math.min(rows, total)}" aria-label="${label}"></progress>`;
}

function elsewhere(run: RunningStatus, now: number) {
  return html`<h2 id="live-title">Running now</h2><p class="card still">Run <code>${run.run_id}</code> (<code>${run.command}</code>, process ${run.pid} on ${run.host}) began ${time(run.started_at, ago(run.started_at, now))}. Its progress is told where it was started.</p>`;
}
