import { html } from "hono/html";
import { counted } from "../../counted.ts";
import { barChart } from "../html/bars.ts";
import { lineChart } from "../html/lines.ts";
import { monthChart } from "../html/months.ts";
import { isolated, WIDTH } from "../html/picture.ts";
import { plain, prose } from "./cells.ts";
import type { Block, Drawing, Field } from "./definition.ts";
import {
  cleaned,
  compactNumber,
  inCurrency,
  monthNumber,
  monthOf,
  NOT_GIVEN,
  type Row,
  shownNumber,
  UNKNOWN_CURRENCY,
} from "./format.ts";
import type { Period } from "./period.ts";

/** More currencies than these stand in the table alone. */
const MOST_PANELS = 6;
/** As wide as the page, in the units of drawings. */
const WIDE = 1064;

type Draw<Kind> = Extract<Drawing, { readonly kind: Kind }>;

/** A block's drawing: a panel for each currency of its money, or for each thing it follows. `id`: the block's own. */
export function drawingOf(id: string, block: Block, rows: readonly Row[], period: Period) {
  const { drawing } = block;
  if (drawing === undefined || rows.length === 0) return "";
  if (drawing.kind === "lines") return linePanels(id, block, drawing, rows, period);
  const measure = drawing.kind === "months" ? drawing.value : drawing.parts[0]!;
  const isMoney = fieldOf(block, measure).format === "money";
  const groups = isMoney ? [...Map.groupBy(rows, row => row["currency_code"] ?? null)] : [[null, rows] as const];
  const shown = groups.slice(0, MOST_PANELS);
  const left = groups.length - shown.length;
  const panels = shown.map(([code, own], index) => {
    const money = (text: string) => (isMoney ? inCurrency(text, code) : text);
    const title = isMoney ? `${block.title}: ${typeof code === "string" ? code : UNKNOWN_CURRENCY}` : block.title;
    const draw = (width: number, mark: string) => {
      const about = { id: `${id}-${index + 1}${mark}`, title, width };
      return drawing.kind === "months"
        ? months(about, block, drawing, own, { period, money })
        : bars(about, block, drawing, own, money);
    };
    const { picture, gist } = draw(WIDTH, "");
    // A drawing scales with its letters: one that has the page to itself is drawn for narrow and for wide pages.
    const pictures =
      shown.length > 1
        ? picture
        : html`<div class="narrow">${picture}</div><div class="wide">${draw(WIDE, "w").picture}</div>`;
    const head = isMoney ? html`<p class="panel-title">${typeof code === "string" ? code : UNKNOWN_CURRENCY}</p>` : "";
    return html`<figure class="panel"${isMoney ? html` data-currency="${code ?? ""}"` : ""}>${head}${pictures}<figcaption>${prose(gist)}</figcaption></figure>`;
  });
  const others =
    left > 0
      ? html`<p class="quiet">${counted(left, "further currency", "further currencies")}: see the table.</p>`
      : "";
  return html`<div class="${panels.length === 1 ? "panels single" : "panels"}">${panels}</div>${others}`;
}

const fieldOf = (block: Block, name: string): Field =>
  block.fields.find(field => field.name === name) ?? { name, label: name, format: "text" };

const amount = (row: Row, name: string): number => Number(row[name] ?? 0);

interface Titled {
  readonly id: string;
  readonly title: string;
  readonly width?: number;
}

function months(
  about: Titled,
  block: Block,
  { value, mark, markNote }: Draw<"months">,
  rows: readonly Row[],
  { period, money }: { readonly period: Period; readonly money: (text: string) => string },
) {
  const { months: whole, until } = period;
  const byMonth = new Map(rows.map(row => [monthOf(String(row["month"])), row]));
  const field = fieldOf(block, value);
  const open = monthOf(until);
  const shown = (month: string) => shownNumber("money", String(byMonth.get(month)?.[value] ?? 0));
  const columns = [...whole, open].map(month => {
    const row = byMonth.get(month) ?? {};
    const marked = mark === undefined ? undefined : (row[mark] ?? undefined);
    const also = marked === undefined ? "" : `; ${markNote ?? mark}: ${money(shownNumber("money", String(marked)))}`;
    const so = month === open ? " so far" : "";
    return {
      month,
      value: amount(row, value),
      mark: marked === undefined ? undefined : Number(marked),
      note: `${month}: ${money(shown(month))}${so}${also}`,
      isOpen: month === open,
    };
  });
  const closed = columns.filter(({ isOpen }) => !isOpen);
  const high = closed.reduce((best, each) => (each.value > best.value ? each : best));
  const low = closed.reduce((best, each) => (each.value < best.value ? each : best));
  const gist =
    high.value === low.value
      ? `${money(shown(high.month))} in each of ${counted(closed.length, "month")}.`
      : `${field.label} between ${money(shown(low.month))} in ${low.month} and ${money(shown(high.month))} in ${high.month}; ${money(shown(closed.at(-1)!.month))} in ${closed.at(-1)!.month}, the last whole month.`;
  return { picture: monthChart({ ...about, gist }, columns, compactNumber), gist };
}

function bars(
  about: Titled,
  block: Block,
  { label, parts, rest }: Draw<"bars">,
  rows: readonly Row[],
  money: (text: string) => string,
) {
  const measure = fieldOf(block, parts[0]!);
  const share = block.fields.find(field => field.of === measure.name);
  const isRest = (row: Row) => rest !== undefined && row[rest] === true;
  const nameOf = (row: Row) => (typeof row[label] === "string" ? cleaned(row[label]) : "") || NOT_GIVEN;
  const text = (row: Row, field: Field) => (field.format === "money" ? money(plain(field, row)) : plain(field, row));
  const drawn = rows.map(row => {
    const values = parts.map(name => amount(row, name));
    const sum = values.reduce((total, value) => total + value, 0);
    const compact = measure.format === "money" ? compactNumber(sum) : plain(measure, row);
    const shareText = share === undefined ? "" : ` · ${plain(share, row)}`;
    const said = parts.map(name => `${fieldOf(block, name).label} ${text(row, fieldOf(block, name))}`).join("; ");
    return {
      name: nameOf(row),
      shown: row[measure.name] === null ? NOT_GIVEN : `${compact}${shareText}`,
      parts: values,
      note: `${isolated(nameOf(row))}: ${said}${shareText}`,
      isRest: isRest(row),
    };
  });
  const own = rows.filter(row => !isRest(row));
  const named = (row: Row) => `${isolated(nameOf(row))}, ${text(row, measure)}`;
  const ordered = own.toSorted((a, b) => Math.abs(amount(b, measure.name)) - Math.abs(amount(a, measure.name)));
  const [first, second] = ordered;
  const isRate = measure.format === "share" || measure.format === "percent";
  const gist =
    first === undefined || second === undefined
      ? `${measure.label}: ${first === undefined ? NOT_GIVEN : named(first)}.`
      : isRate
        ? `${measure.label}: from ${named(ordered.at(-1)!)} to ${named(first)}.`
        : `${measure.label}: most for ${named(first)}${share === undefined ? "" : ` (${plain(share, first)})`}, then ${named(second)}.`;
  const most = measure.format === "share" ? 1 : measure.format === "percent" ? 100 : undefined;
  return { picture: barChart({ ...about, gist }, drawn, most), gist };
}

function linePanels(
  id: string,
  block: Block,
  { panel, value, unit }: Draw<"lines">,
  rows: readonly Row[],
  period: Period,
) {
  const field = fieldOf(block, value);
  const change = block.fields.find(({ format }) => format === "percent");
  const span = [monthNumber(period.from), monthNumber(period.today)] as const;
  // Different things may have the same name: a month that does not follow the one before begins another panel.
  const panels = runsOf(rows, panel);
  const drawn = panels.map((own, index) => {
    const [first, last] = [own[0]!, own.at(-1)!];
    const name = plain(fieldOf(block, panel), first);
    const price = (row: Row) => inCurrency(plain(field, row), row["currency_code"] ?? null);
    const at = (row: Row) => monthOf(String(row["month"]));
    const moved = change === undefined ? "" : `${signed(plain(change, first))}: `;
    const per = typeof first[unit] === "string" ? ` per ${cleaned(first[unit])}` : "";
    const gist = `${moved}from ${price(first)} in ${at(first)} to ${price(last)} in ${at(last)}${per}.`;
    const values = own.map(row => ({ row, value: amount(row, value) })).sort((a, b) => a.value - b.value);
    const bounds = { low: plain(field, values[0]!.row), high: plain(field, values.at(-1)!.row) };
    const stops = own.map(row => ({
      at: monthNumber(at(row)),
      value: amount(row, value),
      note: `${at(row)}: ${price(row)}`,
    }));
    const about = { id: `${id}-${index + 1}`, title: `${block.title}: ${isolated(name)}`, gist };
    const ends = { from: monthOf(period.from), to: monthOf(period.today), ...bounds };
    return html`<figure class="panel small"><p class="panel-title" title="${name}"><bdi>${name}</bdi></p>${lineChart(about, stops, span, ends)}<figcaption>${prose(gist)}</figcaption></figure>`;
  });
  return html`<div class="panels small">${drawn}</div>`;
}

function runsOf(rows: readonly Row[], name: string): readonly (readonly Row[])[] {
  const runs: Row[][] = [];
  for (const row of rows) {
    const last = runs.at(-1)?.at(-1);
    const goesOn =
      last !== undefined &&
      last[name] === row[name] &&
      last["currency_code"] === row["currency_code"] &&
      String(last["month"]) < String(row["month"]);
    if (goesOn) runs.at(-1)!.push(row);
    else runs.push([row]);
  }
  return runs;
}

const signed = (text: string): string => (text.startsWith("-") ? text : `+${text}`);

/** Whether a drawing has parts that need a legend. */
export const legendOf = (block: Block): readonly string[] => {
  const { drawing } = block;
  if (drawing?.kind !== "bars" || drawing.parts.length < 2) return [];
  return drawing.parts.map(name => fieldOf(block, name).label);
};
