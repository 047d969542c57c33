import { scaleBand, scaleLinear } from "d3-scale";
import { html } from "hono/html";
import { formatCount } from "../../counted.ts";
import { filledLine } from "./lines.ts";
import { fixed } from "./picture.ts";

/** A value of a chart. `note` is said of it when it is pointed at; charts of which there are hundreds have none: they take less room. */
export interface Point {
  readonly value: number;
  readonly note?: string;
}

const WIDTH = 120;
const HEIGHT = 30;

export function areaChart(what: string, points: readonly Point[], tone: string) {
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [2, WIDTH - 2]);
  const y = scaleLinear([0, highest(points)], [HEIGHT - 2, 3]);
  const places = points.map(({ value }, index): [number, number] => [x(index), y(value)]);
  // A single value is a dot, which has no area.
  const last = places.at(-1);
  return figure(
    what,
    points,
    tone,
    html`${filledLine(places, HEIGHT - 1)}
      ${last === undefined ? "" : html`<circle class="dot" cx="${fixed(last[0])}" cy="${fixed(last[1])}" r="2"/>`}
      ${points.map(({ note }, index) =>
        note === undefined
          ? ""
          : html`<rect class="point" x="${fixed(x(index - 0.5))}" y="0" width="${fixed(x(1) - x(0))}" height="${HEIGHT}"><title>${note}</title></rect>`,
      )}`,
  );
}

/** Values in their order as columns. An outlier, such as a first load, is cut off and drawn broken, or the rest would be flat. */
export function columnChart(what: string, points: readonly Point[], tone: string) {
  const x = scaleBand(
    points.map((_, index) => index),
    [0, WIDTH],
  ).paddingInner(0.3);
  const limit = usual(points);
  const y = scaleLinear([0, limit], [0, HEIGHT - 3]).clamp(true);
  const width = fixed(Math.min(x.bandwidth(), 8));
  const columns = points.map(({ value, note }, index) => ({
    ...{ note, isOutlier: value > limit, kind: value === 0 ? "none" : "column" },
    height: fixed(value === 0 ? 1 : Math.max(2.5, y(value))),
    left: fixed((x(index) ?? 0) + (x.bandwidth() - Number(width)) / 2),
  }));
  const drawn = columns.every(({ note }) => note === undefined)
    ? [...Map.groupBy(columns, ({ kind }) => kind)].map(([kind, alike]) => {
        const way = alike.map(({ left, height }) => `M${left} ${HEIGHT}v-${height}h${width}v${height}`).join("");
        return html`<path class="${kind}" d="${way}"/>`;
      })
    : columns.map(
        ({ kind, left, height, note }) =>
          html`<rect class="${kind}" x="${left}" y="${fixed(HEIGHT - Number(height))}" width="${width}" height="${height}" rx="0.8"><title>${note}</title></rect>`,
      );
  const gaps = columns.map(({ isOutlier, left }) =>
    isOutlier ? html`<rect class="gap" x="${left}" y="7" width="${width}" height="2"/>` : "",
  );
  return figure(what, points, tone, html`${drawn}${gaps}`);
}

/** The highest value, unless it is more than four times as high as nine of ten values. */
function usual(points: readonly Point[]): number {
  const some = points.flatMap(({ value }) => (value > 0 ? value : [])).toSorted((a, b) => a - b);
  const high = some[Math.floor(0.9 * (some.length - 1))] ?? 1;
  const highest = some.at(-1) ?? 1;
  return highest > 4 * high ? 1.5 * high : highest;
}

function figure(what: string, points: readonly Point[], tone: string, drawing: unknown) {
  return html`<figure class="chart ${tone}">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Chart: ${what}">${drawing}</svg>
    <figcaption class="unseen">${summary(points)}</figcaption>
  </figure>`;
}

function summary(points: readonly Point[]): string {
  const values = points.map(({ value }) => value);
  if (values.length === 0) return "No runs yet.";
  const [low, high, last] = [Math.min(...values), Math.max(...values), values.at(-1) ?? 0];
  if (low === high) return `${formatCount(low)} in each of ${formatCount(values.length)} runs.`;
  return `Over ${formatCount(values.length)} runs between ${formatCount(low)} and ${formatCount(high)}; ${formatCount(last)} in the last.`;
}

const highest = (points: readonly Point[]): number => Math.max(1, ...points.map(({ value }) => value));

/** A share of 1 as a thin bar; it says nothing that the text beside it doesn't. */
export function shareBar(share: number, tone: string) {
  return html`<svg class="share ${tone}" width="100%" height="4" aria-hidden="true"><rect class="none" width="100%" height="4" rx="2"/><rect class="some" width="${fixed(Math.min(1, share) * 100)}%" height="4" rx="2"/></svg>`;
}
