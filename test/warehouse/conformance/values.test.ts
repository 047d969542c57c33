import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../../src/source/body.ts";
import type { Destination } from "../../../src/warehouse/destination.ts";
import { everything, store } from "../../rows/store.ts";
import { agrees, expectedValue, inWords, isUnfit, parseExactly, sameJson } from "../../support/expected.ts";
import { warehouses } from "../warehouses.ts";

type Row = Record<string, unknown>;

const main = everything.main.columns;

/** What stands in the tables, by id. */
async function stored(destination: Destination): Promise<Map<string, Row>> {
  const { name } = destination.dialect;
  const columns = main.map(column => inWords(name, column.kind, column.name));
  const { rows } = await sql<Row>`${sql.raw(
    `select ${columns.join(", ")}, cast(_extra as varchar) as _extra, cast(_problems as varchar) as _problems from procurement.things`,
  )}`.execute(destination.db);
  return new Map(rows.map(row => [String(row["id"]), row]));
}

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
/** Numerals as JSON writes them, of any length and exponent. */
const numeral = fc
  .tuple(fc.boolean(), digits(30), fc.option(digits(14)), fc.option(fc.integer({ min: -12, max: 12 })))
  .map(([minus, whole, fraction, power]) => {
    const plain = whole.replace(/^0+(?=\d)/, "");
    return `${minus ? "-" : ""}${plain}${fraction === null ? "" : `.${fraction}`}${power === null ? "" : `e${power}`}`;
  });
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constantFrom("", "\0", "\ud800", 'a"b', "a,b\n\r\\N", "NULL", "\\N", "\t"),
);
/** Any JSON text; numerals keep what was drawn. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ any: string }>(tie => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("null", "true", "false"),
    numeral,
    text.filter(drawn => drawn.isWellFormed() && !drawn.includes("\0")).map(drawn => JSON.stringify(drawn)),
    fc.array(tie("any"), { maxLength: 4 }).map(items => `[${items.join(",")}]`),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a")), tie("any")), {
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map(members => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`),
  ),
})).any;
const quoted = fc.oneof(
  numeral,
  numeral.map(drawn => `"${drawn}"`),
);
const moment = fc
  .tuple(
    fc.date({ min: new Date("0002-01-01"), max: new Date("9998-12-31"), noInvalidDate: true }),
    fc.option(digits(9)),
    fc.constantFrom("", "Z", "+02:00", "-0830"),
  )
  .map(
    ([date, fraction, zone]) => `"${date.toISOString().slice(0, 19)}${fraction === null ? "" : `.${fraction}`}${zone}"`,
  );
const mostly = (drawn: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 5, arbitrary: drawn }, { weight: 1, arbitrary: jsonText });

const fields = fc.record({
  text: mostly(text.map(drawn => JSON.stringify(drawn))),
  money: mostly(quoted),
  count: mostly(quoted),
  score: mostly(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }).map(String), quoted)),
  flag: mostly(fc.constantFrom("true", "false")),
  day: mostly(moment.map(drawn => `"${drawn.slice(1, 11)}"`)),
  at: mostly(moment),
  json: jsonText,
  nested: mostly(
    fc.tuple(quoted, jsonText).map(([amount, note]) => `{"amount":${amount},"deep":{"note":${note}},"x_more":${note}}`),
  ),
  x_new: jsonText,
});

const BIGINT_MAX = 2n ** 63n - 1n;

/** What the documents promise and the plain reading of a kind leaves open. */
function expected(kind: (typeof main)[number]["kind"], raw: unknown): unknown {
  const value = expectedValue(kind, raw);
  if (kind === "count" && typeof value === "bigint" && (value > BIGINT_MAX || value < -BIGINT_MAX)) return null;
  if (kind === "score" && typeof value === "number" && !Number.isFinite(value)) return null;
  if (kind === "score" && value === 0) return 0;
  return isUnfit(value) ? null : value;
}

const at = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Row)[name] : undefined,
    row,
  );

describe.each(warehouses)("$name", ({ make }) => {
  test("every value that was drawn comes back as it is, or is NULL and among the problems with what came", async () => {
    const destination = await make();
    const drawn = fc.sample(fields, { numRuns: 1_500, seed: 20260315 });
    const texts = drawn.map((row, i) => {
      const members = Object.entries(row).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
      return `{"id":"r${i}",${members.join(",")}}`;
    });
    // In pages, as they come: whether one needs the exact parser is decided by the page.
    const rows = texts.map(json => parseJson(Buffer.from(json)) as Row);
    await store(destination, rows);
    const found = await stored(destination);
    expect(found.size).toBe(rows.length);
    for (const [i, json] of texts.entries()) {
      const raw = parseExactly(json) as Row;
      const row = found.get(`r${i}`)!;
      const problems = row["_problems"] === null ? {} : (parseExactly(String(row["_problems"])) as Record<string, Row>);
      for (const { name, path, kind } of main) {
        const came = at(raw, path);
        const wanted = expected(kind, came);
        if (!agrees(kind, wanted, row[name]))
          expect.fail(`${name} of ${json}: the table has ${JSON.stringify(row[name])}`);
        const isEmpty = came === "" && !["text", "json", "flag"].includes(kind);
        const lost = wanted === null && came !== null && came !== undefined && !isEmpty;
        expect(Object.hasOwn(problems, name), `a problem of ${name} in ${json}`).toBe(lost);
        if (lost && !/\\u0000|\\ud8/.test(JSON.stringify(problems[name])))
          expect(
            sameJson(problems[name]!["value"], came),
            `${name} of ${json}: ${JSON.stringify(problems[name])}`,
          ).toBe(true);
      }
      const extra = row["_extra"] === null ? {} : (parseExactly(String(row["_extra"])) as Row);
      expect(sameJson(extra["x_new"], raw["x_new"]), `_extra of ${json}: ${String(row["_extra"])}`).toBe(true);
    }
  });

  test("keys are compared byte by byte, and any storable text is one", async () => {
    const destination = await make();
    const keys = [
      "a",
      "A",
      "a ",
      " a",
      "á",
      "a\u0301",
      "ß",
      "ss",
      "",
      "0",
      "00",
      "😀",
      "a'b",
      'a"b',
      "a,b",
      "a\nb",
      "NULL",
    ];
    await store(
      destination,
      keys.map(id => ({ id, text: id, lines: [{ line_no: id }] })),
    );
    const found = await stored(destination);
    expect(new Set(found.keys())).toEqual(new Set(keys));
    for (const [key, row] of found) expect(row["text"]).toBe(key);
    const again = await store(
      destination,
      keys.map(id => ({ id, text: `${id}!` })),
    );
    expect(again.rejects).toEqual([]);
    const second = await stored(destination);
    expect(second.size).toBe(keys.length);
    for (const [key, row] of second) expect(row["text"]).toBe(`${key}!`);
  });

  test("children are matched by their place: they shrink, grow and change one by one", async () => {
    const destination = await make();
    const lines = async () =>
      (
        await sql<Row>`${sql.raw(
          "select _index, line_no, cast(price as varchar) as price, _deleted_at is null as live, _changed_at from procurement.thing_lines order by _index",
        )}`.execute(destination.db)
      ).rows.map(row => [
        row["line_no"],
        row["price"] === null ? null : Number(row["price"]),
        row["live"],
        (row["_changed_at"] as Date).getUTCDate(),
      ]);
    const put = (day: number, ...prices: (number | null)[]) =>
      store(destination, [{ id: "k", lines: prices.map((price, i) => ({ line_no: i + 1, price })) }], undefined, day);
    await put(1, 10, 20, 30);
    expect(await lines()).toEqual([
      ["1", 10, true, 1],
      ["2", 20, true, 1],
      ["3", 30, true, 1],
    ]);
    await put(2, 10, 21);
    expect(await lines()).toEqual([
      ["1", 10, true, 1],
      ["2", 21, true, 2],
      ["3", 30, false, 2],
    ]);
    await put(3, 10, 21, 31, null);
    expect(await lines()).toEqual([
      ["1", 10, true, 1],
      ["2", 21, true, 2],
      ["3", 31, true, 3],
      ["4", null, true, 3],
    ]);
    await put(4);
    expect((await lines()).map(line => line[2])).toEqual([false, false, false, false]);
    await put(5, 10);
    expect((await lines())[0]).toEqual(["1", 10, true, 5]);
    const [row] = (
      await sql<Row>`${sql.raw("select _first_seen_at, _changed_at from procurement.things")}`.execute(destination.db)
    ).rows;
    expect([row!["_first_seen_at"], row!["_changed_at"]].map(date => (date as Date).getUTCDate())).toEqual([1, 5]);
  });
});
