import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inlined, withoutStatement } from "../../../src/warehouse/duckdb/session/inlining.ts";
import { bindings, rowObjects } from "../../../src/warehouse/duckdb/session/values.ts";

let instance: DuckDBInstance;
let connection: Awaited<ReturnType<DuckDBInstance["connect"]>>;
beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:");
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

/** What DuckDB makes of a parameter: the value, and its type. */
const SQL = `select $1 as value, typeof($1) as type, '$1''' as "a $1", coalesce($1, null) is null as gone`;

async function both(parameter: unknown) {
  const { values, types } = bindings([parameter]);
  const bound = await connection.run(SQL, values, types);
  const whole = await connection.run(inlined(SQL, [parameter])!);
  return [rowObjects(bound, await bound.getRows()), rowObjects(whole, await whole.getRows())] as const;
}

describe("a statement with its parameters written into it", () => {
  it("means what it means when they are bound", async () => {
    const parameter = fc.oneof(
      fc.string({ unit: "binary" }).filter(text => !text.includes("\0")),
      fc.constantFrom("'", "''", "$1", "'; drop table x; --", "\\", "\n", "é", "😀", ""),
      fc.boolean(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    await fc.assert(
      fc.asyncProperty(parameter, async value => {
        const [bound, whole] = await both(value);
        expect(whole).toEqual(bound);
      }),
      { numRuns: 1_000 },
    );
    const found = 0.0000036464798637321067;
    for (const row of await both(found)) expect(row[0]).toMatchObject({ value: found, type: "DOUBLE" });
    const [bound, whole] = await both(null);
    expect(whole[0]).toMatchObject({ value: null, gone: true });
    expect(bound[0]).toMatchObject({ value: null, gone: true });
  });

  it("is left to be bound where a parameter is long, no text, or would end it", () => {
    for (const parameter of ["a\0b", "x".repeat(20_001), Number.NaN, Number.NEGATIVE_INFINITY, new Date(0)])
      expect(inlined("select $1", [parameter])).toBeUndefined();
    expect(inlined("select $2, $1, $12", ["a", 1n, ...Array.from({ length: 10 }, () => true)])).toBe(
      "select (1)::bigint, 'a', true",
    );
  });

  it("tells nothing of its values when it fails", async () => {
    const secret = "nobody@home.example";
    const failed = await connection
      .run(inlined("select $1 || nothing_of_the_kind", [secret])!)
      .then(() => undefined, withoutStatement);
    expect(String(failed)).toContain("nothing_of_the_kind");
    expect(String(failed)).not.toContain(secret);
  });
});
