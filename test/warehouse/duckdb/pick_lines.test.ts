import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { pickLines } from "../../../src/warehouse/duckdb/stage/pick_lines.ts";

/** A file's rows are its line breaks, but for those within values: `rows` tells then. */
async function pick(contents: readonly string[], sequences: readonly number[], rows?: readonly number[]) {
  const folder = await mkdtemp(join(tmpdir(), "tributary-picking-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = contents.map((_, i) => join(folder, `${i}.csv`));
  for (const [i, content] of contents.entries()) await writeFile(files[i]!, content);
  const to = join(folder, "picked.csv");
  const lines = files.map((path, i) => ({
    path,
    bytes: Buffer.byteLength(contents[i]!),
    rows: rows?.[i] ?? contents[i]!.split("\n").length - 1,
  }));
  const picked = await pickLines(lines, sequences, to);
  return { picked, text: await readFile(to, "utf8") };
}

test("a file that became shorter than it was written is told, and nothing is taken for its rest", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tributary-picking-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "0.csv");
  await writeFile(path, "1,a\n");
  const short = [{ path, bytes: 8, rows: 2 }];
  await expect(pickLines(short, [1, 2], join(folder, "picked.csv"))).rejects.toThrow("has 4 bytes, not 8");
});

test("lines are picked by their number, from whichever file has them, however long the one before was", async () => {
  const files = ["1,a\n2,b\n3,c\n", "5,d\n6,e\n", "7,f\n17,g\n170,h\n"];
  expect(await pick(files, [1, 3, 4, 6, 17, 200])).toEqual({
    picked: { rows: 4, sequences: 4 },
    text: "1,a\n3,c\n6,e\n17,g\n",
  });
  expect((await pick(files, [170])).text).toBe("170,h\n");
  expect((await pick(files, [])).picked).toEqual({ rows: 0, sequences: 0 });
  expect((await pick([], [1])).picked).toEqual({ rows: 0, sequences: 0 });
});

test("several lines of one number belong together, and a number may have none", async () => {
  const files = ["1,0,a\n1,1,b\n3,0,c\n", "4,0,d\n4,1,e\n4,2,f\n"];
  expect(await pick(files, [1, 2, 4])).toEqual({
    picked: { rows: 5, sequences: 2 },
    text: "1,0,a\n1,1,b\n4,0,d\n4,1,e\n4,2,f\n",
  });
});

test("what a value holds is no line, however much it looks like one", async () => {
  const value = '"he said ""no""\n2,b\n3,c\n4,"",""\n"';
  const lines = [`1,${value}\n`, "2,true\n", `3,x,${value},\n`, '4,""\n'];
  const all = lines.join("");
  for (const [i, line] of lines.entries()) expect((await pick([all], [i + 1], [4])).text).toBe(line);
  expect((await pick([all, "5,z\n"], [2, 4, 5], [4, 1])).text).toBe(`2,true\n4,""\n5,z\n`);
});

test("files in another order are left to DuckDB", async () => {
  expect((await pick(["5,a\n", "2,b\n"], [2, 5])).picked).toBeUndefined();
});

test("any lines are told apart, wherever their quotes and line breaks stand", async () => {
  const value = fc.string({ unit: fc.constantFrom('"', "\n", ",", "1", "é", "a", "*", "\u000b", "#"), maxLength: 12 });
  const quoted = value.map(text => `"${text.replaceAll('"', '""')}"`);
  const bare = fc.string({ unit: fc.constantFrom("1", "é", "a", "*", "\u000b", "#"), maxLength: 12 });
  const row = fc.tuple(fc.array(fc.oneof(quoted, bare), { minLength: 1, maxLength: 4 }), fc.boolean());
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async rows => {
      const lines = rows.map(([values], i) => `${i + 1},${values.join(",")}\n`);
      const wanted = rows.flatMap(([, isWanted], i) => (isWanted ? [i + 1] : []));
      const { picked, text } = await pick([lines.join("")], wanted, [lines.length]);
      expect(text).toBe(wanted.map(number => lines[number - 1]).join(""));
      expect(picked).toEqual({ rows: wanted.length, sequences: wanted.length });
    }),
  );
});
