import { scaleLinear } from "d3-scale";
import { area, curveMonotoneX, line } from "d3-shape";
import { html } from "hono/html";
import { type About, fixed, picture } from "./picture.ts";

export interface Stop {
  /** In months since any beginning. */
  readonly at: number;
  readonly value: number;
  readonly note: string;
}

const WIDTH = 260;
const HEIGHT = 92;
const EDGE = 6;

/** A line through values over time from `first` to `last`; the ends are named below it. `low` and `high` are written at its side. */
export function lineChart(
  about: About,
  stops: readonly Stop[],
  [first, last]: readonly [number, number],
  ends: { readonly from: string; readonly to: string; readonly low: string; readonly high: string },
) {
  const values = stops.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = scaleLinear([first, Math.max(first + 1, last)], [EDGE, WIDTH - 62]);
  const y = scaleLinear(low === high ? [low - 1, high + 1] : [low, high], [HEIGHT - 28, 12]);
  const places = stops.map(({ at, value }): [number, number] => [x(at), y(value)]);
  const stroke = line().curve(curveMonotoneX).digits(1);
  const fill = area()
    .y0(HEIGHT - 20)
    .curve(curveMonotoneX)
    .digits(1);
  const sides = high === low ? [[high, ends.high] as const] : [[high, ends.high] as const, [low, ends.low] as const];
  return picture(
    about,
    WIDTH,
    HEIGHT,
    html`<path class="fill" d="${fill(places) ?? ""}"/><path class="stroke" d="${stroke(places) ?? ""}"/>
<line class="axis" x1="0" x2="${WIDTH - 56}" y1="${HEIGHT - 20}" y2="${HEIGHT - 20}"/>
${places.map(([left, top], index) => html`<g class="point"><title>${stops[index]?.note}</title><circle class="${index === places.length - 1 ? "dot last" : "dot"}" cx="${fixed(left)}" cy="${fixed(top)}" r="${index === places.length - 1 ? 3.4 : 2.2}"/></g>`)}
${sides.map(([value, text]) => html`<text class="tick" x="${WIDTH - 50}" y="${fixed(y(value) + 4)}">${text}</text>`)}
<text class="tick" x="0" y="${HEIGHT - 5}">${ends.from}</text><text class="tick" x="${WIDTH - 56}" y="${HEIGHT - 5}" text-anchor="end">${ends.to}</text>`,
  );
}
