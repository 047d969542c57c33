import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lineOf, type WrittenLine } from "../../../src/source/archive/line.ts";
import { packer } from "../../../src/source/archive/piece.ts";
import { linesOf } from "../../../src/source/archive/reading.ts";
import { answer, temporaryFolder } from "./folder.ts";

const origin = { run: "20260315T120000-00000001", company: "acme", at: "2026-03-15T12:00:00.000Z", privacy: "" };

const lineAt = (nth: number, noise = "x".repeat(10)): WrittenLine =>
  lineOf(answer({ data: noise }, { query: { nth } }), { stream: "things", scan: "s1" }, origin, text => text)!;

const textOf = (lines: readonly WrittenLine[]) => Buffer.concat(lines.flat());

/** The places of the lines that a file of these bytes holds, their bodies, and what is odd about it. */
async function readFrom(bytes: Buffer) {
  const path = join(await temporaryFolder(), `${origin.run}.ndjson.zst`);
  await writeFile(path, bytes);
  const odd: string[] = [];
  const lines = await Array.fromAsync(linesOf(path, what => void odd.push(what)));
  return { nths: lines.map(({ head }) => head.request.query["nth"]), bodies: lines.map(({ body }) => body), odd };
}

const frames = fc.array(fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 4 }), {
  maxLength: 5,
});

test("a file is read to its last whole line, wherever a kill cut it off", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.double({ min: 0, max: 1, noNaN: true }), async (given, share) => {
      const pack = packer();
      let nth = 0;
      const parts: Buffer[] = [];
      for (const sizes of given) parts.push(await pack(textOf(sizes.map(bytes => lineAt(nth++, "x".repeat(bytes))))));
      const whole = Buffer.concat(parts);
      const { nths, odd } = await readFrom(
        whole.subarray(0, share < 0.5 ? Math.floor(2 * share * whole.length) : whole.length),
      );
      expect(nths).toEqual(nths.map((_, at) => at));
      if (share >= 0.5) expect(nths).toHaveLength(nth);
      expect(odd).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("behind a damaged frame nothing is read", async () => {
  const pack = packer();
  const [first, second, third] = [
    await pack(textOf([lineAt(0), lineAt(1)])),
    await pack(textOf([lineAt(2), lineAt(3)])),
    await pack(textOf([lineAt(4)])),
  ];
  second[Math.floor(second.length / 2)]! ^= 0x55;
  const { nths, odd } = await readFrom(Buffer.concat([first, second, third]));
  expect(nths).toEqual([0, 1]);
  expect(odd).toEqual([expect.stringContaining("cannot be read to its end")]);
});

test("a file that another program packed as a single frame is read in steps, to its last line", async () => {
  const lines = Array.from({ length: 8 }, (_, nth) => lineAt(nth, randomBytes(750_000).toString("base64") + nth));
  const frame = zstdCompressSync(textOf(lines));
  expect(frame.length).toBeGreaterThan(5_000_000);
  const found = await readFrom(frame);
  expect(found.nths).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(Buffer.concat(found.bodies).equals(Buffer.concat(lines.map(([, body]) => body!)))).toBe(true);
  expect(found.odd).toEqual([]);
});
