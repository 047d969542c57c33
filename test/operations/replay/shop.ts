import { date, id, json, moment, money, notGiven, record, table, text } from "../../../schemas/fields.ts";
import { defineStream, detail, feed, list, lookup, type Stream, scan, snapshot } from "../../../src/catalog/stream.ts";
import type { Instead, Passing } from "../../support/interposed.ts";
import { instead, noSuch, page } from "../../sync/answers.ts";

/* A small service of every kind of stream, whose answers the tests change between runs. */

const stream = (facts: Omit<Stream, "tables" | "preset">): Stream => defineStream({ ...facts, preset: "core" });

export const things = stream({
  name: "things",
  path: "/things",
  mode: scan({ rows: "things", total: "total", confirm: "/things/{thing}" }),
  row: record("Things.", {
    thing: id().describe("Which."),
    name: text().nullable().describe("Its name."),
    price: money(notGiven).nullable().describe("What it costs."),
    due: date().nullable().describe("When it is due."),
    more: json().nullable().describe("More."),
  }),
  key: ["thing"],
});
export const parts = stream({
  name: "thing_parts",
  path: "/things/{thing}",
  mode: detail({ of: "things" }),
  row: record("A thing.", {
    thing: id().describe("Which."),
    note: text().nullable().describe("A note."),
    parts: table("thing_part_lines", "Its parts.", { part: text().nullable().describe("A part.") }),
  }),
  key: ["thing"],
});
export const marks = stream({
  name: "thing_marks",
  path: "/things/{thing}/marks",
  mode: detail({ of: "things", rows: "marks", paged: true }),
  row: record("A mark.", { mark: id().describe("Which."), said: text().nullable().describe("What it says.") }),
  key: ["thing", "mark"],
});
export const events = stream({
  name: "events",
  path: "/events",
  mode: feed({
    rows: "events",
    highWaterColumn: "happened",
    narrow: { by: "dates", from: "date_from", to: "date_to" },
    fullScanPages: 0,
    fullScanEveryDays: 3,
    lookbackDays: 1,
  }),
  row: record("Events.", {
    event: id().describe("Which."),
    happened: moment().nullable().describe("When."),
    said: text().nullable().describe("What."),
  }),
  key: ["event"],
});
export const prices = stream({
  name: "prices",
  path: "/prices/{thing}",
  mode: lookup({ rows: "prices", from: { thing: ["things.thing"] } }),
  row: record("Prices.", { place: id().describe("Where."), price: money(notGiven).describe("How much.") }),
  key: ["thing", "place"],
});
export const figures = stream({
  name: "figures",
  path: "/figures",
  mode: snapshot({ parameters: { period: ["7", "30"] } }),
  row: record("Figures.", { sum: money(notGiven).describe("A sum.") }),
  key: ["observed_on", "period"],
});
/** Says nothing of how many there are: what is gone must be missed twice. */
export const others = stream({
  name: "others",
  path: "/others",
  mode: list({ rows: "" }),
  row: record("Others.", { other: id().describe("Which.") }),
  key: ["other"],
});
export const shop: readonly Stream[] = [others, things, parts, marks, events, prices, figures];

type Row = Record<string, unknown>;

/** What the shop has now. */
export interface Stock {
  things: Row[];
  events: Row[];
  others: Row[];
  /** Answered with 404, whatever else is there. */
  readonly gone: Set<string>;
  sum: number;
  /** The list's own total, where it says something else than how many there are. */
  total?: number | undefined;
}

const digits = "1234567890123456789.123456789";

export function stocked(): Stock {
  return {
    things: Array.from({ length: 7 }, (_, n) => ({
      thing: `T${n}`,
      name: `thing ${n}`,
      price: n === 2 ? JSON.rawJSON(digits) : n * 1.5,
      due: n === 3 ? "31.12.2026" : "2026-12-31",
      api_key: `sk-of-theirs-${n}`,
      more: {
        exact: JSON.rawJSON("12345678901234567890123.45"),
        nested: { webhook_secret: "hush", ["b\nreak"]: "\n" },
      },
      new_field: JSON.rawJSON("98765432109876543210"),
    })),
    events: Array.from({ length: 5 }, (_, n) => ({
      event: n,
      happened: `2026-03-0${n + 1}T10:00:00Z`,
      said: `event ${n}`,
    })),
    others: Array.from({ length: 6 }, (_, n) => ({ other: n })),
    gone: new Set(),
    sum: 10,
  };
}

/** Lists in pages of three. */
function listed(name: string, rows: readonly Row[], passing: Passing, more: Row = {}): Instead {
  const from = Number(passing.query.get("cursor") ?? 0);
  const some = rows.slice(from, from + 3);
  return page({ ...more, [name]: some }, from + 3 < rows.length ? String(from + 3) : null);
}

export function shopAnswer(stock: Stock, passing: Passing): Instead | undefined {
  const { path, query } = passing;
  const [, first, key = "", last] = path.split("/");
  const thing = stock.things.find(row => row["thing"] === key);
  const data = (value: unknown) => instead(200, { data: value });
  if (path === "/things") return listed("things", stock.things, passing, { total: stock.total ?? stock.things.length });
  if (path === "/events") {
    const from = query.get("date_from") ?? "";
    const to = query.get("date_to") ?? "9";
    const within = stock.events.filter(
      ({ happened }) => String(happened) >= from && String(happened).slice(0, 10) < to,
    );
    return listed("events", within, passing);
  }
  if (path === "/others") return data(stock.others);
  if (path === "/figures") return data({ sum: stock.sum + Number(query.get("period")) });
  if (first === "prices")
    return thing === undefined
      ? noSuch
      : data({
          prices: [
            { place: "here", price: thing["price"] },
            { place: "there", price: 2 },
          ],
        });
  if (first !== "things") return undefined;
  if (thing === undefined || stock.gone.has(path)) return noSuch;
  const notes = Array.from({ length: 4 }, (_, n) => ({ mark: `M${n}`, said: `${String(thing["name"])} ${n}` }));
  if (last === "marks") return listed("marks", thing["name"] === "without" ? notes.slice(0, 1) : notes, passing);
  return data({ thing: key, note: thing["name"], parts: [{ part: "a" }, { part: thing["name"] }] });
}
