import { constants, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Frames } from "../../../src/source/archive/frames.ts";

const { ZSTD_c_checksumFlag, ZSTD_c_contentSizeFlag, ZSTD_c_windowLog } = constants;

// Content that is stored as it is, repeated or compressed, of one block, of several and of none.
const frame = fc
  .record({
    bytes: fc.integer({ min: 0, max: 300_000 }),
    kind: fc.constantFrom("zeros", "words", "noise"),
    checksum: fc.integer({ min: 0, max: 1 }),
    size: fc.integer({ min: 0, max: 1 }),
  })
  .map(({ bytes, kind, checksum, size }) => {
    const content = Buffer.alloc(bytes);
    if (kind !== "zeros")
      for (let at = 0; at < bytes; at++) content[at] = (at * at * 7919) >> (kind === "noise" ? 5 : at % 13);
    return zstdCompressSync(content, {
      params: { [ZSTD_c_checksumFlag]: checksum, [ZSTD_c_contentSizeFlag]: size, [ZSTD_c_windowLog]: 17 },
    });
  });

const files = fc.array(frame, { maxLength: 6 });

test("a file is cut into its frames, wherever its steps and it itself end", () => {
  fc.assert(
    fc.property(
      files,
      fc.integer({ min: 1, max: 70_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (written, step, share) => {
        const file = Buffer.concat(written);
        const frames = new Frames();
        const whole: Buffer[] = [];
        const end = Math.floor(file.length * share);
        for (let from = 0; from < end; from += step)
          whole.push(...frames.cut(file.subarray(from, Math.min(end, from + step))));
        const cutOff = frames.cutOff();
        expect(Buffer.concat([...whole, cutOff]).equals(file.subarray(0, end))).toBe(true);
        const ends = written.map((_, nth) => Buffer.concat(written.slice(0, nth + 1)).length);
        expect(whole.map(({ length }) => length)).toEqual(
          written.slice(0, ends.filter(at => at <= end).length).map(({ length }) => length),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test("bytes that are no frame are an error", () => {
  const frames = new Frames();
  const written = zstdCompressSync("a");
  expect(() => [...frames.cut(Buffer.concat([written, Buffer.from("no frame")]))]).toThrow("expected a frame of zstd");
});
