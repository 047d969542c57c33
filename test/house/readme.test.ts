import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder, tributary } from "../cli/process.ts";
import { root } from "./sources.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const readme = read("README.md");
const start = readme.split("\n").slice(0, 40).join("\n");
const pages = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "bench/README.md", "docs/dbt.md"];

test("the first 40 lines say what it is, the two commands, the third step, the data's way and one stream", () => {
  expect(start).toMatch(/^# tributary\n\n\w/);
  expect(start).toMatch(/^npm ci && npm run demo\b/m);
  expect(start).toMatch(/^npm test\b/m);
  expect(start).toMatch(/^tributary init && tributary check && tributary sync$/m);
  expect(start.replaceAll("*", "")).toMatch(
    /api \(.*→ stream \(.*→ schema \(.*→ batch \([\s\S]*→ destination \(.*→ state \(/,
  );
  expect(start).toMatch(/```ts\nexport const purchaseOrders = defineStream\([\s\S]+?\n\}\);\n```/);
});

test("the quoted stream is the file's", () => {
  const quotes = [...readme.matchAll(/```ts\n([\s\S]+?)```/g)].map(match => match[1]!);
  expect(quotes).toHaveLength(1);
  expect(read("streams/purchase_orders.ts")).toContain(`\n${quotes[0]}\n`);
});

test("npm scripts that a page names are in package.json", () => {
  const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Record<string, string> };
  const named = new Set(pages.flatMap(page => [...read(page).matchAll(/npm run ([\w:]+)/g)].map(match => match[1]!)));
  expect([...named]).toEqual(expect.arrayContaining(["demo", "bench", "prove", "prove:crash"]));
  expect([...named].filter(name => scripts[name] === undefined)).toEqual([]);
  const files = [...named].flatMap(name => /^node (\S+\.ts)$/.exec(scripts[name]!)?.[1] ?? []);
  expect(files.filter(file => !existsSync(join(root, file)))).toEqual([]);
});

test("the README names every command, and none that isn't there, with options that it has", async () => {
  const code = [...readme.matchAll(/```[a-z]*\n([\s\S]+?)```|`([^`\n]+)`/g)].map(match => match[1] ?? match[2]!);
  const uses = code.flatMap(text => [...text.matchAll(/\btributary ([a-z]+)\b([^\n&]*)/g)]);
  const place = { cwd: emptyFolder() };
  const { stdout } = await tributary(["--help"], place);
  const [summaries = ""] = stdout.split("\nCommands:\n")[1]!.split("\n\n");
  const listed = [...summaries.matchAll(/^ {2}([a-z]+)\b/gm)].map(match => match[1]!);
  const named = [...new Set(uses.map(match => match[1]!))];
  expect(named.sort()).toEqual(listed.filter(name => name !== "help").sort());
  for (const command of named) {
    const { code: exit, stdout: help } = await tributary([command, "--help"], place);
    expect({ command, exit }).toEqual({ command, exit: 0 });
    const options = uses.filter(match => match[1] === command).flatMap(match => match[2]!.match(/--[a-z-]+/g) ?? []);
    for (const option of options) expect(help).toContain(option);
  }
});

test("every core table is in the README, and how many there are in all", async () => {
  const { streams } = await import("../../streams/index.ts");
  const core = streams.filter(stream => stream.preset === "core");
  const all = streams.reduce((sum, { tables: { children } }) => sum + 1 + children.length, 0);
  const tables = core.flatMap(({ tables: { main, children } }) => [main, ...children].map(({ name }) => name));
  expect(tables.filter(name => !readme.includes(`\`${name}\``))).toEqual([]);
  expect(readme).toContain(`${all} tables`);
});

test.each(pages)("links and headings that %s points to are there", page => {
  const text = read(page);
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(match =>
    match[1]!
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replace(/\s/g, "-"),
  );
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(match => match[1]!).filter(link => !/^https?:/.test(link));
  const broken = links.filter(link =>
    link.startsWith("#") ? !anchors.includes(link.slice(1)) : !existsSync(join(root, dirname(page), link)),
  );
  expect(broken).toEqual([]);
});
