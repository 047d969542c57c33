import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { changed, parsed } from "./change.ts";
import { mutants } from "./list.ts";
import { labelOf } from "./mutant.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const sections = new Map(
  read("docs/invariants.md")
    .split(/^## (?=\d+\. )/m)
    .slice(1)
    .map(section => [Number.parseInt(section, 10), section]),
);

test.each(mutants.map(mutant => [labelOf(mutant), mutant] as const))(
  "%s: applies to its file, and its invariant names the file and the tests",
  (_, { invariant, file, in: name, change, tests }) => {
    const source = read(file);
    const broken = changed(source, name, change);
    expect(broken).not.toBe(source);
    expect(parsed(broken).body).toHaveLength(parsed(source).body.length);
    expect(sections.get(invariant)).toContain(`\`${file}\``);
    expect(sections.get(invariant)).toContain(`\`${tests}\``);
  },
);

test("each invariant has a mutant, no mutant is listed twice, and they stay few", () => {
  expect([...new Set(mutants.map(({ invariant }) => invariant))]).toEqual([...sections.keys()]);
  expect(new Set(mutants.map(labelOf)).size).toBe(mutants.length);
  expect(mutants.length).toBeLessThanOrEqual(60);
});
