import fc from "fast-check";
import { expect, test } from "vitest";
import { CsvWriter } from "../../src/rows/csv.ts";
import { readCsv } from "../../src/rows/csv_reading.ts";
import { isStorable } from "../../src/rows/json.ts";

test("what the encoder writes is read back field by field, NULL and the empty text apart", () => {
  const text = fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", "a", "é", "😀", " ") });
  const field = fc.oneof(fc.constant(null), text, fc.string({ unit: "binary" }).filter(isStorable), fc.integer());
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain(width => fc.array(fc.array(field, { minLength: width, maxLength: width }), { maxLength: 5 }));
  fc.assert(
    fc.property(table, lines => {
      const writer = new CsvWriter(8);
      for (const line of lines) {
        line.forEach((value, i) => {
          if (i > 0) writer.next();
          if (typeof value === "number") writer.plain(String(value));
          else if (value !== null) writer.text(value);
        });
        writer.endLine();
      }
      const read = [...readCsv(writer.bytes.subarray(0, writer.position))];
      expect(read).toEqual(lines.map(line => line.map(value => (typeof value === "number" ? String(value) : value))));
    }),
    { numRuns: 50 },
  );
});
