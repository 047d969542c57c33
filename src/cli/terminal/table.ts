import { stripVTControlCharacters } from "node:util";
import { formatCount } from "../../counted.ts";
import type { Look } from "./look.ts";

export interface TableColumn {
  readonly title: string;
  readonly align?: "left" | "right";
}

/** Lines of a table with two spaces between the columns, under a heading unless all titles are empty. */
export function formatTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  const titles = columns.map(column => column.title);
  const lines = titles.every(title => title === "") ? rows : [titles, ...rows];
  const cells = lines.map(line => columns.map((_, index) => oneLine(line[index] ?? "")));
  const widths = columns.map((_, index) => Math.max(0, ...cells.map(line => textWidth(line[index] ?? ""))));
  return cells
    .map(line =>
      line
        .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.align))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A column of rows: its heading, and the cell of a row. Numbers get separators and lean right; null leaves a cell empty. */
export type RowColumn<Row> = readonly [title: string, cell: (row: Row) => string | number | null, align?: "right"];

/** What a table says, and the titles of the columns that would tell more and had no room. */
interface Fitted {
  readonly lines: readonly string[];
  readonly left: readonly string[];
}

/** Texts of a row are cut to this before a column is left out. */
const LEAST_TEXT = 24;

/**
 * A table with a line for each row, as wide as `width` allows. The first columns, `pinned` of them, name the row and stay. Of the others those
 * without a value go first, then the ones that `first` does not name, from the right, then those that it names, the last ones before.
 */
export function fitTable<Row>(
  rows: readonly Row[],
  columns: readonly RowColumn<Row>[],
  width: number | undefined,
  { first = [], pinned = 1 }: { readonly first?: readonly string[]; readonly pinned?: number } = {},
): Fitted {
  const all = columns.map(([title, cell, align], at) => {
    const values = rows.map(cell);
    const isNumeric = align === "right" || values.some(value => typeof value === "number");
    const texts = values.map(value => oneLine(typeof value === "number" ? formatCount(value) : (value ?? "")));
    const wide = Math.max(textWidth(title), ...texts.map(textWidth));
    const least = isNumeric || at < pinned ? wide : Math.min(wide, Math.max(LEAST_TEXT, textWidth(title)));
    const isEmpty = texts.every(text => text === "" || text === "0");
    const named = first.indexOf(title);
    const rank = at < pinned ? -1 : (isEmpty ? 2_000 : 0) + (named < 0 ? 1_000 + at : named);
    return { title, align: isNumeric ? ("right" as const) : ("left" as const), texts, wide, least, rank, isEmpty };
  });
  let kept = all;
  const taken = (of: "wide" | "least") => kept.reduce((sum, column) => sum + column[of] + 2, -2);
  while (width !== undefined && taken("least") > width && kept.some(({ rank }) => rank >= 0)) {
    const least = Math.max(...kept.map(({ rank }) => rank));
    kept = kept.filter(({ rank }) => rank !== least);
  }
  let spare = width === undefined ? Number.POSITIVE_INFINITY : width - taken("least");
  const cut = kept.map(({ texts, wide, least }) => {
    const own = Math.min(wide, least + Math.max(0, spare));
    spare -= own - least;
    return texts.map(text => cutText(text, own));
  });
  const table = formatTable(
    kept,
    rows.map((_, at) => cut.map(texts => texts[at]!)),
  );
  const lines = table.split("\n").map(line => (width === undefined ? line : cutText(line, width)));
  const left = all.filter(column => !kept.includes(column) && !column.isEmpty && column.title !== "");
  return { lines, left: left.map(({ title }) => title) };
}

/** A table as `fitTable` makes it, and below it which columns had no room. */
export function rowTable<Row>(
  rows: readonly Row[],
  columns: readonly RowColumn<Row>[],
  look: Look,
  order?: Parameters<typeof fitTable<Row>>[3],
): string {
  const { lines, left } = fitTable(rows, columns, look.width, order);
  return [...lines, ...leftOut(left, look)].join("\n");
}

/** One line about columns that had no room; none where all had. */
export function leftOut(left: readonly string[], { width, paint }: Look): string[] {
  if (left.length === 0) return [];
  const text = `--verbose, or a wider terminal, shows: ${left.join(", ")}`;
  return [paint("dim", cutText(text, width ?? text.length))];
}

/** A table with a line for each stream, named by its company too where there are several. */
export function streamTable<Row extends { readonly company: string; readonly stream: string }>(
  rows: readonly Row[],
  columns: readonly RowColumn<Row>[],
  look: Look,
  first: readonly string[] = [],
): string {
  const several = new Set(rows.map(({ company }) => company)).size > 1;
  const company: RowColumn<Row> = ["company", row => row.company];
  const named: readonly RowColumn<Row>[] = [...(several ? [company] : []), ["stream", row => row.stream]];
  return rowTable(rows, [...named, ...columns], look, { first, pinned: named.length });
}

/** How many terminal cells a text takes: 2 for East Asian wide characters and emoji, 0 for combining marks and colours. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) {
    if (/^[\p{Mark}\p{Control}\p{Format}]+$/u.test(segment)) continue;
    width += wide.test(segment) ? 2 : 1;
  }
  return width;
}

/** The beginning of a text that fits into so many cells, with … where something is missing. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of graphemes(text)) {
    if (textWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return width < 1 ? "" : `${kept}…`;
}

/** Lines that are too wide go on below what they begin with, such as a label; what stands in backticks is to be copied and stays whole. */
export function wrapText(text: string, width: number): string {
  const wrapped = (line: string): string => {
    const label = /^ *(?:\S+(?: \S+)* {2,})*/.exec(line)![0];
    const head = textWidth(label) <= width / 2 ? label : /^ */.exec(line)![0];
    const margin = " ".repeat(textWidth(head));
    const [first = "", ...words] = line.slice(head.length).match(/(?:`[^`]*`|\S)+/g) ?? [];
    const lines = [head + first];
    for (const word of words) {
      const longer = `${lines.at(-1)} ${word}`;
      if (textWidth(longer) > width) lines.push(margin + word);
      else lines[lines.length - 1] = longer;
    }
    return lines.join("\n");
  };
  return text
    .split("\n")
    .map(line => (textWidth(line) <= width ? line : wrapped(line)))
    .join("\n");
}

// Made on demand: the first takes 15 ms.
const graphemes = (text: string) =>
  new Intl.Segmenter("en", { granularity: "grapheme" }).segment(stripVTControlCharacters(text));

// Blocks that Unicode's East Asian Width calls W or F, and what is drawn as an emoji.
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;

function pad(cell: string, width: number, align: "left" | "right" = "left"): string {
  const gap = " ".repeat(Math.max(0, width - textWidth(cell)));
  return align === "right" ? gap + cell : cell + gap;
}

const oneLine = (cell: string): string => cell.replace(/[\r\n\t]+/g, " ");
