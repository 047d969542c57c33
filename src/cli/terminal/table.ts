import { stripVTControlCharacters } from "node:util";

/** A column's heading, and the side its cells lean to. */
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

/** A table with a line for each row. */
export function rowTable<Row>(rows: readonly Row[], columns: readonly RowColumn<Row>[]): string {
  const cells = rows.map(row => columns.map(([, cell]) => cell(row)));
  const titles = columns.map(([title, , align], index) => {
    const isNumeric = align === "right" || cells.some(line => typeof line[index] === "number");
    return { title, align: isNumeric ? ("right" as const) : ("left" as const) };
  });
  const texts = cells.map(line => line.map(cell => (typeof cell === "number" ? formatCount(cell) : (cell ?? ""))));
  return formatTable(titles, texts);
}

/** A table with a line for each stream, named by its company too where there are several. */
export function streamTable<Row extends { readonly company: string; readonly stream: string }>(
  rows: readonly Row[],
  columns: readonly RowColumn<Row>[],
): string {
  const several = new Set(rows.map(({ company }) => company)).size > 1;
  const company: RowColumn<Row> = ["company", row => row.company];
  return rowTable(rows, [...(several ? [company] : []), ["stream", row => row.stream], ...columns]);
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

/** `1234567` → `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
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
