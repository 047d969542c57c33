import { randomUUID } from "node:crypto";
import { Numeral } from "../numeral.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;

const grammar = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * JSON to values, each numeral that a double cannot hold as a `Numeral`. These are parsed as marked texts and replaced step by step: a reviver would
 * call itself for every level and run out of stack at some thousand.
 */
export function parseExactly(text: string): unknown {
  const mark = randomUUID();
  const kept: Numeral[] = [];
  let marked = "";
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === MINUS || isDigit(code)) {
      const end = numeralEnd(text, at);
      const source = text.slice(at, end);
      if (grammar.test(source) && !sameNumber(source, Number(source)) && !isName(text, end)) {
        marked += `${text.slice(from, at)}"${mark}${kept.length}"`;
        kept.push(new Numeral(source));
        from = end;
      }
      at = end;
    } else at++;
  }
  const value: unknown = JSON.parse(marked + text.slice(from));
  return kept.length === 0 ? value : restored(value, mark, kept);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Behind the quote that ends a string; the text's end where there is none. */
export function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function numeralEnd(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); ; code = text.charCodeAt(++at)) {
    const inside = isDigit(code) || code === MINUS || code === 43 || code === 46 || code === 69 || code === 101;
    if (!inside) return at;
  }
}

/** Whether what ends here is followed by a colon: no JSON, and it must not become any. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= 32) at++;
  return text[at] === ":";
}

function restored(value: unknown, mark: string, kept: readonly Numeral[]): unknown {
  const whole = { value };
  const waiting: object[] = [whole];
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    for (const name of Object.keys(holder)) {
      const member = (holder as Record<string, unknown>)[name];
      if (typeof member === "object" && member !== null) waiting.push(member);
      else if (typeof member === "string" && member.startsWith(mark))
        (holder as Record<string, unknown>)[name] = kept[Number(member.slice(mark.length))];
    }
  }
  return whole.value;
}

/** Whether the shortest text of a double means the same number as the JSON numeral it was read from; 1.0 and 1e0 are 1. */
export function sameNumber(source: string, value: number): boolean {
  if (String(value) === source) return true;
  return Number.isFinite(value) && canonical(source) === canonical(String(value));
}

/** Sign, significant digits and power of ten of a numeral: equal for numerals that mean the same number. */
function canonical(numeral: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(numeral) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === 48) end--;
  if (end === 0) return "0";
  return `${sign}${all.slice(0, end)}e${Number(exponent) - fraction.length + all.length - end}`;
}
