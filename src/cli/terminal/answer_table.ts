import { counted } from "../../counted.ts";
import { readCsv } from "../../rows/csv_reading.ts";
import { cutText, formatTable, textWidth, wrapText } from "./table.ts";

/** Terminal cells of a value. */
const CELL = 60;
/** Decimals of the tables have nine places, averages in PostgreSQL more; most of them are zeros. */
const MANY_PLACES = /^-?\d+\.\d{9,}$/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** The rows of a query, which come as CSV: as a table or, where its lines are wider than `width`, a block for each row. `limit` 0: all. */
export function answerTable(csv: Buffer, limit: number, width: number | undefined): string {
  const [titles = [], ...all] = [...readCsv(csv)].map(line => line.map(value => value ?? ""));
  const rows = withFewPlaces(limit === 0 ? all : all.slice(0, limit));
  const isNumber = (at: number) => rows.every(row => row[at] === "" || NUMBER.test(row[at]!));
  const columns = titles.map((title, at) => ({ title, align: isNumber(at) ? ("right" as const) : ("left" as const) }));
  const table = formatTable(columns, cut(rows, CELL));
  const fits = width === undefined || table.split("\n").every(line => textWidth(line) <= width);
  const count =
    all.length > rows.length ? `the first ${rows.length} rows; --limit 0 shows all` : counted(rows.length, "row");
  const end = `(${count})`;
  return `${fits ? table : blocks(titles, rows, width)}\n${width === undefined ? end : wrapText(end, width)}`;
}

function blocks(titles: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const left = Math.max(1, width - Math.max(...titles.map(textWidth)) - 2);
  const lines = cut(rows, left).flatMap((row, nth) => [
    `row ${nth + 1}`,
    formatTable(
      [{ title: "" }, { title: "" }],
      titles.map((title, at) => [title, row[at]!]),
    ),
  ]);
  // A column's name alone may be wider.
  const all = lines.flatMap(line => line.split("\n"));
  return all.map(line => cutText(line, width)).join("\n");
}

const cut = (rows: readonly (readonly string[])[], width: number): string[][] =>
  rows.map(row => row.map(value => cutText(value, width)));

function lengthWithoutZeros(value: string): number {
  let length = value.length;
  while (value[length - 1] === "0") length--;
  return length;
}

/** Without the zeros that no value of a column needs: amounts keep two places. */
function withFewPlaces(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const places = rows[0]?.map((_, at) => {
    const values = rows.map(row => row[at]!).filter(value => value !== "");
    if (!values.every(value => MANY_PLACES.test(value))) return undefined;
    const needed = Math.max(0, ...values.map(value => lengthWithoutZeros(value) - value.indexOf(".") - 1));
    return needed === 1 ? 2 : needed;
  });
  return rows.map(row =>
    row.map((value, at) => {
      const kept = places?.[at];
      if (kept === undefined || value === "") return value;
      return value.slice(0, value.indexOf(".") + (kept === 0 ? 0 : kept + 1));
    }),
  );
}
