import type { Column, Kind } from "../catalog/columns.ts";
import { Numeral } from "../numeral.ts";
import { isConfidential } from "./confidential.ts";
import { canonicalJson, storable } from "./json.ts";

export type JsonType = "string" | "number" | "boolean" | "null" | "object" | "array";

/**
 * One way in which rows of a table were not as the documents say: a field that is `new`, a column's `type` that is unusual
 * for its kind, or how many `more` new fields there were than are told one by one. `column` is a column's name, or the
 * field's path below the row, dotted.
 */
export interface Drift {
  readonly table: string;
  readonly column: string;
  readonly sort: "new" | "type" | "more";
  readonly type: string;
  readonly example: string;
  rows: number;
}

/** Which documented fields a table's rows had: columns and arrays that stood in every row, and in none. */
export interface Presence {
  readonly rows: number;
  readonly always: readonly string[];
  readonly never: readonly string[];
}

/** New fields that are told one by one, a table: keys that are data must not fill the database. */
export const TOLD_FIELDS = 100;
/** How many of the others are told apart in order to be counted. */
const COUNTED_FIELDS = 10_000;
const LONGEST_NAME = 200;
const LONGEST_EXAMPLE = 100;

/** Replaces what is secret in a text. */
export type Redact = (text: string) => string;

/** Notes how the rows of one table differ from the documents. */
export class TableDrift {
  readonly #table: string;
  readonly #redact: Redact | undefined;
  #fields = new Map<string, Drift[]>();
  #types = new Map<string, Drift[]>();
  readonly #told = new Set<string>();
  readonly #others = new Set<string>();
  #othersTaken = 0;

  constructor(table: string, redact?: Redact) {
    this.#table = table;
    this.#redact = redact;
  }

  /** A field that no column stands for; `name` as `fieldName` gives it. */
  newField(name: string, value: unknown): void {
    let seen = this.#fields.get(name);
    if (seen === undefined) {
      if (!this.#tells(name)) return;
      seen = [];
      this.#fields.set(name, seen);
    }
    this.#count(seen, name, "new", value);
  }

  /** A value of a JSON type that is unusual for its column. */
  otherType(name: string, value: unknown): void {
    let seen = this.#types.get(name);
    if (seen === undefined) {
      seen = [];
      this.#types.set(name, seen);
    }
    this.#count(seen, name, "type", value);
  }

  #count(seen: Drift[], name: string, sort: Drift["sort"], value: unknown): void {
    const type = jsonType(value);
    for (const known of seen) {
      if (known.type === type) {
        known.rows++;
        return;
      }
    }
    const isSecret = isConfidential(name.slice(name.lastIndexOf(".") + 1));
    const shown = isSecret ? "" : exampleOf(value, this.#redact, LONGEST_EXAMPLE);
    seen.push({ table: this.#table, column: name, sort, type, example: shown, rows: 1 });
  }

  #tells(name: string): boolean {
    if (this.#told.has(name)) return true;
    if (this.#told.size < TOLD_FIELDS) {
      this.#told.add(name);
      return true;
    }
    if (this.#others.size < COUNTED_FIELDS) this.#others.add(name);
    return false;
  }

  take(): Drift[] {
    const taken = [...this.#fields.values(), ...this.#types.values()].flat();
    const more = this.#others.size - this.#othersTaken;
    if (more > 0) taken.push({ table: this.#table, column: "*", sort: "more", type: "", example: "", rows: more });
    this.#othersTaken = this.#others.size;
    this.#fields = new Map();
    this.#types = new Map();
    return taken;
  }
}

/** The beginning of a value as JSON; what it holds of secrets is left out, and redacted while it is whole: nobody knows half of one. */
export function exampleOf(value: unknown, redact: Redact = text => text, length = 200): string {
  try {
    const text = value === undefined ? "" : redact(canonicalJson(value).text).slice(0, length);
    // The cut may have gone through a pair of surrogates.
    return text.isWellFormed() ? text : text.slice(0, -1);
  } catch {
    return "(a value that no JSON reader holds)";
  }
}

/** A field's name as it is told: cut, and quoted where it is more than letters, digits, `_` and `-`. */
export function fieldName(field: string): string {
  if (field.length <= LONGEST_NAME && /^[\w-]+$/.test(field)) return field;
  const cut = field.length > LONGEST_NAME ? `${field.slice(0, LONGEST_NAME)}…` : field;
  return JSON.stringify(storable(cut));
}

export function jsonType(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof Numeral) return "number";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

// Numbers of every kind come as numerals and as strings: the documents say so.
const usual: Readonly<Record<Exclude<Kind, "json">, readonly JsonType[]>> = {
  id: ["string", "number"],
  text: ["string"],
  money: ["number", "string"],
  quantity: ["number", "string"],
  percent: ["number", "string"],
  count: ["number", "string"],
  score: ["number", "string"],
  flag: ["boolean"],
  date: ["string"],
  moment: ["string"],
};

/** Whether values of this column usually come as this type of JSON. */
export function isUsual({ kind, holds, added }: Column, type: JsonType): boolean {
  if (kind === "json") return holds === undefined || holds === type;
  if (added === true) return type === "string" || type === "number" || type === "boolean";
  return usual[kind].includes(type);
}

/** Which documented fields the rows counted so far had. `absent` counts, field by field, the rows without it. */
export function presenceOf(rows: number, names: readonly (string | undefined)[], absent: Uint32Array): Presence {
  const which = (wanted: number) =>
    names.filter((name, i): name is string => name !== undefined && absent[i] === wanted);
  return { rows, always: which(0), never: rows === 0 ? [] : which(rows) };
}

/** What both of two parts of a scan had. */
export function mergePresence(a: Presence | undefined, b: Presence): Presence {
  if (a === undefined || a.rows === 0) return b;
  if (b.rows === 0) return a;
  return {
    rows: a.rows + b.rows,
    always: a.always.filter(name => b.always.includes(name)),
    never: a.never.filter(name => b.never.includes(name)),
  };
}

/** Adds up what is the same drift. */
export function mergeDrift(known: readonly Drift[], fresh: readonly Drift[]): Drift[] {
  if (fresh.length === 0) return [...known];
  const merged = new Map(known.map(drift => [identityOf(drift), { ...drift }]));
  for (const drift of fresh) {
    const same = merged.get(identityOf(drift));
    if (same === undefined) merged.set(identityOf(drift), { ...drift });
    else same.rows += drift.rows;
  }
  return [...merged.values()];
}

const identityOf = ({ table, column, sort, type }: Drift): string => `${table} ${sort} ${type} ${column}`;
