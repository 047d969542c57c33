import { date, flag, id, json, lineId, moment, personal, record, table, text } from "../../schemas/fields.ts";
import { defineStream, detail, feed, list, type Stream, scan } from "../../src/catalog/stream.ts";
import type { Instead, Passing } from "../support/interposed.ts";
import { instead, noSuch, page } from "../sync/answers.ts";

/* A small service full of people: in rows, child rows, nested objects, JSON, fields that nobody documented, rows without a key. */

const stream = (facts: Omit<Stream, "tables" | "preset">): Stream => defineStream({ ...facts, preset: "core" });

const people = stream({
  name: "people",
  path: "/people",
  mode: scan({ rows: "people", total: "total", confirm: "/people/{person}" }),
  row: record("People.", {
    person: id().describe("Which."),
    email: personal(text()).nullable().describe("Where to write to."),
    full_name: personal(text()).nullable().describe("What to call them."),
    desk: text().nullable().describe("Where they sit."),
    born: personal(date()).nullable().describe("When they were born."),
    is_in: flag().nullable().describe("Whether they are there."),
    contacts: personal(json()).nullable().describe("How to reach them otherwise."),
    notes: json().nullable().describe("Whatever there is."),
  }),
  key: ["person"],
});
const messages = stream({
  name: "messages",
  path: "/people/{person}",
  mode: detail({ of: "people" }),
  row: record("What people wrote.", {
    person: id().describe("Which."),
    sender: record("Who.", { email: personal(text()).nullable().describe("Whose.") }),
    lines: table("message_lines", "Lines.", {
      recipient: personal(text()).nullable().describe("To whom."),
      words: personal(text()).nullable().describe("What."),
      number: lineId(text()).nullable().describe("Which line."),
    }),
  }),
  key: ["person"],
});
const visits = stream({
  name: "visits",
  path: "/visits",
  mode: feed({
    rows: "visits",
    highWaterColumn: "came",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    fullScanPages: 0,
    fullScanEveryDays: 30,
    lookbackDays: 1,
  }),
  row: record("Visits.", {
    visit: id().describe("Which."),
    came: moment().nullable().describe("When."),
    email: personal(text()).nullable().describe("Who."),
  }),
  key: ["visit"],
});
const names = stream({
  name: "names",
  path: "/names",
  mode: list({ rows: "", scalar: "name" }),
  row: record("Names.", { name: personal(text()).nullable().describe("A name.") }),
  key: ["_index"],
});
export const office: readonly Stream[] = [people, visits, names, messages];

export type Row = Record<string, unknown>;

/** What the office has now. */
export interface Stock {
  readonly people: Row[];
  readonly visits: Row[];
}

/** Everything that must not be found is called like this somewhere. */
export const SECRETS = ["ada.lovelace@", "Ada Lovelace", "+44 20 7946", "who-is-this@", "a private word", "1815-12-1"];

const COUNT = 30;
const mail = (n: number): string => `ada.lovelace@${n % 10}.example`;

export function stocked(): Stock {
  const born = (n: number) => (n === 1 ? "10.12.1815" : `1815-12-1${n % 10}`);
  return {
    people: [
      ...Array.from({ length: COUNT }, (_, n) => ({
        person: `P${n}`,
        email: n === 4 ? { address: mail(n) } : mail(n),
        full_name: n === 5 ? null : `Ada Lovelace ${n}`,
        desk: `desk ${n}`,
        born: born(n),
        is_in: n === 3 ? "yes" : true,
        contacts: { phone: `+44 20 7946 ${n}`, size: JSON.rawJSON("12345678901234567890.125") },
        notes: { of: "the office", nested: [{ mobile_number: `+44 20 7946 ${n}` }] },
        other_email: `who-is-this@${n}.example`,
        sign: n,
      })),
      { email: "who-is-this@nokey.example", full_name: "Ada Lovelace without a key", desk: "none" },
    ],
    visits: Array.from({ length: 5 }, (_, n) => ({
      visit: n,
      came: `2026-03-0${n + 1}T10:00:00Z`,
      email: mail(n),
    })),
  };
}

export function officeAnswer(stock: Stock, passing: Passing): Instead | undefined {
  const { path, query } = passing;
  const rows = (name: string, all: readonly Row[], more: Row = {}): Instead => {
    const from = Number(query.get("cursor") ?? 0);
    return page({ ...more, [name]: all.slice(from, from + 20) }, from + 20 < all.length ? String(from + 20) : null);
  };
  if (path === "/people") return rows("people", stock.people, { total: stock.people.length });
  if (path === "/visits") {
    const from = query.get("date_from") ?? "";
    return rows(
      "visits",
      stock.visits.filter(({ came }) => String(came) >= from),
    );
  }
  if (path === "/names") return instead(200, { data: ["Ada Lovelace", "Ada Lovelace II"] });
  const person = stock.people.find(row => `/people/${String(row["person"])}` === path);
  if (person === undefined) return noSuch;
  const n = Number(String(person["person"]).slice(1));
  return instead(200, {
    data: {
      person: person["person"],
      sender: n === 7 ? `Ada Lovelace <${mail(n)}>` : { email: mail(n), phone: "+44 20 7946 0" },
      lines: Array.from({ length: 2 }, (_, line) => ({
        recipient: mail(n + line),
        words: `a private word ${n}`,
        number: String(line),
        signature: `Ada Lovelace ${line}`,
      })),
    },
  });
}
