import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { indexOf } from "../../../src/source/archive/frame_index.ts";
import { type Head, type Line, lineOf, type WrittenLine } from "../../../src/source/archive/line.ts";
import { packer } from "../../../src/source/archive/piece.ts";
import { headsOf, linesOf, skimmed } from "../../../src/source/archive/reading.ts";
import { answer, temporaryFolder } from "./folder.ts";

const origin = { run: "20260315T120000-00000001", company: "acme", at: "2026-03-15T12:00:00.000Z", privacy: "" };

const lineAt = (nth: number, bytes = 10): WrittenLine =>
  lineOf(
    answer({ data: "x".repeat(bytes) }, { query: { nth } }),
    { stream: "things", scan: "s1" },
    origin,
    text => text,
  )!;

const textOf = (lines: readonly WrittenLine[]) => Buffer.concat(lines.flatMap(({ pieces }) => pieces));
const headsIn = (lines: readonly WrittenLine[]) => lines.map(({ head }) => head);
const packed = (lines: readonly WrittenLine[]) => packer("zstd")(textOf(lines), headsIn(lines));

async function gathered<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const nthOf = ({ request }: Head) => request.query["nth"];
const headOf = (each: Line | Head): Head => ("body" in each ? each.head : each);

async function file(bytes: Buffer): Promise<string> {
  const path = join(await temporaryFolder(), `${origin.run}.ndjson.zst`);
  await writeFile(path, bytes);
  return path;
}

/** What each way of reading a file finds, and what it finds odd. */
async function readingsOf(path: string, wants: (nth: number, lines: number) => boolean = () => true) {
  const odd: string[] = [];
  const told = (what: string) => void odd.push(what);
  return {
    lines: await gathered(linesOf(path, told)),
    heads: await gathered(headsOf(path, told)),
    some: await gathered(skimmed(path, told, wants)),
    odd,
  };
}

// Files that older versions wrote, or that somebody compressed again, have no index.
const frames = fc.array(
  fc.record({
    lines: fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 4 }),
    indexed: fc.boolean(),
  }),
  { maxLength: 5 },
);

test("however a file is read, its lines are the same; of those that are wanted, with their bodies", async () => {
  await fc.assert(
    fc.asyncProperty(
      frames,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(fc.boolean()),
      async (given, share, wanted) => {
        let nth = 0;
        const parts: Buffer[] = [];
        for (const { lines, indexed } of given) {
          const written = lines.map(bytes => lineAt(nth++, bytes));
          parts.push(indexed ? await packed(written) : zstdCompressSync(textOf(written)));
        }
        const whole = Buffer.concat(parts);
        // Cut off, now and then, as by a kill.
        const path = await file(whole.subarray(0, share < 0.5 ? Math.floor(2 * share * whole.length) : whole.length));
        const isWanted = (from: number, count: number) => wanted.slice(from, from + count).includes(true);
        const { lines, heads, some, odd } = await readingsOf(path, isWanted);
        expect(lines.map(({ head }) => nthOf(head))).toEqual(lines.map((_, at) => at));
        if (share >= 0.5) expect(lines).toHaveLength(nth);
        expect(heads).toEqual(lines.map(({ head }) => head));
        expect(some.map(headOf)).toEqual(heads);
        for (const [at, line] of some.entries()) {
          if (wanted[at] === true) expect(line).toHaveProperty("body");
          if ("body" in line) expect(line.body.equals(lines[at]!.body)).toBe(true);
        }
        expect(odd).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});

test("the heads of lines whose bodies are not wanted come from the index", async () => {
  const frame = zstdCompressSync(textOf([lineAt(0), lineAt(1)]));
  const index = await indexOf(frame, headsIn([lineAt(7), lineAt(8)]), async text => zstdCompressSync(text));
  const path = await file(Buffer.concat([frame, index, await packed([lineAt(2)])]));
  const { lines, heads, some } = await readingsOf(path, nth => nth === 2);
  expect(lines.map(({ head }) => nthOf(head))).toEqual([0, 1, 2]);
  expect(heads.map(nthOf)).toEqual([7, 8, 2]);
  expect(some.map(each => ["body" in each, nthOf(headOf(each))])).toEqual([
    [false, 7],
    [false, 8],
    [true, 2],
  ]);
});

test("the index of a frame that is damaged is not believed, nor one that is damaged itself", async () => {
  const first = await packed([lineAt(0), lineAt(1)]);
  const second = await packed([lineAt(2, 300), lineAt(3, 300)]);
  const third = await packed([lineAt(4)]);
  const index = second.indexOf(Buffer.from("502a4d18", "hex"));
  expect(index).toBeGreaterThan(20);
  for (const [at, known, isOdd] of [
    [Math.floor(index / 2), [0, 1], true],
    [index + 30, [0, 1, 2, 3, 4], false],
  ] as const) {
    const damaged = Buffer.from(second);
    damaged[at]! ^= 0x55;
    const { lines, heads, odd } = await readingsOf(await file(Buffer.concat([first, damaged, third])));
    expect(heads).toEqual(lines.map(({ head }) => head));
    expect(heads.map(nthOf)).toEqual(known);
    expect(odd.length > 0).toBe(isOdd);
  }
});

test("a frame that others made to be skipped is no index", async () => {
  const theirs = Buffer.concat([Buffer.from("5e2a4d1804000000", "hex"), Buffer.from("seek")]);
  const path = await file(
    Buffer.concat([theirs, zstdCompressSync(textOf([lineAt(0)])), theirs, await packed([lineAt(1)])]),
  );
  const { lines, heads, odd } = await readingsOf(path);
  expect(lines.map(({ head }) => nthOf(head))).toEqual([0, 1]);
  expect(heads).toEqual(lines.map(({ head }) => head));
  expect(odd).toEqual([]);
});

test("a file that somebody packed anew as a single frame is read in steps, to its last line", async () => {
  const noise = (nth: number) => randomBytes(750_000).toString("base64") + nth;
  const lines = Array.from(
    { length: 8 },
    (_, nth) =>
      lineOf(answer({ data: noise(nth) }, { query: { nth } }), { stream: "things", scan: "s1" }, origin, text => text)!,
  );
  const frame = zstdCompressSync(textOf(lines));
  expect(frame.length).toBeGreaterThan(5_000_000);
  const found = await readingsOf(await file(frame));
  expect(found.heads.map(nthOf)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(
    Buffer.concat(found.lines.map(({ body }) => body)).equals(Buffer.concat(lines.map(({ pieces }) => pieces[1]!))),
  ).toBe(true);
  expect(found.odd).toEqual([]);
});
