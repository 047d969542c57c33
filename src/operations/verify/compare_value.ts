import type { Kind } from "../../catalog/columns.ts";
import { decimal } from "../../rows/decimal.ts";
import { canonicalJson } from "../../rows/json.ts";
import { parseExactly } from "../../source/exact_json.ts";

/** A value of a row, as text; null is NULL. */
export type Value = string | null;

/** Whether two texts mean the same value of a kind: both the encoder's, or one of a database that writes it in its own way. */
export function isSame(kind: Kind, a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return canonical(kind, a) === canonical(kind, b);
}

/** One text for each value of a kind; what is no value of it is left as it is. */
export function canonical(kind: Kind, text: string): string {
  switch (kind) {
    case "money":
    case "quantity":
    case "percent": {
      const read = decimal(text, PLACES, INTEGER_DIGITS);
      return read === undefined || read === "range" ? text : read.text;
    }
    case "score":
      return String(Number(text) + 0);
    case "moment":
      return text.replace(moment, (_all, second: string, fraction = "") => `${second}.${fraction.padEnd(6, "0")}`);
    case "json":
      return canonicalText(text);
    default:
      return text;
  }
}

const PLACES = 9;
const INTEGER_DIGITS = 29;

/** As the encoder writes it; databases are asked for the form without a zone. */
const moment = /^(\S+ \d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(?:\+00)?$/;

function canonicalText(text: string): string {
  try {
    return canonicalJson(parseExactly(text)).text;
  } catch {
    return text;
  }
}
