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

test("a file is cut behind each of its frames, wherever its steps end", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.integer({ min: 1, max: 70_000 }), (written, step) => {
      const file = Buffer.concat(written);
      const frames = new Frames();
      const parts: Buffer[] = [];
      for (let from = 0; from < file.length; from += step) parts.push(...frames.cut(file.subarray(from, from + step)));
      expect(Buffer.concat(parts).equals(file)).toBe(true);
      let at = 0;
      const cuts = new Set(parts.map(({ length }) => (at += length)));
      const ends = written.map((_, nth) => Buffer.concat(written.slice(0, nth + 1)).length);
      const steps = Array.from({ length: Math.ceil(file.length / step) }, (_, nth) =>
        Math.min(file.length, (nth + 1) * step),
      );
      expect([...cuts]).toEqual([...new Set([...ends, ...steps])].sort((a, b) => a - b));
    }),
    { numRuns: 200 },
  );
});
