import {
  anyJson,
  count,
  date,
  flag,
  id,
  moment,
  money,
  notGiven,
  record,
  score,
  table,
  text,
} from "../../schemas/fields.ts";
import { defineStream, list, scan } from "../../src/catalog/stream.ts";
import { streamOf } from "../catalog/streams.ts";

/* Streams of the tests' own, with a column of each kind. */

const thing = record("A thing.", {
  id: id().describe("Its id."),
  text: text().nullable().describe("A text."),
  money: money(notGiven).nullable().describe("An amount."),
  count: count().nullable().describe("A number."),
  score: score().nullable().describe("A score."),
  flag: flag().nullable().describe("A flag."),
  day: date().nullable().describe("A date."),
  moment: moment().nullable().describe("A moment."),
  json: anyJson().nullable().describe("Anything."),
  po_number: text().nullable().describe("A number."),
  lines: table("thing_lines", "Its lines.", {
    line_no: id().nullable().describe("Which."),
    note: text().nullable().describe("A note."),
  }),
});

/** A listing of pages. */
export const things = defineStream({
  name: "things",
  path: "/things",
  mode: scan({ rows: "things" }),
  row: thing,
  key: ["id"],
  preset: "core",
});

/** A list of rows with nothing but an id, at its own path. */
export const listOf = (name: string) =>
  streamOf(name, { id: id() }, { path: `/${name}`, mode: list({ rows: "rows" }) });
