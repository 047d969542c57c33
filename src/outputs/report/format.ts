import type { Format } from "./definition.ts";

/** A value of an answer, as it is worked with: numbers as exact text. */
export type Value = string | boolean | null;

/** A row of an answer: numbers as text, days as `2026-03-01`, moments as ISO 8601. */
export type Row = Readonly<Record<string, Value>>;

export const UNKNOWN_CURRENCY = "currency unknown";
export const NOT_GIVEN = "not given";

const grouped = (least: number, most: number) =>
  new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: most });
const formats = {
  count: grouped(0, 2),
  money: grouped(2, 2),
  price: grouped(2, 4),
  percent: new Intl.NumberFormat("en-US", { maximumFractionDigits: 1, minimumFractionDigits: 1 }),
  share: new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1, minimumFractionDigits: 1 }),
} as const;
const whole = grouped(0, 0);
const every = grouped(0, 9);
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

const NUMERAL = /^-?\d+(\.\d+)?$/;
type Numeral = `${number}`;

/** `12.340` → `12.34`: the same text for the same number, whichever database said it. */
export const canonicalNumber = (value: string): string =>
  NUMERAL.test(value) && value.includes(".") ? value.replace(/\.0+$|(?<!0)0+$/, "") : value;

export const isNumeric = (format: Format): format is keyof typeof formats => Object.hasOwn(formats, format);

/** `1234567.891` of money → `1,234,567.89`. What is no numeral, as a NaN, comes back as it is. */
export function shownNumber(format: keyof typeof formats, value: string): string {
  if (!NUMERAL.test(value)) return value;
  const text = formats[format].format(value as Numeral);
  return format === "percent" ? `${text}%` : text;
}

/** Every digit, in groups. */
export const exactNumber = (value: string): string => (NUMERAL.test(value) ? every.format(value as Numeral) : value);

/** `1,234,568`, for headlines. */
export const wholeNumber = (value: string): string => (NUMERAL.test(value) ? whole.format(value as Numeral) : value);

/** `1.23M`, for axes and ends of bars. */
export const compactNumber = (value: number): string => compact.format(value);

/** `EUR 12`; a currency that isn't known is not left out. */
export const inCurrency = (number: string, code: Value): string =>
  typeof code === "string" ? `${code}\u00a0${number}` : `${number} (${UNKNOWN_CURRENCY})`;

/** Texts of the service as one line that keeps its own direction: without line breaks and signs that turn the writing around. */
export const cleaned = (text: string): string =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();

/** `2026-03-01` → `2026-03`. */
export const monthOf = (day: string): string => day.slice(0, 7);

/** Months since the year 0, for places in charts. */
export const monthNumber = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;
