import { html } from "hono/html";
import { counted, formatCount } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import { changesOf, type PastRun, type PastStreamRun } from "../../warehouse/read/run_history.ts";
import { namer, outcome, type Tone, tookOf, type View } from "./page_model.ts";
import { parted, prose, time } from "./wording.ts";

/** Runs that are shown before the fold. */
const SHOWN = 7;
/** Of the streams that failed in a run so many are named. */
const NAMED = 3;

const TITLES = ["Started", "Outcome", "Took", "Requests", "Rows read", "Changes", "Streams"];

/** The last runs, newest first: how each ended and why, what it did, and what became of its streams. */
export function runSection(view: View) {
  const runs = view.history?.runs ?? [];
  if (runs.length === 0) return "";
  const name = namer(view.status?.streams ?? []);
  const rows = runs.map(run => {
    const sum = (count: (part: PastStreamRun) => number) =>
      formatCount(run.streams.reduce((total, part) => total + count(part), 0));
    return [
      html`${time(run.started_at)}<span class="quiet">${run.command}</span>`,
      ending(run),
      timespan(tookOf(run, view.now)),
      sum(part => part.requests),
      sum(part => part.rows_read),
      sum(changesOf),
      endsOf(run, name),
    ];
  });
  return html`<section aria-labelledby="runs-title" id="runs"><h2 id="runs-title">Last runs</h2>${runTables("runs", TITLES, rows)}</section>`;
}

/** A table whose rows become blocks on phones; cells say there what they are. */
export function table(caption: string, titles: readonly string[], rows: readonly (readonly unknown[])[]) {
  return html`<table class="card facts" role="table"><caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${titles.map(title => html`<th role="columnheader" scope="col">${title}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map(([first, ...others]) => html`<tr role="row"><th role="rowheader" scope="row">${first}</th>${others.map((cell, at) => html`<td role="cell" data-title="${titles[at + 1]}">${cell}</td>`)}</tr>`)}</tbody>
  </table>`;
}

/** The first runs, and the others behind a fold. */
export function runTables(what: string, titles: readonly string[], rows: readonly (readonly unknown[])[]) {
  const rest = rows.slice(SHOWN);
  return [
    table(`The last ${what}`, titles, rows.slice(0, SHOWN)),
    rest.length === 0
      ? ""
      : html`<details class="card rest"><summary>${counted(rest.length, "earlier run")}</summary>${table(`Earlier ${what}`, titles, rest)}</details>`,
  ];
}

export function ending({ status, error }: Pick<PastRun, "status" | "error">) {
  const { word, tone } = outcome(status);
  return html`<span class="pill ${tone}">${word}</span>${error === null ? "" : html`<span class="quiet">${prose(parted(error).what)}</span>`}`;
}

const isBad = ({ status }: PastStreamRun): boolean => outcome(status).tone === "bad";

const worstFirst: readonly Tone[] = ["bad", "warn", "idle", "good"];

/** `3 failed (a, b, c), 2 with warnings, 160 succeeded`; of those that failed the first few are named. */
function endsOf({ streams }: PastRun, name: (run: PastStreamRun) => string): string {
  const turns = streams.filter(part => part.status !== "skipped");
  if (turns.length === 0) return "none had its turn";
  const rank = ({ status }: PastStreamRun): number => worstFirst.indexOf(outcome(status).tone);
  const ends = Map.groupBy(
    turns.toSorted((a, b) => rank(a) - rank(b)),
    ({ status }) => outcome(status).word,
  );
  const texts = [...ends].map(([word, parts]) => {
    const few = parts.slice(0, NAMED).map(name).join(", ") + (parts.length > NAMED ? ", …" : "");
    return `${formatCount(parts.length)} ${word}${isBad(parts[0]!) ? ` (${few})` : ""}`;
  });
  return texts.join(", ");
}
