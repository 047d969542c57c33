import type { ColumnDescription } from "./stream_description.ts";

/*
 * Which values may stand in a document that is passed around. Numbers, dates, flags and identifiers may; of texts only
 * those that are labels, one word each. A column that may name a person, a way to reach one or what somebody wrote shows
 * nothing, whatever its values look like; its name tells, or its description does.
 */

const personal =
  /(^|_)(names?|filename|label|e?mails?|phone|fax|address(ee)?|street|city|zip|sender|recipients?|cc|users?|persons?|people|party|contacts?|speaker|assigned|buyer|requester|approver|actor|owner|by|ip|login|website|domain)(_|$)/;
const written =
  /(^|_)(extracted|title|subject|summary|description|text|body|html|preview|notes?|remarks?|reason|reasoning|message|quote|comment|justification|explanation|instructions|headline|advice|error|details?|freetext|fact|values?)(_|$)/;
const secret =
  /(^|_)(key|token|secret|password|credentials?|signature|webhook|urls?|uri|link|hash|sha256|fingerprint)(_|$)/;
const toldPersonal =
  /\b(who|whom|people|persons?|users?|contacts?|words|remarks|address(es)?|telephone|e-mail address)\b/i;

const LONGEST = 40;
const SHOWN = 3;
/** A word as programs write them: no blanks, and nothing that mail addresses or web addresses are made with. */
const word = /^(?!.*\/\/)[\p{Letter}\p{Number}][\p{Letter}\p{Number}_./:+-]*$/u;

/** A few of a column's values, as text, distinct and in their order; none where they may not be shown. */
export function examplesOf(
  column: Pick<ColumnDescription, "name" | "kind" | "description" | "personal" | "treatment">,
  values: readonly unknown[],
  redact: (text: string) => string,
): readonly string[] {
  const { kind } = column;
  if (!mayShow(column)) return [];
  const texts = values
    .filter(value => value !== null && value !== undefined)
    .map(value => shortened(String(value), kind));
  const allowed = texts.filter(text =>
    kind !== "text" && kind !== "id" ? true : text.length <= LONGEST && word.test(text),
  );
  return [...new Set(allowed)].filter(text => redact(text) === text).slice(0, SHOWN);
}

/** Whether a column's values can be shown at all, by what it is. */
export function mayShow(
  column: Pick<ColumnDescription, "name" | "kind" | "description" | "personal" | "treatment">,
): boolean {
  const { name, kind, description, treatment } = column;
  if (kind === null || kind === "json" || column.personal || treatment !== null) return false;
  if (kind !== "text" && kind !== "id") return true;
  return ![secret, personal, written].some(sort => sort.test(name)) && !toldPersonal.test(description);
}

/** `1250.500000000` → `1250.5`: nine places are how amounts are stored, not how they are read. */
function shortened(text: string, kind: ColumnDescription["kind"]): string {
  if (kind === "moment") return text.replace(/\.\d+(?=[+-]|$)/, "");
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.0+$|(?<!0)0+$/, "") : text;
}
