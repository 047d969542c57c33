import { scaleBand, scaleLinear } from "d3-scale";
import { html } from "hono/html";
import { formatCount } from "../../counted.ts";
import { fixed } from "./picture.ts";

const WIDTH = 120;
const HEIGHT = 30;

/** Values in their order as columns. An outlier, such as a first load, is cut off and drawn broken, or the rest would be flat. */
export function columnChart(what: string, values: readonly number[], tone: string) {
  const x = scaleBand(
    values.map((_, index) => index),
    [0, WIDTH],
  ).paddingInner(0.3);
  const limit = usual(values);
  const y = scaleLinear([0, limit], [0, HEIGHT - 3]).clamp(true);
  const width = fixed(Math.min(x.bandwidth(), 8));
  const columns = values.map((value, index) => ({
    ...{ isOutlier: value > limit, kind: value === 0 ? "none" : "column" },
    height: fixed(value === 0 ? 1 : Math.max(2.5, y(value))),
    left: fixed((x(index) ?? 0) + (x.bandwidth() - Number(width)) / 2),
  }));
  // A path for all that look alike: a page has hundreds of charts.
  const drawn = [...Map.groupBy(columns, ({ kind }) => kind)].map(([kind, alike]) => {
    const way = alike.map(({ left, height }) => `M${left} ${HEIGHT}v-${height}h${width}v${height}`).join("");
    return html`<path class="${kind}" d="${way}"/>`;
  });
  const gaps = columns.map(({ isOutlier, left }) =>
    isOutlier ? html`<rect class="gap" x="${left}" y="7" width="${width}" height="2"/>` : "",
  );
  return html`<figure class="chart ${tone}">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Chart: ${what}">${drawn}${gaps}</svg>
    <figcaption class="unseen">${summary(values)}</figcaption>
  </figure>`;
}

/** The highest value, unless it is more than four times as high as nine of ten values. */
function usual(values: readonly number[]): number {
  const some = values.filter(value => value > 0).toSorted((a, b) => a - b);
  const high = some[Math.floor(0.9 * (some.length - 1))] ?? 1;
  const highest = some.at(-1) ?? 1;
  return highest > 4 * high ? 1.5 * high : highest;
}

function summary(values: readonly number[]): string {
  if (values.length === 0) return "No runs yet.";
  const [low, high, last] = [Math.min(...values), Math.max(...values), values.at(-1) ?? 0];
  if (low === high) return `${formatCount(low)} in each of ${formatCount(values.length)} runs.`;
  return `Over ${formatCount(values.length)} runs between ${formatCount(low)} and ${formatCount(high)}; ${formatCount(last)} in the last.`;
}

/** A share of 1 as a thin bar; it says nothing that the text beside it doesn't. */
export function shareBar(share: number, tone: string) {
  return html`<svg class="share ${tone}" width="100%" height="4" aria-hidden="true"><rect class="none" width="100%" height="4" rx="2"/><rect class="some" width="${fixed(Math.min(1, share) * 100)}%" height="4" rx="2"/></svg>`;
}
