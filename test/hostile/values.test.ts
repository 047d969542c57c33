import { describe, expect, test } from "vitest";
import type { Kind } from "../../src/catalog/columns.ts";
import { agrees, Digits, expectedValue, inWords, isUnfit, parseExactly, sameJson } from "../support/expected.ts";
import { eitherWarehouse } from "../support/warehouse.ts";
import { outside } from "./outside.ts";
import { hostile, pageOf } from "./service.ts";
import { things } from "./things.ts";

type Row = Record<string, unknown>;

const quote = (text: string) => JSON.stringify(text);

const texts = [
  "",
  " ",
  "NULL",
  "null",
  "\\N",
  "\\.",
  ".",
  "\\",
  "a\n\\.\nb",
  "\r",
  "\n",
  "\r\n",
  'a "quote", a comma\r\nand a line',
  '"',
  '""',
  ",",
  "'; drop table procurement.things; --",
  "\t\v\f\b\u0001\u001b[2J\u007f\u0085\u2028",
  "\ufeffbom",
  "\u202eright to left\u202c שלום عربي",
  "e\u0301\u0327 q\u0307\u0323",
  "👩‍👩‍👧‍👦 \u{10ffff} \uffff \ufffe",
  "{}",
  "$1",
  "%s",
  "=1+1",
];
/** What no database holds as text. */
const unstorable = ["\0", "a\0b", "\ud800", "x\udfffy", "\udc00\ud800"];

const digits400 = "1234567890".repeat(40);
const numerals = [
  "0",
  "-0",
  "-0.0",
  "0e0",
  digits400,
  `-${digits400}`,
  `0.${digits400}`,
  `${digits400}.${digits400}`,
  "1e400",
  "-1e400",
  "1E+400",
  "1e-400",
  "1e1999",
  "1e-1999",
  "5e-324",
  "4.9e-324",
  "1.7976931348623157e308",
  "1.7976931348623159e308",
  "0.30000000000000004",
  "0.1",
  "0.1000000000000000055511151231257827",
  "12345678901234567890123456789.123456789",
  "99999999999999999999999999999.999999999",
  "99999999999999999999999999999.9999999995",
  "100000000000000000000000000000",
  "12345678901234567890123456789012345678",
  "0.0000000005",
  "-0.00000000049999999999999999999",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "-9223372036854775807",
  "-9223372036854775809",
  "9223372036854775807.0",
  "18446744073709551616",
  "1.5",
  "1e2",
  "1.0",
];
const odd = ["true", "false", '"true"', '"f"', '"yes"', "1", "0", "{}", "[]", "[1]", '{"a":1}', "null"];

/** Fields that are called like something of ours, of JavaScript's or of SQL's. */
const names = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "length",
  '"; drop table procurement.things; --',
  "$",
  ".",
  "a.b",
  "",
  " ",
  "PO_Number",
  "ID",
  "_extra",
  "_problems",
  "_company",
  "_index",
  "_changed_at",
  "_deleted_at",
  "_seq",
  "\ufeff",
  "\n",
  "e\u0301",
  "é",
];

const kinds: readonly (readonly [string, Kind])[] = [
  ["text", "text"],
  ["money", "money"],
  ["count", "count"],
  ["score", "score"],
  ["json", "json"],
];

/** A row's text and, by column, what the table must hold of it; null is one that must be a problem too. */
interface Sent {
  readonly id: string;
  readonly json: string;
  readonly wanted: Readonly<Record<string, { readonly kind: Kind; readonly value: unknown; readonly raw: unknown }>>;
  readonly extra?: string;
}

const expected = (kind: Kind, raw: unknown): unknown => {
  const value = expectedValue(kind, raw);
  if (kind === "count" && typeof value === "bigint" && (value >= 2n ** 63n || value <= -(2n ** 63n))) return null;
  if (kind === "score" && typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
  return isUnfit(value) ? null : value;
};

function sent(): Sent[] {
  const rows: Sent[] = [];
  const add = (fields: string, wanted: Sent["wanted"], id = `r${rows.length}`, extra?: string) => {
    const json = `{"id":${/^r\d/.test(id) ? quote(id) : id}${fields === "" ? "" : `,${fields}`}}`;
    rows.push({ id, json, wanted, ...(extra === undefined ? {} : { extra }) });
  };
  const each = (source: string) => {
    const raw = parseExactly(source);
    add(
      kinds.map(([name]) => `${quote(name)}:${source}`).join(","),
      Object.fromEntries(kinds.map(([name, kind]) => [name, { kind, value: expected(kind, raw), raw }])),
      undefined,
      undefined,
    );
  };
  for (const text of texts) each(quote(text));
  for (const text of unstorable)
    add(`"text":${quote(text)},"day":${quote(text)}`, {
      text: { kind: "text", value: null, raw: text },
      day: { kind: "date", value: null, raw: text },
    });
  for (const numeral of numerals) {
    each(numeral);
    each(quote(numeral));
  }
  for (const value of odd) {
    each(value);
    const raw = parseExactly(value);
    for (const [name, kind] of [
      ["flag", "flag"],
      ["day", "date"],
      ["moment", "moment"],
    ] as const)
      add(`${quote(name)}:${value}`, { [name]: { kind, value: expected(kind, raw), raw } });
  }
  for (const name of names) {
    const object = `{${quote(name)}:{${quote(name)}:[0.30000000000000001,null]}}`;
    const raw = parseExactly(object);
    add(
      `"json":${object},${object.slice(1, -1)}`,
      { json: { kind: "json", value: expected("json", raw), raw } },
      undefined,
      object,
    );
  }
  return rows;
}

/** Rows in a page of their own, so that a numeral which needs the exact parser is met on pages with and without another one. */
function pagesOf(rows: readonly Sent[]): string[][] {
  const pages: string[][] = [];
  for (let at = 0; at < rows.length; at += 9) pages.push(rows.slice(at, at + 9).map(row => row.json));
  return pages;
}

const columns = things.tables.main.columns;

describe.each(eitherWarehouse)("$name", ({ make }) => {
  test("hostile values are loaded as they are, or are NULL and among the problems with what came", async () => {
    const rows = sent();
    const pages = pagesOf(rows);
    const place = await hostile(make, [things], {
      "/things": ({ query }) => {
        const at = Number(query.get("cursor") ?? 0);
        return pageOf(pages[at]!, at + 1 < pages.length ? String(at + 1) : null);
      },
    });
    const report = await place.run();
    expect(report.errors).toEqual([]);
    expect(report.streams[0]).toMatchObject({ inserted: rows.length, rejected: 0 });
    // DuckDB's client for JavaScript drops a byte order mark at the beginning of a text: here it never stands there.
    const words = columns.map(({ kind, name }) =>
      kind === "text" ? `'|' || "${name}" as "${name}"` : inWords(place.warehouse.name, kind, name),
    );
    const found = await outside(
      place.warehouse,
      `select ${words.join(", ")}, cast(_extra as varchar) as _extra, cast(_problems as varchar) as _problems from procurement.things`,
    );
    const byId = new Map(found.map(row => [row["id"], row]));
    const wrong = rows.flatMap(row => differences(row, byId.get(row.id)));
    expect(wrong.slice(0, 20)).toEqual([]);
    expect(byId.size).toBe(rows.length);

    const second = await place.run();
    expect(second.streams[0]).toMatchObject({ inserted: 0, updated: 0, unchanged: rows.length });
  });
});

function differences({ json, wanted, extra }: Sent, row: Row | undefined): string[] {
  if (row === undefined) return [`missing: ${json.slice(0, 200)}`];
  const wrong: string[] = [];
  const say = (what: string) =>
    wrong.push(`${what} of ${json.slice(0, 120)}, got ${JSON.stringify(row[what] ?? row["_problems"])?.slice(0, 300)}`);
  const problems = (row["_problems"] === null ? {} : parseExactly(String(row["_problems"]))) as Record<string, Row>;
  for (const [name, { kind, value, raw }] of Object.entries(wanted)) {
    const found = kind === "text" && row[name] !== null ? String(row[name]).slice(1) : row[name];
    if (!agrees(kind, value, found)) say(name);
    // An empty text says no more than NULL does, where it is no text that is wanted.
    const lost = value === null && raw !== null && (raw !== "" || kind === "flag");
    if (Object.hasOwn(problems, name) !== lost) say(`a problem of ${name}`);
    const changed = typeof raw === "string" && (raw.includes("\0") || !raw.isWellFormed());
    const tooFar = raw instanceof Digits && /e-?\d{9}/.test(raw.text);
    if (lost && !changed && !sameJson(problems[name]?.["value"], tooFar ? raw.text : raw))
      say(`the problem of ${name}`);
  }
  const kept = row["_extra"] === null ? undefined : parseExactly(String(row["_extra"]));
  if (!sameJson(kept, extra === undefined ? undefined : parseExactly(extra))) say("_extra");
  return wrong;
}
