import { describe, expect, test } from "vitest";
import { columns, fields, line, row, value } from "./reading.ts";
import { encode } from "./store.ts";

test.each([
  ["2026-03-15", "2026-03-15"],
  ["2024-02-29", "2024-02-29"],
  ["2023-02-29", undefined],
  ["2026-13-01", undefined],
  ["2026-3-5", undefined],
  ["15.03.2026", undefined],
  ["2026-03-15 or so", undefined],
  ["0000-01-01", undefined],
  ["10000-01-01", undefined],
  ["-0001-01-01", undefined],
  ["infinity", undefined],
  ["٢٠٢٦-٠٣-١٥", undefined],
])("the date %s is %s", async (text, date) => {
  const found = await value("day", `"day":"${text}"`);
  expect(found.value).toBe(date ?? "NULL");
  if (date === undefined) expect(found.problem.day.value).toBe(text);
});

test.each([
  ["2026-03-15T23:30:00-05:00", "2026-03-15"],
  ["2026-03-15T00:00:01", "2026-03-15"],
  ["2026-03-15 00:00:00.001Z", "2026-03-15"],
])("a date that comes as the moment %s is %s, and its raw text is kept", async (text, date) => {
  const { value: found, problem } = await value("day", `"day":"${text}"`);
  expect(found).toBe(date);
  expect(problem).toEqual({
    day: { value: text, reason: "expected a calendar date, got a time of day with it: the column holds the day" },
  });
  const { rounded, problems } = await encode([row(`{"id":"k","day":"${text}"}`)]);
  expect(rounded).toBe(0);
  expect(problems).toMatchObject([{ column: "day", example: JSON.stringify(text), rows: 1 }]);
});

test.each(["2026-03-15T00:00:00Z", "2026-03-15T00:00:00.000+02:00", "2026-03-15 00:00"])(
  "a date that comes as the midnight %s is that day: nothing is lost, it is counted",
  async text => {
    const { value: found, problem } = await value("day", `"day":"${text}"`);
    expect([found, problem]).toEqual(["2026-03-15", undefined]);
    expect((await encode([row(`{"id":"k","day":"${text}"}`)])).rounded).toBe(1);
  },
);

test("a day where a moment is expected is its midnight, and is counted", async () => {
  expect((await encode([row('{"id":"k","at":"2026-03-15"}')])).rounded).toBe(1);
  expect((await encode([row('{"id":"k","at":"2026-03-15T00:00:00Z"}')])).rounded).toBe(0);
});

test.each(["14:30", "14:30:00Z", "T14:30"])("the mere time %s is no moment: its text is kept", async text => {
  const { value: found, problem } = await value("at", `"at":"${text}"`);
  expect(found).toBe("NULL");
  expect(problem.at_).toEqual({ value: text, reason: "expected a point in time, got other text" });
});

test.each(["money", "count", "score", "day", "at"])("an empty %s is NULL and counted, no problem", async name => {
  const { value: found, problem } = await value(name, `"${name}":""`);
  expect([found, problem]).toEqual(["NULL", undefined]);
  expect(await encode([row(`{"id":"k","${name}":""}`)])).toMatchObject({ rounded: 1, problems: [] });
  expect((await value(name, `"${name}":" "`)).problem).toBeDefined();
});

test("other dates only as configured, and never by a guess", async () => {
  const both = { dates: ["iso", "MM/DD/YYYY", "DD.MM.YYYY"], timezone: "UTC" };
  expect((await value("day", '"day":"03/15/2026"', both)).value).toBe("2026-03-15");
  expect((await value("day", '"day":"15.03.2026"', both)).value).toBe("2026-03-15");
  expect((await value("day", '"day":"2026-03-15"', { dates: ["DD.MM.YYYY"], timezone: "UTC" })).value).toBe("NULL");
  const ambiguous = { dates: ["MM/DD/YYYY", "DD/MM/YYYY"], timezone: "UTC" };
  expect((await value("day", '"day":"03/04/2026"', ambiguous)).value).toBe("NULL");
  expect((await value("day", '"day":"04/04/2026"', ambiguous)).value).toBe("2026-04-04");
  expect((await value("day", '"day":"03/15/2026"', ambiguous)).value).toBe("2026-03-15");
});

test.each([
  ["2026-03-15T12:00:00Z", "2026-03-15 12:00:00+00"],
  ["2026-03-15T12:00:00.1234567Z", "2026-03-15 12:00:00.123456+00"],
  ["2026-03-15T12:00:00.999999999Z", "2026-03-15 12:00:00.999999+00"],
  ["1969-12-31T23:59:59.999999Z", "1969-12-31 23:59:59.999999+00"],
  ["2026-03-15T12:00:00+05:30", "2026-03-15 06:30:00+00"],
  ["2026-03-15 12:00:00-0800", "2026-03-15 20:00:00+00"],
  ["2026-03-15T12:00", "2026-03-15 12:00:00+00"],
  ["2026-03-15", "2026-03-15 00:00:00+00"],
  ["0001-01-01T00:00:00Z", "0001-01-01 00:00:00+00"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999+00"],
  ["0002-01-01T00:00:00.922303", "0002-01-01 00:00:00.922303+00"],
  ["9998-01-01T02:00:00.922303+02:00", "9998-01-01 00:00:00.922303+00"],
  ["9999-12-31T23:59:59-01:00", undefined],
  ["2026-03-15T24:00:00Z", undefined],
  ["2026-03-15T12:60:00Z", undefined],
  ["0001-01-01T00:00:00+14:00", undefined],
  ["2016-12-31T23:59:60Z", undefined],
  ["2026-03-15T12:00:00+99:99", undefined],
  ["infinity", undefined],
  ["yesterday", undefined],
])("the moment %s is %s", async (text, moment) => {
  const found = await value("at", `"at":"${text}"`);
  expect(found.value).toBe(moment ?? "NULL");
  if (moment === undefined) expect(found.problem.at_.value).toBe(text);
});

test.each([
  ["2026-01-15T12:00:00", "2026-01-15 11:00:00+00"],
  ["2026-07-15T12:00:00", "2026-07-15 10:00:00+00"],
  ["2026-07-15T12:00:00Z", "2026-07-15 12:00:00+00"],
  ["2026-03-29T01:59:59", "2026-03-29 00:59:59+00"],
  ["2026-03-29T03:00:00", "2026-03-29 01:00:00+00"],
])("%s without a zone, in Berlin: %s", async (text, moment) => {
  expect((await value("at", `"at":"${text}"`, { dates: ["iso"], timezone: "Europe/Berlin" })).value).toBe(moment);
});

test("text is kept letter by letter; what no database holds is a problem, never a mangled text", async () => {
  for (const text of ["", " ", "a,b", 'say "hi"', "line\nbreak\r\n", "NULL", "\\N", "ß漢😀", "x".repeat(500)])
    expect((await value("text", `"text":${JSON.stringify(text)}`)).value).toBe(text);
  expect((await value("text", '"text":1.50')).value).toBe("1.5");
  for (const bad of ['"a\\u0000b"', '"a\\ud800b"', "true", "{}"]) {
    const { value: found, problem } = await value("text", `"text":${bad}`);
    expect(found).toBe("NULL");
    expect(Object.keys(problem)).toEqual(["text"]);
  }
});

test("JSON has sorted keys and exact numbers; what a database can't hold stays readable as an escape, and noted", async () => {
  const { value: found, problem } = await value(
    "json",
    '"json":{"b":1.0,"a":[1e2,12345678901234567.123456789,-0,null,"é"]}',
  );
  expect(found).toBe('{"a":[100,12345678901234567.123456789,0,null,"é"],"b":1}');
  expect(problem).toBeUndefined();
  const escaped = await value("json", '"json":{"k\\u0000":"a\\u0000b\\ud800"}');
  expect(JSON.parse(escaped.value!)).toEqual({ "k\\u0000": "a\\u0000b\\ud800" });
  expect(escaped.problem.json.reason).toContain("NUL");
  const deep = await value("json", `"json":${"[".repeat(600)}${"]".repeat(600)}`);
  expect(deep.value).toBe("NULL");
  expect(deep.problem.json.reason).toContain("levels deep");
});

test("unknown fields are kept in their own nesting, whatever they are called", async () => {
  const all = await line(
    '{"id":"k","new":1.10,"nested":{"amount":"2","more":true,"deep":{"note":"n","x":[1]}},"__proto__":{"a":1},"constructor":2}',
  );
  expect(JSON.parse(all.at(-2)!)).toEqual(
    JSON.parse('{"__proto__":{"a":1},"constructor":2,"new":1.1,"nested":{"deep":{"x":[1]},"more":true}}'),
  );
  expect(all[columns.indexOf("amount")]).toBe("2");
  expect(all[columns.indexOf("note")]).toBe("n");
  const odd = await line('{"id":"k","nested":7}');
  expect(JSON.parse(odd.at(-2)!)).toEqual({ nested: 7 });
  const long = await encode([row('{"id":"k","nested":9007199254740993,"lines":[{"price":{"text":1}}]}')]);
  expect(fields(long.batch.main.bytes.toString().trimEnd()).at(-2)).toBe('{"nested":9007199254740993}');
  expect(long.drift.map(({ column, sort, type }) => `${column} ${sort} ${type}`)).toEqual([
    "nested type number",
    "price type object",
  ]);
});

test("an array that is none, an element that is none: problems, and the rest of the row stays", async () => {
  const all = await line('{"id":"k","money":"5","lines":"none"}');
  expect(all[2]).toBe("5");
  expect(JSON.parse(all.at(-1)!)).toEqual({ lines: { value: "none", reason: "expected an array" } });
  const { batch, problems } = await encode([row('{"id":"k","lines":[{"line_no":1},7,null,{"price":"x"}]}')]);
  const children = batch.children[0]!.bytes.toString().trimEnd().split("\n").map(fields);
  expect(children.map(child => child[1])).toEqual(["0", "1", "2", "3"]);
  expect(JSON.parse(children[1]!.at(-1)!)).toEqual({ _element: { value: 7, reason: "expected an object" } });
  expect(JSON.parse(children[3]!.at(-1)!).price.value).toBe("x");
  expect(problems.reduce((sum, problem) => sum + problem.rows, 0)).toBe(3);
});

test("a row without its key is a reject with what came; it counts among the rows", async () => {
  const { rejects, batch } = await encode([
    row('{"id":null,"text":"a"}'),
    row('{"text":"b"}'),
    row('{"id":true}'),
    row('{"id":"a\\u0000"}'),
    row('{"id":{"a":1}}'),
    "not a row",
    null,
    [1],
    row('{"id":"good"}'),
  ]);
  expect(rejects).toHaveLength(8);
  expect(rejects[0]).toMatchObject({
    raw: { id: null, text: "a" },
    reason: expect.stringContaining("id is missing"),
    field: "id",
  });
  expect(batch.keys.rows).toBe(1);
});

test.each([
  ["null", "is missing"],
  ["true", "is true"],
  ["false", "is false"],
  ["[1]", "is a list"],
  ['{"a":1}', "is an object"],
  ["1e99999", "is a number with too many digits"],
])("a row whose key is %s: its key id %s", async (came, fault) => {
  const { rejects } = await encode([row(`{"id":${came}}`)]);
  expect(rejects.map(({ reason }) => reason)).toEqual([`its key id ${fault}`]);
});

describe("what changes the hash", () => {
  const hash = async (json: string) => fields((await encode([row(json)])).batch.keys.bytes.toString()).slice(2);
  test("equal values have equal hashes, however they are written", async () => {
    const plain = await hash('{"id":"k","money":20000,"text":"1","json":{"a":1,"b":2},"lines":[{"price":1}]}');
    expect(
      await hash('{"id":"k","json":{"b":2.0,"a":1},"text":1.0,"money":"20000.00","lines":[{"price":"1.0"}]}'),
    ).toEqual(plain);
  });
  test("a value, a child's value, the place of a child and a raw problem each make another one", async () => {
    const seen = new Set<string>();
    const rows = [
      '{"id":"k"}',
      '{"id":"k","money":1}',
      '{"id":"k","text":""}',
      '{"id":"k","text":"1"}',
      '{"id":"k","money":"x"}',
      '{"id":"k","money":"y"}',
      '{"id":"k","lines":[{}]}',
      '{"id":"k","lines":[{},{}]}',
      '{"id":"k","lines":[{"price":1},{"price":2}]}',
      '{"id":"k","lines":[{"price":2},{"price":1}]}',
      '{"id":"k","lines":[{"line_no":1}]}',
    ];
    for (const json of rows) seen.add((await hash(json))[0]!);
    expect(seen.size).toBe(rows.length);
  });
  test("an unknown field makes no change of the row, but is written", async () => {
    const [stable, changeable] = await hash('{"id":"k","money":1}');
    const [other, another] = await hash('{"id":"k","money":1,"x":1}');
    expect(other).toBe(stable);
    expect(another).not.toBe(changeable);
  });
});
