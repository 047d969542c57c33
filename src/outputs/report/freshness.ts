import { html } from "hono/html";
import { counted } from "../../counted.ts";
import { isLate } from "../../warehouse/state/freshness.ts";
import type { Source } from "./contents.ts";

/** Streams that are named; the table has all. */
const MOST_NAMED = 8;

/** `2026-11-22 06:00 UTC`. */
export const moment = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;

/** How fresh the sources are, in a sentence. `now`: ms; what is older than `lateAfterMs` is late. */
export function freshnessOf(sources: readonly Source[], lateAfterMs: number, now: number) {
  if (sources.length === 0)
    return html`<p class="fresh bad">Nothing has been loaded for this company yet: <code>tributary sync</code> loads.</p>`;
  const wrong = sources.flatMap(source => {
    const status = statusOf(source, lateAfterMs, now);
    return status === "fresh" ? [] : [`${source.stream} (${status})`];
  });
  const oldest = sources.flatMap(({ completeTo }) => completeTo ?? []).sort()[0] ?? "";
  const named = wrong.length > MOST_NAMED ? [...wrong.slice(0, MOST_NAMED), "and others"] : wrong;
  const sentence =
    wrong.length === 0
      ? `All ${counted(sources.length, "source")} were fresh when this was made: complete to ${moment(oldest)} or later.`
      : `${wrong.length} of ${counted(sources.length, "source")} ${wrong.length === 1 ? "is" : "are"} not fresh: ${named.join(", ")}.`;
  return html`<p class="${wrong.length === 0 ? "fresh good" : "fresh bad"}">${sentence}</p>`;
}

export function sourcesOf(sources: readonly Source[], lateAfterMs: number, now: number) {
  if (sources.length === 0) return "";
  return html`<details class="sources"><summary>How fresh each source is</summary><div class="scroll" tabindex="0" role="group" aria-label="Table: How fresh each source is"><table><caption class="unseen">How fresh each source is</caption>
<thead><tr><th scope="col">Source</th><th scope="col">Complete to</th><th scope="col">Last success</th><th scope="col">Last run</th><th scope="col">Standing</th></tr></thead>
<tbody>${sources.map(source => html`<tr><th scope="row">${source.stream}</th><td class="fact">${at(source.completeTo)}</td><td class="fact">${at(source.lastSuccessAt)}</td><td>${source.lastStatus ?? "–"}</td><td>${statusOf(source, lateAfterMs, now)}</td></tr>`)}</tbody></table></div></details>`;
}

const at = (value: string | undefined) => (value === undefined ? "never" : moment(value));

function statusOf(source: Source, lateAfterMs: number, now: number): string {
  const { on, completeTo } = source;
  if (!on) return "switched off";
  if (completeTo === undefined) return "never complete";
  return isLate({ on, complete_to: completeTo }, lateAfterMs, now) ? "late" : "fresh";
}
