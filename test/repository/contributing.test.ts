import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeIn, read } from "./pages.ts";
import { root } from "./sources.ts";

const page = read("CONTRIBUTING.md");

test("what is quoted of a schema and of a stream is in the file that is named with it", () => {
  const quotes = [...page.matchAll(/`([\w/]+\.ts)`:\n\n {3}```ts\n([\s\S]+?) {3}```/g)];
  expect(quotes.map(([, file]) => file)).toEqual(["schemas/sourcing/dock_door.ts", "streams/sourcing/docks.ts"]);
  for (const [, file, quote] of quotes) expect(read(file!)).toContain(quote!.replace(/^ {3}/gm, ""));
});

test("tests and sources that its commands start are there", () => {
  const started = codeIn(page).flatMap(code =>
    code.split("\n").flatMap(line => /^npx (?:vitest run|node) (.+)/.exec(line)?.[1]?.split(" ") ?? []),
  );
  const paths = started.filter(word => /^(test|simulator|src)\//.test(word));
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([]);
});

test("files that it names for each group of streams are there for some group", () => {
  const patterns = codeIn(page).filter(code => /^\w+\/.*<\w+>.*\.ts$/.test(code));
  expect(patterns.length).toBeGreaterThan(2);
  expect(patterns.filter(pattern => globSync(pattern.replace(/<\w+>/g, "*"), { cwd: root }).length === 0)).toEqual([]);
});

test("it has at most 150 lines", () => {
  expect(page.split("\n").length - 1).toBeLessThanOrEqual(150);
});
