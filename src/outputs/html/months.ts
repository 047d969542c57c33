import { scaleBand, scaleLinear } from "d3-scale";
import { html } from "hono/html";
import { type About, fixed, picture, WIDTH } from "./picture.ts";

export interface MonthColumn {
  /** `2026-03`. */
  readonly month: string;
  readonly value: number;
  readonly mark: number | undefined;
  readonly note: string;
  /** Under way: drawn as an outline. */
  readonly isOpen: boolean;
}

const HEIGHT = 190;
const LEFT = 44;
const TOP = 10;
const BOTTOM = 34;
/** A label of three letters needs this much. */
const LABEL_WIDTH = 23;

export function monthChart(about: About, columns: readonly MonthColumn[], tick: (value: number) => string) {
  const { width: whole = WIDTH } = about;
  const values = columns.flatMap(({ value, mark }) => [value, mark ?? 0]);
  const y = scaleLinear([Math.min(0, ...values), Math.max(0, ...values)], [HEIGHT - BOTTOM, TOP]).nice(4);
  const x = scaleBand(
    columns.map(({ month }) => month),
    [LEFT, whole - 2],
  ).paddingInner(0.28);
  const zero = y(0);
  const every = Math.ceil(LABEL_WIDTH / Math.max(1, x.step()));
  const ticks = values.every(value => value === 0) ? [0] : y.ticks(4);
  return picture(
    about,
    whole,
    HEIGHT,
    html`${ticks.map(value => html`<line class="grid" x1="${LEFT}" x2="${whole}" y1="${fixed(y(value))}" y2="${fixed(y(value))}"/><text class="tick" x="${LEFT - 6}" y="${fixed(y(value) + 4)}" text-anchor="end">${tick(value)}</text>`)}
${columns.map(({ month, value, mark, note, isOpen }, index) => {
  const left = x(month) ?? LEFT;
  const width = x.bandwidth();
  const height = value === 0 ? 0 : Math.max(1, Math.abs(y(value) - zero));
  const top = value < 0 ? zero : zero - height;
  const inset = isOpen ? 0.7 : 0;
  const column =
    height === 0
      ? ""
      : html`<rect class="${isOpen ? "outline" : "solid"}" x="${fixed(left + inset)}" y="${fixed(top + inset)}" width="${fixed(width - 2 * inset)}" height="${fixed(Math.max(0.3, height - 2 * inset))}"/>`;
  const line =
    mark === undefined
      ? ""
      : html`<line class="mark" x1="${fixed(left - 2)}" x2="${fixed(left + width + 2)}" y1="${fixed(y(mark))}" y2="${fixed(y(mark))}"/>`;
  return html`<g class="point" data-month="${month}"><title>${note}</title><rect class="reach" x="${fixed(left)}" y="${TOP}" width="${fixed(width)}" height="${HEIGHT - BOTTOM - TOP}"/>${column}${line}</g>${label(month, index, every, left + width / 2)}`;
})}<line class="axis" x1="${LEFT}" x2="${whole}" y1="${fixed(zero)}" y2="${fixed(zero)}"/>`,
  );
}

function label(month: string, index: number, every: number, at: number) {
  if (index % every !== 0) return "";
  const [year = "", number = ""] = month.split("-");
  const withYear = index === 0 || Number(number) <= every;
  return html`<text class="tick" x="${fixed(at)}" y="${HEIGHT - 19}" text-anchor="middle">${names[Number(number) - 1] ?? number}</text>${withYear ? html`<text class="tick year" x="${fixed(at)}" y="${HEIGHT - 5}" text-anchor="middle">${year}</text>` : ""}`;
}

const names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
