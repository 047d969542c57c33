import { ByteSearch } from "../../byte_search.ts";
import { isConfidential, LAST_LETTERS } from "../../rows/confidential.ts";
import { isBareSecret, isFieldName, type Redactor } from "../../secrets.ts";
import { stringEnd } from "../exact_json.ts";

const mask = "•••";

// What a name that is confidential holds, plain or escaped; most answers are done with after one look.
const suspect = /secret|passw|passphrase|token|key|\\u00[3-7]/i;

const nameEnds = new ByteSearch(LAST_LETTERS.map(letters => `${letters}"`));
const BACKSLASH = 92;

/** Whether JSON stays as it is, byte for byte, when it is cleaned: sure where it says so, and a tenth of the work. */
export function isClean(json: Buffer, redact: Redactor): boolean {
  const isPlain = json[0] !== 0xef && !json.includes(10) && !json.includes(13) && !json.includes("\\u");
  return isPlain && !mayHoldConfidential(json) && redact.leaves?.(json) === true;
}

/** Nothing is escaped but signs: a quote behind a letter ends a string. */
function mayHoldConfidential(json: Buffer): boolean {
  for (let at = nameEnds.find(json); at >= 0; at = nameEnds.find(json, at + 1)) {
    const end = json.indexOf('"', at);
    const colon = json.toString("latin1", end + 1, end + 101).trimStart();
    if (colon !== "" && !colon.startsWith(":")) continue;
    const begin = json.lastIndexOf('"', end - 1);
    // A name with a quote in it, or with letters that are none of ASCII, is not looked into here.
    const name = json.toString("latin1", begin + 1, end);
    if (json[begin - 1] === BACKSLASH || !/^[\w ]+$/.test(name) || isConfidential(name)) return true;
  }
  return false;
}

/** JSON text on one line, numerals digit for digit, without confidential fields and with secrets replaced. Undefined where a secret stands across values. */
export function cleaned(json: string, redact: (text: string) => string): string | undefined {
  // Strings of JSON hold no bare line break, so each one stands between values.
  const line = json.replace(/[\r\n]/g, " ");
  const kept = suspect.test(line) ? withoutConfidential(line) : line;
  if (redact(kept) === kept) return kept;
  const redacted = eachValue(kept, (value, isName) =>
    isName && isFieldName(value, redact) ? value : redactedValue(value, redact),
  );
  return redact(redacted) === redacted ? redacted : undefined;
}

function withoutConfidential(json: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', at)) {
    const end = stringEnd(json, at);
    const colon = afterSpace(json, end);
    if (json[colon] === ":" && isConfidential(textOf(json.slice(at, end)))) {
      parts.push(json.slice(from, at));
      const next = afterSpace(json, valueEnd(json, afterSpace(json, colon + 1)));
      if (json[next] === ",") from = next + 1;
      else {
        dropComma(parts);
        from = next;
      }
      at = from;
    } else at = end;
  }
  return from === 0 ? json : parts.join("") + json.slice(from);
}

/** The last member of an object is left out: the comma before it goes too. */
function dropComma(parts: string[]): void {
  while (parts.length > 1 && parts.at(-1)!.trim() === "") parts.pop();
  parts.push((parts.pop() ?? "").replace(/,\s*$/, ""));
}

const textOf = (string: string): string =>
  string.includes("\\") ? (JSON.parse(string) as string) : string.slice(1, -1);

function redactedValue(value: string, redact: (text: string) => string): string {
  if (!value.startsWith('"')) return isBareSecret(value, redact) ? JSON.stringify(mask) : value;
  const text = textOf(value);
  const clean = redact(text);
  if (clean !== text) return JSON.stringify(clean);
  return redact(value) === value ? value : JSON.stringify(mask);
}

/** The text with each string, name, numeral and literal passed through `change`. */
function eachValue(json: string, change: (value: string, isName: boolean) => string): string {
  let text = "";
  for (let at = 0; at < json.length; ) {
    const isStructure = structure.includes(json[at]!);
    const end = isStructure ? at + 1 : json[at] === '"' ? stringEnd(json, at) : bareEnd(json, at);
    const value = json.slice(at, end);
    text += isStructure ? value : change(value, json[afterSpace(json, end)] === ":");
    at = end;
  }
  return text;
}

const structure = "{}[]:, \t";

function bareEnd(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && json[end] !== '"' && !structure.includes(json[end]!)) end++;
  return end;
}

function valueEnd(json: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const character = json[at]!;
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    const isValue = !structure.includes(character);
    at = character === '"' ? stringEnd(json, at) : isValue ? bareEnd(json, at) : at + 1;
  } while (depth > 0 && at < json.length);
  return at;
}

function afterSpace(json: string, start: number): number {
  let at = start;
  while (json[at] === " " || json[at] === "\t") at++;
  return at;
}
