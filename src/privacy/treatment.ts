import { createHmac } from "node:crypto";
import type { Treatment } from "../catalog/columns.ts";
import { textOf } from "../rows/encode_value.ts";
import { canonicalJson, storable } from "../rows/json.ts";

/** What becomes of a value under a treatment; undefined: it is left out. `field`: what the service calls it, where that is known. */
export type Treat = (value: unknown, treatment: Treatment, field?: string) => unknown;

const SHOWN = 4;
const MASK = "•••";

/**
 * The treatments. A hash is the HMAC-SHA-256 of the value's text under `key`, in hexadecimal: equal values of whatever
 * table have the same one. NULL stays NULL. A value that is hashed or masked and no text is taken as its canonical JSON.
 */
export function createTreat(key: string | undefined): Treat {
  return (value, treatment) => {
    if (value === null || value === undefined) return value;
    if (treatment === "exclude") return undefined;
    const text = plainText(value);
    if (text === undefined) return undefined;
    return treatment === "mask" ? masked(text) : hashed(text, key);
  };
}

/** Tells keys apart without telling anything of them. */
export function keyIdOf(key: string): string {
  return createHmac("sha256", key).update("the key's name").digest("hex").slice(0, 16);
}

function hashed(text: string, key: string | undefined): string {
  if (key === undefined) throw new TypeError("a column is hashed, but there is no key");
  return createHmac("sha256", key).update(storable(text), "utf8").digest("hex");
}

/** The last four characters of a text of more than eight; of an e-mail address its first letter and its domain. */
function masked(text: string): string {
  const at = text.lastIndexOf("@");
  if (at > 0 && !/\s/.test(text)) return `${[...text][0]}${MASK}${text.slice(at)}`;
  const letters = [...text];
  return letters.length > 2 * SHOWN ? `${MASK}${letters.slice(-SHOWN).join("")}` : MASK;
}

/** The letters of a value as a text column would hold it; undefined for one that no JSON reader holds. */
function plainText(value: unknown): string | undefined {
  const text = typeof value === "boolean" ? String(value) : textOf(value);
  if (text !== undefined) return text;
  try {
    return canonicalJson(value).text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
