import { html } from "hono/html";

/** What a drawing is called and what it shows, in words, for whoever doesn't see it. The id is the page's own. */
export interface About {
  readonly id: string;
  readonly title: string;
  readonly gist: string;
  /** How wide its drawing is, in its own units, of which a letter takes 12; 360 unless told. */
  readonly width?: number;
}

/** The default: three charts fit beside each other on a page, one on a phone. */
export const WIDTH = 360;

export function picture({ id, title, gist }: About, width: number, height: number, drawing: unknown) {
  return html`<svg class="picture" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${title}</title><desc id="${id}-d">${gist}</desc>${drawing}</svg>`;
}

export const fixed = (value: number): string => String(Math.round(value * 10) / 10);

const segments = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The width of a text in em, rounded up rather than down. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segments.segment(text)) width += widthOfSign(segment);
  return width;
}

function widthOfSign(sign: string): number {
  const code = sign.codePointAt(0)!;
  if (code >= 0x1100) return 1.1;
  if (/[MWmw@%]/.test(sign)) return 0.95;
  if (/[A-Z0-9]/.test(sign) || code > 0x7f) return 0.7;
  return /[ .,:;'|!ijl()]/.test(sign) ? 0.34 : 0.6;
}

export function cut(text: string, room: number): string {
  if (widthOf(text) <= room) return text;
  let [kept, width] = ["", 1];
  for (const { segment } of segments.segment(text)) {
    width += widthOfSign(segment);
    if (width > room) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** A name within other writing: its direction stays its own. */
export const isolated = (name: string): string =>
  /[\u0590-\u08ff\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name;
