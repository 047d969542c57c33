import { scaleLinear } from "d3-scale";
import { html } from "hono/html";
import { type About, cut, fixed, isolated, picture, WIDTH, widthOf } from "./picture.ts";

/** A named bar; its parts stand one after the other, the first solid, the second as an outline. */
export interface Bar {
  readonly name: string;
  readonly shown: string;
  readonly parts: readonly number[];
  readonly note: string;
  /** It stands for many: drawn quieter. */
  readonly isRest: boolean;
}

const ROW = 31;
const FONT = 12;

/** Bars below each other, each under its name and value. `most`: what the longest could be; absent, the longest fills the width. */
export function barChart(about: About, bars: readonly Bar[], most?: number) {
  const lengths = bars.map(({ parts }) => parts.reduce((sum, part) => sum + Math.abs(part), 0));
  const { width = WIDTH } = about;
  const x = scaleLinear([0, Math.max(most ?? 0, ...lengths) || 1], [0, width]);
  return picture(
    about,
    width,
    bars.length * ROW,
    bars.map(({ name, shown, parts, note, isRest }, index) => {
      const top = index * ROW;
      const room = width / FONT - widthOf(shown) - 1.2;
      return html`<g class="${isRest ? "point rest" : "point"}" data-name="${name}"><title>${note}</title><rect class="reach" x="0" y="${top}" width="${width}" height="${ROW}"/>
<text class="name" x="0" y="${top + 13}">${isolated(cut(name, room))}</text><text class="value" x="${width}" y="${top + 13}" text-anchor="end">${shown}</text>
<rect class="track" x="0" y="${top + 18}" width="${width}" height="7"/>${partsOf(parts, top + 18, x)}</g>`;
    }),
  );
}

function partsOf(parts: readonly number[], top: number, x: (value: number) => number) {
  let left = 0;
  return parts.map((part, index) => {
    const width = x(Math.abs(part));
    const at = left;
    left += width;
    if (width < 0.05) return "";
    // Negative and second parts are outlined, so that they differ without colour.
    const outlined = index > 0 || part < 0;
    return outlined
      ? html`<rect class="outline" x="${fixed(at + 0.6)}" y="${top + 0.6}" width="${fixed(Math.max(0.6, width - 1.2))}" height="5.8"/>`
      : html`<rect class="solid" x="${fixed(at)}" y="${top}" width="${fixed(Math.max(1, width))}" height="7"/>`;
  });
}
