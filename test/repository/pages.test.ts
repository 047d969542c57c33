import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder, tributary } from "../cli/process.ts";
import { anchorsIn, bareOptionsIn, filesIn, linksIn, pages, read, userPages, usesIn } from "./pages.ts";
import { root } from "./sources.ts";

const decisions = pages.filter(page => page.startsWith("docs/decisions/") && !page.endsWith("/README.md"));

test("all pages are looked at", () => {
  const some = ["README.md", "SECURITY.md", "deploy/README.md", "docs/running.md", "bench/README.md"];
  expect(pages).toEqual(expect.arrayContaining(some));
  expect(decisions.length).toBeGreaterThan(25);
});

test.each(pages)("links and headings that %s points to are there", page => {
  const broken = linksIn(read(page)).filter(link => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsIn(read(target)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test("a link that leads nowhere is found", () => {
  expect(linksIn("[a](x.md#y), ![b](z.png), <https://a.example>, [c](https://b.example)")).toEqual(["x.md#y", "z.png"]);
  expect(anchorsIn("# A `b`, c?\n```sh\n# no heading\n```\n## 1. D-e")).toEqual(["a-b-c", "1-d-e"]);
});

test.each(pages)("every file of the project that %s names is there", page => {
  expect(filesIn(read(page)).filter(name => !existsSync(join(root, name)))).toEqual([]);
});

test("npm scripts that pages name are in package.json, and start files that are there", () => {
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Record<string, string> };
  const texts = pages.flatMap(page => [...read(page).matchAll(/npm run ([\w:]+)/g)].map(match => match[1]!));
  const named = [...new Set(texts)];
  expect(named).toEqual(expect.arrayContaining(["demo", "bench", "prove", "prove:points"]));
  expect(named.filter(name => scripts[name] === undefined)).toEqual([]);
  const files = named.flatMap(name => /^node (\S+\.ts)$/.exec(scripts[name]!)?.[1] ?? []);
  expect(files.filter(file => !existsSync(join(root, file)))).toEqual([]);
});

test("commands that pages name are there, with the options that they name", async () => {
  const uses = userPages.flatMap(page => usesIn(read(page)).map(use => ({ page, ...use })));
  const place = { cwd: emptyFolder() };
  const known = new Map<string, readonly string[]>();
  for (const command of new Set(uses.map(use => use.command))) {
    const { code, stdout } = await tributary([command, "--help"], place);
    expect({ command, code }).toEqual({ command, code: 0 });
    known.set(command, stdout.match(/--[a-z-]+/g) ?? []);
  }
  const missing = uses.flatMap(({ page, command, options }) =>
    options
      .filter(option => !known.get(command)!.includes(option))
      .map(option => `${page}: tributary ${command} ${option}`),
  );
  expect(missing).toEqual([]);
  const all = [...known.values()].flat();
  const bare = userPages.flatMap(page => bareOptionsIn(read(page)).map(option => ({ page, option })));
  expect(bare.length).toBeGreaterThan(20);
  expect(bare.filter(({ option }) => !all.includes(option))).toEqual([]);
});

test("docs/configuration.md names every section of the configuration, and none that isn't there", () => {
  const sections = [...read("config.example.yaml").matchAll(/^#?([a-z_]+):/gm)].map(match => match[1]!);
  const table = read("docs/configuration.md").split("\n## Sections\n")[1]!;
  const rows = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].map(match => match[1]!);
  expect(rows.flatMap(row => row.match(/\w+/g)!).sort()).toEqual([...new Set(sections)].sort());
});

test("every invariant names code that holds it and tests", () => {
  const sections = read("docs/invariants.md").split(/^## (?=\d+\. )/m);
  expect(sections.slice(1).map(section => Number.parseInt(section, 10))).toEqual(
    sections.slice(1).map((_, at) => at + 1),
  );
  const lacking = sections
    .slice(1)
    .filter(text => !/^- Held by: `src\//m.test(text) || !/^- Tests: `test\//m.test(text));
  expect(lacking).toEqual([]);
});

test.each(decisions)("%s has context, decision, figures and consequences, and is in the index", page => {
  const headings = [...read(page).matchAll(/^## (.+)$/gm)].map(match => match[1]!);
  expect(headings).toEqual(["Context", "Decision", "Figures", "Consequences"]);
  const title = /^# (.+)$/m.exec(read(page))![1]!;
  expect(read("docs/decisions/README.md")).toContain(`- [${title}](${page.slice("docs/decisions/".length)})`);
});
