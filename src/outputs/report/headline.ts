import { html } from "hono/html";
import { number } from "./cells.ts";
import type { Answer, CompanyContents } from "./contents.ts";
import type { Figure } from "./definition.ts";
import { exactNumber, type Row, shownNumber, UNKNOWN_CURRENCY, wholeNumber } from "./format.ts";
import { isUnknown, meaningsOf, type Read } from "./meanings_read.ts";
import type { Period } from "./period.ts";

/** Currencies that are listed; the others are counted. */
const MOST_LINES = 5;

export function headlineOf({ figures, assumptions }: Pick<CompanyContents, "figures" | "assumptions">, period: Period) {
  return html`<dl class="tiles">${figures.map(({ figure, answer }) => html`<div class="tile"><dt>${figure.label} <span class="quiet">${figure.note}</span></dt><dd>${tile(figure, answer, period)}${readings(figure, assumptions)}</dd></div>`)}</dl>`;
}

/** What decides which rows are in a figure, with how many it takes in. */
export function readings(read: Read, assumptions: readonly Row[]) {
  return meaningsOf(read, assumptions).map(row => {
    const count = (name: string) => wholeNumber(String(row[name] ?? 0));
    const unclear = Number(row["unclear_count"]) > 0 ? html`, not known of ${count("unclear_count")}` : "";
    return html`<p class="${isUnknown(row) ? "unsure" : "quiet"}">Assumed ${row["meaning"]}: ${count("touched_count")} of ${count("row_count")}${unclear}.</p>`;
  });
}

function tile(figure: Figure, { rows, lack }: Answer, period: Period) {
  if (lack !== undefined)
    return html`<span class="large none">–</span><span class="quiet">${lack.why === "missing" ? `not loaded: ${lack.tables.join(", ") || lack.model}` : `${lack.model} could not be asked`}</span>`;
  if (rows.length === 0) return html`<span class="large">0</span>`;
  const from =
    figure.things === undefined
      ? ""
      : html`<p class="quiet">from ${number("count", sum(rows, "count"))} ${figure.things}</p>`;
  return html`${sayings[figure.kind](rows, period)}${from}`;
}

const sayings = { money: moneyTile, count: countTile, share: shareTile } as const;

function moneyTile(rows: readonly Row[], period: Period) {
  const [first, ...others] = rows;
  return html`<span class="large">${money(first!, "value")}</span>${change(first!, period, ` on the ${period.months.length} months before`)}${lines(others, row => html`${money(row, "value")}${change(row, period)}`)}`;
}

function countTile(rows: readonly Row[]) {
  const total = sum(rows, "value");
  const of = rows.some(row => typeof row["of_all"] === "string")
    ? html` <span class="of">of ${number("count", sum(rows, "of_all"))}</span>`
    : "";
  const amounts = rows.filter(row => typeof row["amount"] === "string" && row["amount"] !== "0");
  return html`<span class="large">${number("count", total)}${of}</span>${lines(amounts, row => money(row, "amount"))}`;
}

function shareTile([row]: readonly Row[]) {
  const [value, all] = [String(row?.["value"] ?? 0), String(row?.["of_all"] ?? 0)];
  const share = Number(value) / Number(all);
  return html`<span class="large">${shownNumber("share", String(Math.round(share * 1e6) / 1e6))}</span><ul class="lines"><li>${number("count", value)} of ${number("count", all)}</li></ul>`;
}

/** Counts may be added up over currencies; amounts never are. */
const sum = (rows: readonly Row[], name: string): string =>
  String(rows.reduce((total, row) => total + Number(row[name] ?? 0), 0));

function lines(rows: readonly Row[], line: (row: Row) => unknown) {
  if (rows.length === 0) return "";
  const more = rows.length - MOST_LINES;
  return html`<ul class="lines">${rows.slice(0, MOST_LINES).map(row => html`<li>${line(row)}</li>`)}${more > 0 ? html`<li class="quiet">and ${more} more below</li>` : ""}</ul>`;
}

export function money(row: Row, name: string) {
  const value = String(row[name] ?? "0");
  const code = row["currency_code"];
  const shown = html`<data value="${value}" title="${exactNumber(value)}">${wholeNumber(value)}</data>`;
  return typeof code === "string"
    ? html`<span class="fact"><span class="code">${code}</span> ${shown}</span>`
    : html`<span class="fact">${shown}</span> <span class="code">${UNKNOWN_CURRENCY}</span>`;
}

/** A larger change is shown as the figure before. */
const MOST_CHANGE = 10;

function change(row: Row, { before, months }: Period, said = "") {
  const earlier = row["before"];
  if (typeof earlier !== "string" || Number(earlier) <= 0) return "";
  const share = Number(row["value"]) / Number(earlier) - 1;
  const shown = shownNumber("share", String(Math.round(share * 1e6) / 1e6)).replace("-", "\u2212");
  const text = share >= MOST_CHANGE ? `was ${wholeNumber(earlier)}` : share < 0 ? shown : `+${shown}`;
  const than = `against ${exactNumber(earlier)} in the ${months.length} months from ${before.slice(0, 7)}`;
  return html` <span class="change" title="${than}">${text}${said}<span class="unseen">, ${than}</span></span>`;
}
