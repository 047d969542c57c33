import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { ago, timespan } from "../../duration.ts";
import type { FleetStatus, WorkerJob, WorkerStatus } from "../../fleet/view.ts";
import { breakable } from "../../outputs/html/wording.ts";
import type { Tone, View } from "./page_model.ts";
import { time } from "./wording.ts";

/** Worker processes with what they do, and what waits for them; only where there are some. */
export function workerSection({ status, now }: View) {
  const fleet = status?.workers;
  if (fleet == null || fleet.note !== null) return "";
  if (fleet.workers.length === 0 && fleet.queue.runs.length === 0) return "";
  return html`<section aria-labelledby="workers-title" id="workers">
    <div class="heading"><h2 id="workers-title">Workers</h2><p>${queue(fleet.queue)}</p></div>
    ${fleet.workers.length === 0 ? "" : table(fleet.workers, now)}
  </section>`;
}

function queue({ runs, waiting_companies, active_companies }: FleetStatus["queue"]) {
  if (runs.length === 0) return "Nothing is queued.";
  return `${counted(runs.length, "run")}: ${counted(active_companies, "company", "companies")} being worked on, ${formatCount(waiting_companies)} waiting.`;
}

// Roles are explicit, as in the table of streams.
const table = (workers: readonly WorkerStatus[], now: number) =>
  html`<table class="card streams workers" role="table"><caption class="unseen">Workers</caption>
    <thead role="rowgroup"><tr role="row">
      ${["Worker", "State", "Works on"].map(title => html`<th role="columnheader" scope="col">${title}</th>`)}
    </tr></thead>
    <tbody role="rowgroup">${workers.map(worker => row(worker, now))}</tbody>
  </table>`;

function row(worker: WorkerStatus, now: number) {
  const { id, host, pid, version, started_at, seen_seconds_ago, jobs } = worker;
  const { word, tone } = standing(worker);
  return html`<tr role="row" class="${worker.up ? "" : "off"}">
    <th role="rowheader" scope="row"><span class="name">${breakable(id)}</span>
      <span class="quiet">process ${pid} on ${host}, version ${version}</span></th>
    <td role="cell" data-title="State"><span class="pill ${tone}">${word}</span>
      <span class="quiet">seen ${timespan(1_000 * seen_seconds_ago)} ago${worker.up ? html`, up since ${time(started_at, ago(started_at, now))}` : ""}</span></td>
    <td role="cell" data-title="Works on">${jobs.length === 0 ? html`<span class="quiet">nothing</span>` : html`<ul>${jobs.map(job => html`<li>${work(job)}</li>`)}</ul>`}</td>
  </tr>`;
}

function standing({ up, refusal, draining }: WorkerStatus): { readonly word: string; readonly tone: Tone } {
  if (!up) return { word: "silent", tone: "bad" };
  if (refusal !== null) return { word: "takes no jobs", tone: "warn" };
  return draining ? { word: "leaving", tone: "idle" } : { word: "up", tone: "good" };
}

function work({ run_id, company, since, streams }: WorkerJob) {
  if (company === null) return html`conducts run <code>${run_id}</code>`;
  const read = streams
    .filter(({ state }) => state === "reading" || state === "publishing")
    .map(({ stream, state, rows, total }) => {
      const of = total === null ? counted(rows, "row") : `${formatCount(rows)} of ${counted(total, "row")}`;
      return `${stream} ${state}, ${of}`;
    });
  return html`${breakable(company)} <span class="quiet">since ${time(since)}${read.length === 0 ? "" : `: ${read.join("; ")}`}</span>`;
}
