import type { Kind } from "../../src/catalog/columns.ts";
import type { Dialect } from "../../src/warehouse/dialect.ts";

/*
 * What a value of the service has to be in the warehouse, worked out from the documented meaning of its kind alone: nothing
 * here comes from the encoder that it is held against.
 */

/** A numeral with all its digits. */
export class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** JSON as written: a numeral that a double may not hold keeps its text. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && source !== String(value) ? new Digits(source) : value;
  });
}

/** A decimal as sign, digits without zeros at the ends, and power of ten: equal for numerals that mean the same number. */
export function sameDecimal(text: string): string | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null || (match[2] ?? "") + (match[3] ?? "") === "") return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return "0";
  return `${sign === "-" ? "-" : ""}${digits}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - digits.length)}`;
}

/** A numeral in billionths, rounded half away from zero; undefined when it is no number. */
export function billionths(text: string): bigint | undefined {
  const same = sameDecimal(text);
  if (same === undefined) return undefined;
  if (same === "0") return 0n;
  const [, sign, digits, power] = /^(-?)(\d+)e(-?\d+)$/.exec(same)!;
  const shift = Number(power) + 9;
  let magnitude = BigInt(digits!);
  if (shift >= 0) magnitude *= 10n ** BigInt(shift);
  else {
    const unit = 10n ** BigInt(-shift);
    magnitude = (magnitude * 2n + unit) / (unit * 2n);
  }
  return sign === "-" ? -magnitude : magnitude;
}

/** ISO text as microseconds since 1970, cut; without a zone it is UTC. */
export function microseconds(text: string): bigint | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(?:\.(\d+))?\s?(Z|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  if (match === null) return undefined;
  const [, day, minute = "00:00", second = ":00", fraction = "", zone = "Z"] = match;
  const colon = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const whole = Date.parse(`${day}T${minute}${second}${colon}`);
  return Number.isNaN(whole) ? undefined : BigInt(whole) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

const unfit = Symbol("does not fit");
const BEYOND = 10n ** 38n;

function numeral(raw: unknown): string | undefined {
  if (typeof raw === "number") return String(raw);
  return raw instanceof Digits ? raw.text : typeof raw === "string" ? raw : undefined;
}

/** A numeral as an id: every digit, no exponent, no zeros to spare. */
function plain(text: string): string {
  const same = sameDecimal(text)!;
  if (same === "0") return "0";
  const [, sign, digits, power] = /^(-?)(\d+)e(-?\d+)$/.exec(same)!;
  const zeros = Number(power);
  if (zeros >= 0) return `${sign}${digits}${"0".repeat(zeros)}`;
  const padded = digits!.padStart(1 - zeros, "0");
  return `${sign}${padded.slice(0, zeros)}.${padded.slice(zeros)}`;
}

/** The value in the form in which `inWords` selects it; `isUnfit` where it must be NULL and a problem. `holds`: what a JSON column is documented to hold. */
export function expectedValue(kind: Kind, raw: unknown, holds?: "object" | "array" | undefined): unknown {
  if (raw === null || raw === undefined) return null;
  const text = numeral(raw);
  switch (kind) {
    case "id":
    case "text":
      if (text === undefined || text.includes("\0") || !text.isWellFormed()) return unfit;
      return typeof raw === "string" ? raw : plain(text);
    case "money":
    case "quantity":
    case "percent": {
      const scaled = text === undefined ? undefined : billionths(text);
      return scaled === undefined || scaled >= BEYOND || scaled <= -BEYOND ? unfit : scaled;
    }
    case "count": {
      const same = text === undefined ? undefined : sameDecimal(text);
      return same === undefined || /e-/.test(same) ? unfit : billionths(text!)! / 1_000_000_000n;
    }
    case "score":
      return text === undefined || sameDecimal(text) === undefined ? unfit : Number(text);
    case "flag":
      return typeof raw === "boolean" ? raw : unfit;
    case "date":
      return typeof raw === "string" && microseconds(raw) !== undefined ? raw.slice(0, 10) : unfit;
    case "moment":
      return typeof raw === "string" ? (microseconds(raw) ?? unfit) : unfit;
    case "json":
      return holds === undefined || holds === containerOf(raw) ? new Json(raw) : unfit;
  }
}

const containerOf = (raw: unknown) =>
  Array.isArray(raw) ? "array" : typeof raw === "object" && !(raw instanceof Digits) ? "object" : undefined;

export const isUnfit = (value: unknown): boolean => value === unfit;

/** Whether a value says more than a date column holds: a time of day other than midnight. */
export const saysMoreThanDay = (kind: Kind, raw: unknown): boolean =>
  kind === "date" && typeof raw === "string" && /^.{10}[T ](?!00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d|$))/.test(raw);

class Json {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** How a column is selected so that nothing is lost on the way to JavaScript. */
export function inWords(database: Dialect["name"], kind: Kind, column: string): string {
  const name = `"${column}"`;
  if (kind === "score" || kind === "flag" || kind === "id" || kind === "text") return name;
  if (kind !== "moment") return `cast(${name} as varchar) as ${name}`;
  const micros =
    database === "postgres" ? `cast(extract(epoch from ${name}) * 1000000 as bigint)` : `epoch_us(${name})`;
  return `cast(${micros} as varchar) as ${name}`;
}

/** Whether what was selected is what was expected. */
export function agrees(kind: Kind, expected: unknown, found: unknown): boolean {
  if (expected === null || found === null || isUnfit(expected))
    return (expected === null || isUnfit(expected)) && found === null;
  switch (kind) {
    case "money":
    case "quantity":
    case "percent":
      return BigInt(String(found).replace(".", "")) === expected && /\.\d{9}$/.test(String(found));
    case "count":
    case "moment":
      return BigInt(String(found)) === expected;
    case "json":
      return sameJson((expected as Json).value, parseExactly(String(found)));
    default:
      return Object.is(expected, found) || (kind === "score" && expected === found);
  }
}

/** Deep equality; numbers by their value, objects whatever the order of their members. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** Equal for equal JSON values. */
export function canonical(value: unknown): string {
  if (typeof value === "number") return sameDecimal(String(value)) ?? "?";
  if (value instanceof Digits) return sameDecimal(value.text) ?? "?";
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
    return `{${members.sort().join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
