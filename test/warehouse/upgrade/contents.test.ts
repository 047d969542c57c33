import { expect, test } from "vitest";
import { damages } from "./contents.ts";

const row = {
  _company: "acme",
  doc_id: "DOC-1",
  amount: "5409.720000000",
  day: "2026-02-27",
  rate: null,
  _problems: '{"rate": {"value": "12.5%", "reason": "expected a number"}}',
  _changed_at: "2026-03-10 02:00:00+00",
  _deleted_at: null,
};
const ahead = { ...row, _changed_at: "2026-04-21 08:00:00+00" };
const upgraded = { from: new Date("2026-03-13T10:01:00Z"), to: new Date("2026-03-13T10:02:00Z") };
const holding = (only: Readonly<Record<string, string | null>>) =>
  new Map([["invoices", new Map([["acme|DOC-1#1", only]])]]);
const found = (before: typeof row | typeof ahead, change: Readonly<Record<string, string | null>>) =>
  damages(holding(before), holding({ ...before, ...change }), upgraded).map(text => text.replace(/^.*?: /, ""));

test.each([
  [row, { _changed_at: "2026-03-13 10:01:00+00" }],
  [ahead, { _changed_at: "2026-03-13 12:00:00+00" }],
  [row, { _deleted_at: "2026-03-13 10:01:00+00" }],
  [row, { amount: null }],
  [row, { amount: "5409.73" }],
  [row, { day: "2026-02-28 00:00:00+00" }],
  [row, { rate: "13.5%", _problems: null }],
  [row, { _problems: null }],
])("a row that an upgrade damaged is found: %#", (before, change) => {
  expect(found(before, change).length).toBeGreaterThan(0);
});

test.each([
  [row, {}],
  [ahead, { _changed_at: "2026-03-13 10:01:00.001+00" }],
  [row, { amount: "5409.72", day: "2026-02-27 00:00:00+00" }],
  [row, { rate: "12.5%", _problems: null, stats: "1" }],
])("a row that an upgrade gave other types and more room is none: %#", (before, change) => {
  expect(found(before, change)).toEqual([]);
});

test("rows that came or went are found", () => {
  const none = new Map([["invoices", new Map()]]);
  expect(damages(holding(row), none, upgraded)).toEqual(["invoices acme|DOC-1#1: is missing"]);
  expect(damages(none, holding(row), upgraded)).toEqual(["invoices acme|DOC-1#1: is new"]);
});
