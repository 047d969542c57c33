import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tablesOf } from "../../src/catalog/columns.ts";
import { isConfidential } from "../../src/rows/confidential.ts";
import { CsvWriter } from "../../src/rows/csv.ts";
import { usual } from "../../src/rows/encode_usual_value.ts";
import { Encoder } from "../../src/rows/encoder.ts";
import { writerOf } from "../../src/rows/fields.ts";
import { createHasher } from "../../src/rows/hash.ts";
import { canonicalJson } from "../../src/rows/json.ts";
import { isoUtc } from "../../src/rows/moment.ts";
import { parseJson } from "../../src/source/body.ts";
import { fields as fieldsIn } from "./reading.ts";

const odd = ["__proto__", "constructor", '"]; throw 1; ["', "a\u2028b", "\\", "'", "\ud800", "0", "`"];
const name = fc.oneof(fc.string(), fc.constantFrom(...odd));
const kind = fc.constantFrom("id", "money", "count", "flag", "json" as const);
const value = fc.oneof(fc.jsonValue(), fc.constantFrom("x", "1.50", 7, 0.25, true, null));

/** What is written of fields, and what is told of them. */
function written(wanted: readonly (readonly [string | undefined, keyof typeof usual])[], row: Record<string, unknown>) {
  const names = wanted.map(([field]) => field);
  const fields = wanted.map(([field, of], place) => ({
    ...{ place, kind: of, name: field },
    isFirst: names.indexOf(field) === place,
  }));
  const writer = new CsvWriter(1);
  const others: [number, unknown][] = [];
  const absent = new Uint32Array(wanted.length);
  const writeOther = (place: number, other: unknown) => void others.push([place, other]);
  const beside = wanted.map((_, place) => `beside ${place}`);
  const found = writerOf(fields)(writer, row, { formats: isoUtc, beside, absent, writeOther });
  return { text: writer.bytes.toString("utf8", 0, writer.position), found, others, absent: [...absent] };
}

describe("the function that writes a table's fields", () => {
  test("writes what stands in them, whatever their names are, and tells what lacks and what is unusual", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.option(name, { nil: undefined }), kind)),
        fc.dictionary(name, value),
        (wanted, row) => {
          const writer = new CsvWriter(1);
          const others: [number, unknown][] = [];
          const own = (field: string) => (Object.hasOwn(row, field) ? row[field] : undefined);
          const absent = wanted.map(([field]) => (field !== undefined && own(field) === undefined ? 1 : 0));
          for (const [place, [field, of]] of wanted.entries()) {
            const one = field === undefined ? `beside ${place}` : own(field);
            if (one !== undefined && one !== null && !usual[of](writer, one, isoUtc)) others.push([place, one]);
            writer.next();
          }
          const text = writer.bytes.toString("utf8", 0, writer.position);
          const names = wanted.flatMap(([field]) => (field !== undefined && own(field) !== undefined ? [field] : []));
          expect(written(wanted, row)).toEqual({ text, found: new Set(names).size, others, absent });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("does the same where Node is told to make no code out of texts", async () => {
    const wanted = [
      ["a", "text"],
      [undefined, "text"],
      ["b", "money"],
      ["a", "count"],
      ["gone", "flag"],
      ["none", "date"],
      ["constructor", "text"],
    ] as const;
    const row = { a: "x", b: 1.5, none: null };
    const file = (path: string) => JSON.stringify(join(import.meta.dirname, "../../src/rows", path));
    const program = `
      const { writerOf } = await import(${file("fields.ts")});
      const { CsvWriter } = await import(${file("csv.ts")});
      const wanted = ${JSON.stringify(wanted)}.map(([name, kind]) => [name ?? undefined, kind]);
      const names = wanted.map(([name]) => name);
      const fields = wanted.map(([name, kind], place) => ({ place, kind, name, isFirst: names.indexOf(name) === place }));
      const writer = new CsvWriter(1);
      const others = [];
      const absent = new Uint32Array(wanted.length);
      const beside = wanted.map((_, place) => "beside " + place);
      const writeOther = (place, value) => void others.push([place, value]);
      const found = writerOf(fields)(writer, ${JSON.stringify(row)}, { beside, absent, writeOther });
      const text = writer.bytes.toString("utf8", 0, writer.position);
      let made = true;
      try { new Function("") } catch { made = false }
      console.log(JSON.stringify({ text, found, others, absent: [...absent], made }));`;
    const argv = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, argv);
    const same = written(wanted, row);
    expect(same).toEqual({
      ...{ text: '"x","beside 1",1.5,,,,,', found: 3, others: [[3, "x"]] },
      absent: [0, 0, 0, 0, 1, 0, 1],
    });
    expect(JSON.parse(stdout)).toEqual({ ...same, made: false });
  });
});

test("a row's unknown fields are found, however many documented ones it lacks", async () => {
  const field = (of: string) => z.unknown().meta({ kind: of });
  const tables = tablesOf({
    name: "flat",
    row: z.object({
      ...{ id: field("id"), text: field("text"), count: field("count") },
      lines: z.array(z.object({ price: field("money") })).meta({ table: "flat_lines" }),
    }),
    key: ["id"],
    added: [],
    volatile: ["text"],
  });
  const settings = {
    tables,
    formats: isoUtc,
    hasher: await createHasher(),
    ignored: ["ours"],
    highWaterColumn: undefined,
  };
  const documented = ["id", "text", "count", "lines", "ours"];
  const some = fc.constantFrom(...documented.slice(1), "constructor", "__proto__", "password", "more");
  const rows = fc.dictionary(fc.oneof(some, fc.string()), fc.oneof(fc.constantFrom("x", 1, null), fc.jsonValue()));
  fc.assert(
    fc.property(rows, given => {
      const row = parseJson(Buffer.from(JSON.stringify({ ...given, id: "k" }))) as Record<string, unknown>;
      const encoder = new Encoder(settings);
      expect(encoder.add(row, {}, {})).toBe(true);
      const main = encoder.take().batch.main.bytes.toString("utf8");
      const unknown = Object.keys(row).filter(key => !documented.includes(key) && !isConfidential(key));
      const extra = Object.fromEntries(unknown.map(key => [key, row[key]]));
      expect(fieldsIn(main).at(-2)).toBe(unknown.length === 0 ? "NULL" : canonicalJson(extra).text);
    }),
    { numRuns: 2_000 },
  );
});
