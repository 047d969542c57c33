import { html } from "hono/html";
import { counted } from "../../counted.ts";
import { plainText } from "../html/wording.ts";
import { number } from "./cells.ts";
import type { CompanyContents, Told } from "./contents.ts";
import type { Message } from "./definition.ts";
import { cleaned, monthOf, type Row, shownNumber } from "./format.ts";
import { money, readings } from "./headline.ts";
import { isDoubtful } from "./meanings_read.ts";
import type { Period } from "./period.ts";

/** So many stand on the first screen; the others behind a fold. */
const FIRST = 5;
/** Currencies beside the first that are named. */
const OTHERS = 2;
/** A larger change is told by the amounts alone. */
const MOST_CHANGE = 10;
/** A change of a smaller part of what is at stake makes nothing better or worse. */
const LEAST = 0.05;

/** What the last month brought, and what matters, the most at stake first. `id`: of the company's article. */
export function messagesOf(own: CompanyContents, id: string, period: Period) {
  const { messages, sections, assumptions } = own;
  const item = ({ message, rows: [row, ...others] }: Told) => {
    const { title = message.section } = sections.find(({ section }) => section.slug === message.section)?.section ?? {};
    return html`<li class="message"><h3>${message.title} ${standing(message, row!, assumptions, period)}</h3>
<p>${sentence(message, row!, others, period)}</p>
<div class="beside"><p class="quiet">${trend(message, row!, period)}</p>${readings(message, assumptions)}<p><a href="#${id}-${message.section}">${title}</a></p></div></li>`;
  };
  const [first, rest] = [messages.slice(0, FIRST), messages.slice(FIRST)];
  const list = (some: readonly Told[], start: number) =>
    html`<ol class="messages" start="${start}">${some.map(item)}</ol>`;
  return html`${opening(own, period)}
<p class="quiet ranked">${messages.length === 0 ? "Nothing was found that has money at stake." : "What matters most, of any date and as it stands today. Most money first; amounts of different currencies can't be compared, so the largest of each comes before any second."}</p>
${messages.length === 0 ? "" : list(first, 1)}${rest.length === 0 ? "" : html`<details class="more"><summary>${rest.length} more, with less at stake</summary>${list(rest, FIRST + 1)}</details>`}`;
}

export function toldOf({ opening, messages }: CompanyContents, period: Period): readonly string[] {
  const line = ({ message, rows: [row, ...others] }: Told) => plainText(sentence(message, row!, others, period));
  const first = opening.rows.length === 0 ? [] : [line(opening)];
  return [
    ...first,
    ...messages.slice(0, FIRST).map((told, index) => `${index + 1}. ${told.message.title}: ${line(told)}`),
  ];
}

function opening({ opening: { message, rows }, assumptions }: CompanyContents, period: Period) {
  const [row, ...others] = rows;
  if (row === undefined) return "";
  return html`<p class="gist">${sentence(message, row, others, period)}</p><div class="beside"><p class="quiet">${comparison(row, period)}</p>${readings(message, assumptions)}</div>`;
}

function sentence({ sentence: written }: Message, row: Row, others: readonly Row[], { month }: Period) {
  const said: Readonly<Record<string, () => unknown>> = {
    amount: () => html`<strong>${money(row, "amount")}</strong>`,
    subject_amount: () => money(row, "subject_amount"),
    subject: () => html`<bdi>${cleaned(String(row["subject"] ?? ""))}</bdi>`,
    currency: () => String(row["currency_code"] ?? "unknown-currency"),
    month: () => html`<span class="fact">${monthOf(month)}</span>`,
  };
  const parts = written
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : (said[part]?.() ?? number("count", String(row[part] ?? 0)))));
  const named = others.slice(0, OTHERS).map(other => money(other, "amount"));
  const left = others.length - named.length;
  const also = [...named, ...(left > 0 ? [`${counted(left, "more currency", "more currencies")}`] : [])];
  return html`${parts}${also.map((each, index) => html`${index === 0 ? " Also " : index === also.length - 1 ? " and " : ", "}${each}`)}${also.length > 0 ? "." : ""}`;
}

const figure = (row: Row, name: string): number => Number(row[name] ?? 0);

/** Whether the last month made it better or worse by a part of it that counts, with a sign and a word; or that nobody knows what it rests on. */
function standing(message: Message, row: Row, assumptions: readonly Row[], { monthBefore }: Period) {
  const { dated, rise } = message;
  if (isDoubtful(message, assumptions))
    return html`<span class="standing unsure">not certain: see what is assumed</span>`;
  const more = figure(row, "latest") - figure(row, "previous");
  if (dated === undefined || rise === undefined || Math.abs(more) < LEAST * figure(row, "amount")) return "";
  const isGood = more > 0 === (rise === "good");
  return html`<span class="standing ${more > 0 ? "rose" : "fell"} ${isGood ? "good" : "bad"}">${isGood ? "better" : "worse"} than in ${monthOf(monthBefore)}</span>`;
}

function trend({ dated }: Message, row: Row, period: Period) {
  if (dated === undefined) return "There is no earlier standing to compare with.";
  if (figure(row, "latest") === 0 && figure(row, "previous") === 0) return "The last two months brought nothing of it.";
  return html`${money(row, "latest")} of it ${dated} <span class="fact">${monthOf(period.month)}</span>, ${comparison(row, period)}`;
}

function comparison(row: Row, { monthBefore }: Period) {
  const [latest, previous] = [figure(row, "latest"), figure(row, "previous")];
  const before = html`${money(row, "previous")} in <span class="fact">${monthOf(monthBefore)}</span>`;
  const share = latest / previous - 1;
  if (!(previous > 0) || share >= MOST_CHANGE) return html`against ${before}.`;
  const shown = shownNumber("share", String(Math.round(share * 1e6) / 1e6)).replace("-", "\u2212");
  return html`${share < 0 ? "" : "+"}${shown} against ${before}.`;
}
