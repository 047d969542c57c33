import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { longSuites, suitesFor } from "./tiers.ts";

test.each([
  ["a page of the documents", ["docs/running.md"], []],
  ["a style sheet", ["assets/page.css"], ["browsers"]],
  ["a stream", ["streams/index.ts", "docs/streams.md"], ["streams"]],
  ["an upload", ["src/operations/upload/upload.ts"], ["crash"]],
  ["a room of core", ["src/rows/encoder.ts"], Object.keys(longSuites)],
])("a change of %s runs the long suites about it", (_what, changed, names) => {
  expect(suitesFor(changed)).toEqual(names);
});

test("each pattern of a long suite finds tests", () => {
  const patterns = Object.values(longSuites).flatMap(({ tests }) => tests);
  expect(patterns.filter(pattern => globSync(pattern).length === 0)).toEqual([]);
});
