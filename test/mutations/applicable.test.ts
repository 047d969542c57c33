import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { mutations } from "./list.ts";

const root = resolve(import.meta.dirname, "../..");

const named = mutations.map(mutation => [mutation.name, mutation] as const);
test.each(named)("%s: what it breaks and what notices it are there", async (_, mutation) => {
  const source = await readFile(join(root, mutation.file), "utf8");
  expect(source.split(mutation.text)).toHaveLength(2);
  expect(source.replace(mutation.text, () => mutation.becomes)).not.toBe(source);
  expect(await readFile(join(root, mutation.test), "utf8")).toContain(mutation.notices);
});

test("every invariant is broken at least once, and no mutation is listed twice", async () => {
  const page = await readFile(join(root, "docs/invariants.md"), "utf8");
  const numbers = [...page.matchAll(/^## (\d+)\. /gm)].map(match => Number(match[1]));
  expect(numbers.length).toBeGreaterThanOrEqual(10);
  expect([...new Set(mutations.map(({ invariant }) => invariant))].sort((a, b) => a - b)).toEqual(numbers);
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
});
