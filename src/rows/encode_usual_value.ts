import type { Kind } from "../catalog/columns.ts";
import type { CsvWriter } from "./csv.ts";
import { type Formats, readDate, writeUsualMoment } from "./moment.ts";

/**
 * Writes a value as `writeValue` does, where it came in the form that nearly all of its kind have. False, with nothing
 * written, for any other.
 */
export type WriteUsual = (writer: CsvWriter, value: unknown, formats: Formats) => boolean;

/** What DECIMAL(18,6) has. */
export const NARROW_INTEGER_DIGITS = 12;
export const NARROW_PLACES = 6;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;

const text: WriteUsual = (writer, value) => typeof value === "string" && writer.text(value);

const decimal: WriteUsual = (writer, value) =>
  typeof value === "number" ? writer.number(value) : typeof value === "string" && writePlainDecimal(writer, value);

/** One function a kind, so that what calls it for one column sees one kind of value. */
export const usual: Readonly<Record<Kind, WriteUsual>> = {
  id: text,
  text,
  money: decimal,
  quantity: decimal,
  percent: decimal,
  count: (writer, value) =>
    typeof value === "string"
      ? writePlainWhole(writer, value)
      : Number.isSafeInteger(value) && writer.number(value as number),
  score: (writer, value) => typeof value === "number" && writer.number(value),
  flag(writer, value) {
    if (typeof value !== "boolean") return false;
    writer.plain(value ? "true" : "false");
    return true;
  },
  date(writer, value, formats) {
    // A longer text holds more than the day.
    const date = typeof value === "string" && value.length <= 10 ? readDate(value, formats) : undefined;
    if (date === undefined) return false;
    writer.plain(date);
    return true;
  },
  moment: (writer, value) => typeof value === "string" && writeUsualMoment(writer, value),
  json: () => false,
};

/** A decimal that came as text, or whose own text is short. */
export function writePlainDecimal(writer: CsvWriter, text: string): boolean {
  const end = canonicalEnd(text);
  if (end > 0) writer.plain(text, 0, end);
  return end > 0;
}

/** A whole number that came as text. */
function writePlainWhole(writer: CsvWriter, text: string): boolean {
  const { length } = text;
  const start = text.charCodeAt(0) === MINUS ? 1 : 0;
  if (length === start || length > NARROW_INTEGER_DIGITS || digitsEnd(text, start) !== length) return false;
  if (length > 1 && text.charCodeAt(start) === ZERO) return false;
  writer.plain(text);
  return true;
}

/**
 * Where the canonical part of a decimal ends: nearly every one has few digits and at most zeros to cut after the point.
 * 0 where that cannot be told at a glance, or more digits are needed than DECIMAL(18,6) has.
 */
function canonicalEnd(text: string): number {
  const { length } = text;
  const start = text.charCodeAt(0) === MINUS ? 1 : 0;
  const first = text.charCodeAt(start);
  let i = digitsEnd(text, start);
  const whole = i - start;
  if (whole === 0 || whole > NARROW_INTEGER_DIGITS || (whole > 1 && first === ZERO)) return 0;
  let end = i;
  if (i < length) {
    const point = i;
    i = text.charCodeAt(point) === POINT ? digitsEnd(text, point + 1) : 0;
    if (i !== length || i === point + 1) return 0;
    for (end = i; text.charCodeAt(end - 1) === ZERO; ) end--;
    if (end - point > NARROW_PLACES + 1) return 0;
    if (end === point + 1) end = point;
  }
  return start === 1 && first === ZERO && end === 2 ? 0 : end;
}

function digitsEnd(text: string, start: number): number {
  let i = start;
  for (let code = text.charCodeAt(i); code >= ZERO && code <= NINE; code = text.charCodeAt(i)) i++;
  return i;
}
