import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pickOf } from "../../src/encode/picking.ts";

const name = fc.oneof(
  fc.string(),
  fc.constantFrom("__proto__", "constructor", '"]; throw 1; ["', "a\u2028b", "\\", "'", "\ud800", "0"),
);

test("what is picked is what stands in the fields of these names, whatever they are", () => {
  fc.assert(
    fc.property(fc.array(fc.option(name, { nil: undefined })), fc.dictionary(name, fc.jsonValue()), (fields, row) => {
      const into = fields.map(() => "as it was" as unknown);
      pickOf(fields)(row, into);
      expect(into).toEqual(fields.map(field => (field === undefined ? "as it was" : row[field])));
    }),
    { numRuns: 1_000 },
  );
});

test("it works too where Node is told to make no code out of texts", async () => {
  const file = JSON.stringify(join(import.meta.dirname, "../../src/encode/picking.ts"));
  const program = `
    const { pickOf } = await import(${file});
    const into = [0, 1, 2];
    pickOf(["a", undefined, "b"])({ a: "x", b: "y" }, into);
    let made = true;
    try { new Function("") } catch { made = false }
    console.log(JSON.stringify({ into, made }));`;
  const argv = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  expect(JSON.parse(stdout)).toEqual({ into: ["x", 1, "y"], made: false });
});
