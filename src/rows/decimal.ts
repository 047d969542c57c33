/** The canonical text of a decimal: no exponent, no needless zeros, `0` for every zero. */
export interface Decimal {
  readonly text: string;
  /** Whether digits past the last kept place were rounded away (half away from zero). */
  readonly rounded: boolean;
  readonly integerDigits: number;
  readonly fractionDigits: number;
}

const numeral = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,9}))?$/;
/** Beyond this many places a numeral cannot be a figure of a purchase; expanding it would only cost memory. */
const EXPONENT_LIMIT = 2_000;

/** Whether `text` is a number, however large. */
export function isNumeral(text: string): boolean {
  return numeral.test(text);
}

/** `text` as a decimal with at most `places` after the point; undefined when it isn't a number at all, "range" when it has too many digits before it. */
export function decimal(text: string, places: number, maxIntegerDigits: number): Decimal | "range" | undefined {
  const match = numeral.exec(text);
  if (match === null) return undefined;
  const exponent = match[5] === undefined ? 0 : Number(match[5]);
  const whole = match[2] ?? "";
  const fraction = match[3] ?? match[4] ?? "";
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return { text: "0", rounded: false, integerDigits: 1, fractionDigits: 0 };
  // Where the point stands in `digits`: negative when zeros have to be put before them.
  const point = digits.length - fraction.length + exponent;
  if (point > maxIntegerDigits) return "range";
  if (point < -EXPONENT_LIMIT) return { text: "0", rounded: true, integerDigits: 1, fractionDigits: 0 };
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits.padEnd(point, "0");
  const split = point <= 0 ? 1 : point;
  const kept = padded.slice(0, split + places);
  const rest = padded.slice(split + places);
  const up = rest !== "" && rest.charCodeAt(0) >= 53;
  const all = up ? increment(kept) : kept;
  const integer = all.slice(0, all.length - (kept.length - split)).replace(/^0+(?=\d)/, "");
  const decimals = all.slice(all.length - (kept.length - split)).replace(/(?<!0)0+$/, "");
  if (integer.length > maxIntegerDigits) return "range";
  const zero = integer === "0" && decimals === "";
  const sign = match[1] === "-" && !zero ? "-" : "";
  return {
    text: decimals === "" ? sign + integer : `${sign}${integer}.${decimals}`,
    rounded: /[1-9]/.test(rest),
    integerDigits: integer.length,
    fractionDigits: decimals.length,
  };
}

function increment(digits: string): string {
  const nines = /(?<!9)9*$/.exec(digits)![0].length;
  const head = digits.slice(0, digits.length - nines);
  const tail = "0".repeat(nines);
  return head === ""
    ? `1${tail}`
    : head.slice(0, -1) + String.fromCharCode(head.charCodeAt(head.length - 1) + 1) + tail;
}

/** A numeral with every digit it has, without exponent: what an id or a text is when it arrives as a number (`1.0` → `1`). Undefined beyond 2,000 places. */
export function plainNumeral(text: string): string | undefined {
  const result = decimal(text, EXPONENT_LIMIT, EXPONENT_LIMIT);
  return result === undefined || result === "range" || result.rounded ? undefined : result.text;
}
