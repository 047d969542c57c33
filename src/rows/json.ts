import { Numeral } from "../numeral.ts";
import { isConfidential } from "./confidential.ts";
import { plainNumeral } from "./decimal.ts";

/** Deeper nesting than this neither database is sure to read back. */
const DEEPEST = 500;

/** A JSON value as text: keys sorted, numbers with all their digits. `noted` says what had to be escaped to be storable. */
export interface CanonicalJson {
  readonly text: string;
  readonly noted: string | undefined;
}

/** Equal values give equal text; fields that hold secrets are left out. Throws RangeError when the nesting is too deep. `depth` is how deep in a larger value it will stand. */
export function canonicalJson(value: unknown, depth = 0): CanonicalJson {
  const notes = { noted: undefined as string | undefined };
  return { text: write(value, notes, depth), noted: notes.noted };
}

function write(value: unknown, notes: { noted: string | undefined }, depth: number): string {
  if (depth > DEEPEST) throw new RangeError(`nested more than ${DEEPEST} levels deep`);
  if (value === null || value === undefined) return "null";
  switch (typeof value) {
    case "string":
      return quote(value, notes);
    case "number":
      if (!Number.isFinite(value)) throw new RangeError("a number beyond what JSON readers hold");
      // DuckDB writes 1e+21 as 1e21 when it takes a field out of a value: there is one form, lest a row look changed.
      return Object.is(value, -0) ? "0" : String(value).replace("e+", "e");
    case "boolean":
      return value ? "true" : "false";
    default:
  }
  if (value instanceof Numeral) {
    const text = plainNumeral(value.text);
    if (text === undefined) throw new RangeError("a number beyond what JSON readers hold");
    return text;
  }
  if (Array.isArray(value)) {
    let text = "[";
    for (let i = 0; i < value.length; i++) text += (i === 0 ? "" : ",") + write(value[i], notes, depth + 1);
    return `${text}]`;
  }
  const object = value as Record<string, unknown>;
  let text = "{";
  for (const key of Object.keys(object).sort()) {
    if (isConfidential(key)) continue;
    text += `${text === "{" ? "" : ","}${quote(key, notes)}:${write(object[key], notes, depth + 1)}`;
  }
  return `${text}}`;
}

/** PostgreSQL's jsonb holds neither NUL nor half a surrogate pair: they stay readable as a doubled escape. */
function quote(text: string, notes: { noted: string | undefined }): string {
  if (isStorable(text)) return JSON.stringify(text);
  notes.noted = "holds a NUL or half a surrogate pair, written as an escape";
  return JSON.stringify(storable(text));
}

/** A text with what no database holds written as an escape. */
export function storable(text: string): string {
  return text.replace(/\0/g, "\\u0000").replace(loneSurrogate, half => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** JSON text of values that were made storable, as they came: its escapes are what they stand for again. */
export function unescapedJson(text: string): string {
  return text.replace(/\\\\u(0000|d[89a-f][0-9a-f]{2})/g, "\\u$1");
}

const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Whether both databases can hold this text: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
