import { html } from "hono/html";
import { counted } from "../../counted.ts";
import type { Answer } from "./contents.ts";
import type { Field } from "./definition.ts";
import {
  cleaned,
  exactNumber,
  isNumeric,
  monthOf,
  NOT_GIVEN,
  type Row,
  shownNumber,
  UNKNOWN_CURRENCY,
} from "./format.ts";

/** A number as people read it, and every digit of it for whoever points at it or reads the page by program. */
export function number(format: Field["format"], value: string) {
  const shown = isNumeric(format) ? shownNumber(format, value) : value;
  const exact = exactNumber(value);
  const said = format === "share" || exact === shown ? "" : html` title="${exact}"`;
  return html`<data value="${value}"${said}>${shown}</data>`;
}

export function plain(field: Field, row: Row): string {
  const value = row[field.name];
  if (typeof value !== "string") return field.format === "currency" ? UNKNOWN_CURRENCY : NOT_GIVEN;
  if (isNumeric(field.format)) return shownNumber(field.format, value);
  return field.format === "month" ? monthOf(value) : cleaned(value);
}

export const prose = (sentence: string) =>
  sentence
    .split(/\b(\d{4}-\d{2})\b/)
    .map((part, index) => (index % 2 === 0 ? part : html`<span class="fact">${part}</span>`));

export function tableOf(caption: string, fields: readonly Field[], { rows, more }: Answer) {
  const limit = more
    ? html`<p class="quiet">These are the first ${counted(rows.length, "row")}; there are more.</p>`
    : "";
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table: ${caption}"><table><caption class="unseen">${caption}</caption>
<thead><tr>${fields.map(field => html`<th scope="col"${isNumeric(field.format) ? html` class="n"` : ""}>${field.label}</th>`)}</tr></thead>
<tbody>${rows.map((row, index) => html`<tr${startsGroup(rows, index, fields) ? html` class="start"` : ""}${aboutOf(fields, row)}>${fields.map(field => cell(field, row))}</tr>`)}</tbody></table></div>${limit}`;
}

/** What a row is about, for the filters: its currency, party and month. */
function aboutOf(fields: readonly Field[], row: Row) {
  const currency = fields.find(({ format }) => format === "currency");
  const party = fields.find(({ isParty }) => isParty);
  const date = fields.find(({ format }) => format === "month" || format === "date");
  return [
    currency === undefined ? "" : html` data-currency="${row[currency.name] ?? ""}"`,
    party === undefined ? "" : html` data-party="${plain(party, row)}"`,
    typeof row[date?.name ?? ""] === "string" ? html` data-month="${monthOf(String(row[date!.name]))}"` : "",
  ];
}

const startsGroup = (rows: readonly Row[], index: number, [first]: readonly Field[]): boolean =>
  index > 0 && first?.format === "currency" && rows[index]?.[first.name] !== rows[index - 1]?.[first.name];

function cell(field: Field, row: Row) {
  const value = row[field.name];
  if (isNumeric(field.format))
    return html`<td class="n">${typeof value === "string" ? number(field.format, value) : html`<span aria-hidden="true">–</span><span class="unseen">${NOT_GIVEN}</span>`}</td>`;
  if (typeof value !== "string" || value.trim() === "")
    return html`<td><span class="quiet">${plain(field, { ...row, [field.name]: null })}</span></td>`;
  const text = plain(field, row);
  // Numbers of documents and other single words stay whole.
  const isWord = text.length <= 16 && !text.includes(" ");
  return field.format === "text" && !isWord
    ? html`<td><bdi>${text}</bdi></td>`
    : html`<td class="fact"><bdi>${text}</bdi></td>`;
}
