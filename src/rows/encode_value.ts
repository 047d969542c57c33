import type { Kind } from "../catalog/columns.ts";
import { Numeral } from "../numeral.ts";
import type { CsvWriter } from "./csv.ts";
import { decimal, isNumeral, plainNumeral } from "./decimal.ts";
import { NARROW_INTEGER_DIGITS, NARROW_PLACES, usual, writePlainDecimal } from "./encode_usual_value.ts";
import { canonicalJson } from "./json.ts";
import { canonicalMoment, type Formats, hasTimeOfDay, isDayAlone, readDate } from "./moment.ts";

/** A value that did not fit its column: it became NULL, of a moment in a date column its day, and this goes to `_problems`. */
export interface Problem {
  readonly value: unknown;
  readonly reason: string;
}

/** What a value reader tells beside the text it wrote. One is reused for all values of an encoder. */
export interface Reading {
  problem: string | undefined;
  /** The value was stored, but not letter by letter. */
  note: string | undefined;
  /** Values that were stored, but not as they came, where nothing of them was lost but digits past the ninth place. */
  rounded: number;
  /** The decimal just written doesn't fit DECIMAL(18,6). */
  wide: boolean;
}

const PLACES = 9;
const INTEGER_DIGITS = 29;
const BIGINT_MAX = 2n ** 63n - 1n;

/** Kinds in which an empty text says no more than NULL does. */
const EMPTY_IS_NULL: ReadonlySet<Kind> = new Set(["money", "quantity", "percent", "count", "score", "date", "moment"]);

/** Writes one value as a field of its kind. NULL, and `reading.problem` set, when it doesn't fit; nothing is guessed. */
export function writeValue(writer: CsvWriter, kind: Kind, value: unknown, formats: Formats, reading: Reading): void {
  if (usual[kind](writer, value, formats)) return;
  if (value === "" && EMPTY_IS_NULL.has(kind)) {
    reading.rounded++;
    return;
  }
  switch (kind) {
    case "id":
    case "text":
      return writeText(writer, value, reading);
    case "money":
    case "quantity":
    case "percent":
      return writeDecimal(writer, value, reading);
    case "count":
      return writeCount(writer, value, reading);
    case "score":
      return writeScore(writer, value, reading);
    case "flag":
      reading.problem = expected("true or false", value);
      return;
    case "date":
      return writeDate(writer, value, formats, reading);
    case "moment": {
      const moment = typeof value === "string" ? canonicalMoment(value, formats) : undefined;
      if (moment === undefined) reading.problem = expected("a point in time", value);
      else {
        if (isDayAlone(value as string)) reading.rounded++;
        writer.plain(moment);
      }
      return;
    }
    case "json":
      return writeJson(writer, value, reading);
  }
}

/** The reason why a value does not fit. */
export function expected(what: string, value: unknown): string {
  const came = value instanceof Numeral ? "number" : Array.isArray(value) ? "array" : typeof value;
  return `expected ${what}, got ${came === "string" ? "other text" : `a value of type ${came}`}`;
}

function writeText(writer: CsvWriter, value: unknown, reading: Reading): void {
  const text = textOf(value);
  if (text === undefined) reading.problem = expected("text", value);
  else if (!writer.text(text))
    reading.problem = "holds a NUL, half a surrogate pair or a byte that is no UTF-8, which no database stores as text";
}

/** What an id or a text is: its own letters, or as a number the canonical numeral; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : plainNumeral(String(value));
  return value instanceof Numeral ? plainNumeral(value.text) : undefined;
}

function writeDecimal(writer: CsvWriter, value: unknown, reading: Reading): void {
  const text = numberText(value);
  if (text === undefined) {
    reading.problem = expected("a number", value);
    return;
  }
  if (typeof value !== "string" && writePlainDecimal(writer, text)) return;
  const result = decimal(text, PLACES, INTEGER_DIGITS);
  if (result === undefined) reading.problem = expected("a number", value);
  else if (result === "range") reading.problem = `expected at most ${INTEGER_DIGITS} digits before the point, got more`;
  else {
    if (result.rounded) reading.rounded++;
    if (result.integerDigits > NARROW_INTEGER_DIGITS || result.fractionDigits > NARROW_PLACES) reading.wide = true;
    writer.plain(result.text);
  }
}

/** The day of a moment stays; a time of day that the column has no room for is kept with the problems. */
function writeDate(writer: CsvWriter, value: unknown, formats: Formats, reading: Reading): void {
  const date = typeof value === "string" ? readDate(value, formats) : undefined;
  if (date === undefined) {
    reading.problem = expected("a calendar date", value);
    return;
  }
  writer.plain(date);
  if (hasTimeOfDay(value as string))
    reading.problem = "expected a calendar date, got a time of day with it: the column holds the day";
  else reading.rounded++;
}

function numberText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  return value instanceof Numeral ? value.text : undefined;
}

function writeCount(writer: CsvWriter, value: unknown, reading: Reading): void {
  const text = numberText(value);
  const result = text === undefined ? undefined : decimal(text, PLACES, INTEGER_DIGITS);
  if (result === undefined) {
    reading.problem = expected("a whole number", value);
    return;
  }
  if (result === "range" || result.fractionDigits > 0 || result.rounded) {
    reading.problem = "expected a whole number of at most 63 bits, got another number";
    return;
  }
  const whole = BigInt(result.text);
  if (whole > BIGINT_MAX || whole < -BIGINT_MAX)
    reading.problem = "expected a whole number of at most 63 bits, got a larger one";
  else writer.plain(result.text);
}

function writeScore(writer: CsvWriter, value: unknown, reading: Reading): void {
  const text = typeof value === "number" ? undefined : numberText(value);
  const number = typeof value === "number" ? value : text !== undefined && isNumeral(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) reading.problem = expected("a number that a double holds", value);
  else writer.plain(Object.is(number, -0) ? "0" : String(number));
}

function writeJson(writer: CsvWriter, value: unknown, reading: Reading): void {
  try {
    const json = canonicalJson(value);
    reading.note = json.noted;
    writer.text(json.text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    reading.problem = error.message;
  }
}

/** The value at a path of field names, the row itself where the path is empty; undefined where there is none. */
export function valueAt(path: readonly string[], row: Record<string, unknown>): unknown {
  if (path.length === 0) return row;
  let value: unknown = row;
  for (const field of path) {
    if (typeof value !== "object" || value === null || value instanceof Numeral) return undefined;
    if (!Object.hasOwn(value, field)) return undefined;
    value = (value as Record<string, unknown>)[field];
  }
  return value;
}
