import { expect, test } from "vitest";
import { id, record, table, text, whole } from "../../schemas/fields.ts";
import { tablesOf } from "../../src/catalog/columns.ts";
import { Encoder } from "../../src/rows/encoder.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { isoUtc } from "../../src/rows/moment.ts";
import { parseJson } from "../../src/source/body.ts";
import { fields } from "./reading.ts";

const tables = (more = {}) =>
  tablesOf({
    name: "things",
    row: record("A thing.", {
      id: id().describe("Its id."),
      note: text().nullable().describe("A note."),
      data: whole().describe("As it came."),
      parts: table("thing_parts", "A part.", { name: text().describe("Its name."), part: whole().describe("It.") }),
    }),
    key: ["id"],
    added: [],
    volatile: [],
    ...more,
  });

async function encoded(rows: readonly unknown[], more: { scalar?: string } = {}, ignored: readonly string[] = []) {
  const { scalar, ...settings } = more;
  const encoder = new Encoder({
    tables: tables(settings),
    scalar,
    formats: isoUtc,
    hasher: await createHasher(),
    ignored,
    highWaterColumn: undefined,
  });
  for (const row of rows) encoder.add(typeof row === "string" ? parseJson(Buffer.from(row)) : row, {}, {});
  const { batch, rejects, problems } = encoder.take();
  const lines = (bytes: Buffer) => bytes.toString("utf8").trimEnd().split("\n").map(fields);
  return {
    main: lines(batch.main.bytes),
    parts: lines(batch.children[0]!.bytes),
    keys: lines(batch.keys.bytes),
    rejects,
    problems,
  };
}

test("the whole row is one column, with all its fields and digits, and none of them is unknown", async () => {
  const { main, parts, problems } = await encoded([
    '{"id":1,"note":"n","new":{"b":12345678901234567.5,"a":null},"parts":[{"name":"p","size":3},"odd"]}',
  ]);
  const all = '{"id":1,"new":{"a":null,"b":12345678901234567.5},"note":"n","parts":[{"name":"p","size":3},"odd"]}';
  expect(main).toEqual([["1", "1", "n", all, "NULL", "NULL"]]);
  const hash = expect.stringMatching(/^~/);
  expect(parts).toEqual([
    ["1", "0", "p", '{"name":"p","size":3}', hash, "NULL", "NULL"],
    ["1", "1", "NULL", '"odd"', hash, "NULL", "NULL"],
  ]);
  expect(problems).toEqual([]);
});

test("a field that is new in the whole row is a change of it, unless the column is volatile", async () => {
  const rows = ['{"id":1}', '{"id":1,"new":2}'];
  const hashes = async (more = {}) =>
    (await encoded(rows, more)).keys.map(([, , hash, volatileHash]) => [hash, volatileHash]);
  const [before, after] = await hashes();
  expect(before![0]).not.toBe(after![0]);
  const [quiet, still] = await hashes({ volatile: ["data"] });
  expect(quiet![0]).toBe(still![0]);
  expect(quiet![1]).not.toBe(still![1]);
});

test("what belongs to another stream is left out of it, and of a reject", async () => {
  const { main, rejects } = await encoded(
    [
      { id: 1, other: 2 },
      { other: 2, a: 1 },
    ],
    {},
    ["other"],
  );
  expect(main[0]![3]).toBe('{"id":1}');
  expect(rejects).toMatchObject([{ raw: { a: 1 } }]);
  expect(JSON.stringify(rejects)).not.toContain("other");
});

test("what is no object is kept whole where its key is known, and nothing is no row", async () => {
  const row = record("An answer.", {
    note: text().nullable().describe("A note."),
    data: whole().describe("As it came."),
  });
  const place = { name: "of", source: "context", path: ["of"], kind: "id", nullable: false, volatile: false } as const;
  const answers = tablesOf({
    name: "answers",
    row,
    key: ["of"],
    added: [{ ...place, currency: undefined, description: "" }],
    volatile: [],
  });
  const encoder = new Encoder({
    tables: answers,
    formats: isoUtc,
    hasher: await createHasher(),
    ignored: [],
    highWaterColumn: undefined,
  });
  for (const [index, answer] of [[1], "text", 1.5, true, null].entries())
    encoder.add(answer, {}, { of: String(index) });
  const { batch, rejects } = encoder.take();
  const lines = batch.main.bytes.toString("utf8").trimEnd().split("\n").map(fields);
  expect(lines.map(line => line.slice(1))).toEqual(
    ["[1]", '"text"', "1.5", "true"].map((data, index) => [String(index), "NULL", data, "NULL", "NULL"]),
  );
  expect(rejects).toMatchObject([{ raw: null, reason: "expected an object", key: "of=4", field: undefined }]);
});

test("the example of a value that could not be read shows no secret", async () => {
  const { problems } = await encoded(['{"id":1,"note":{"webhook_secret":"whsec_1","url":"x"}}']);
  expect(problems).toMatchObject([{ column: "note", example: '{"url":"x"}' }]);
});

test("a bare value is the field that it stands for, and the whole row is that value as it came", async () => {
  const { main, rejects } = await encoded(['{"id":1}', '"T2"', "12.50"], { scalar: "id" });
  expect(main.map(line => line[3])).toEqual(['{"id":1}', '"T2"', "12.5"]);
  expect(main.map(line => line[1])).toEqual(["1", "T2", "12.5"]);
  expect(rejects).toEqual([]);
});
