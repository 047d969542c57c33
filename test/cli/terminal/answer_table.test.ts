import { expect, test } from "vitest";
import { answerTable } from "../../../src/cli/terminal/answer_table.ts";
import { textWidth } from "../../../src/cli/terminal/table.ts";

const table = (csv: string, width?: number, limit = 0) => answerTable(Buffer.from(csv), limit, width).split("\n");

test("an answer that fits is a table, a wider one has a block for each row, as wide as the terminal", () => {
  const csv = `id,vendor_name,note\nA-1,Vogel,${"word ".repeat(30)}\nA-2,株式会社,\n`;
  expect(table(csv, 100)[0]).toMatch(/^id +vendor_name +note$/);
  for (const width of [20, 40, 60]) {
    const lines = table(csv, width);
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(width);
    expect(lines).toEqual(expect.arrayContaining(["row 1", "row 2", "id           A-1", "id           A-2"]));
    expect(lines.at(-1)).toBe("(2 rows)");
  }
  expect(table(csv)[0]).toMatch(/^id +vendor_name/);
});

test("decimals lose the zeros that no value of their column needs, and keep two places", () => {
  const lines = table(
    "a,b,c,d,e\n12.500000000,3.000000000,0.123456789,1.10,\n-0.250000000,4.000000000,1.000000000,2.1,\n",
  );
  expect(lines.slice(0, 3).map(line => line.trim().split(/ +/))).toEqual([
    ["a", "b", "c", "d", "e"],
    ["12.50", "3", "0.123456789", "1.10"],
    ["-0.25", "4", "1.000000000", "2.1"],
  ]);
  expect(table("a\n7.500000000\n")[1]?.trim()).toBe("7.50");
  expect(table("a\n0.3333333333333333\n\n")[1]).toBe("0.3333333333333333");
});
