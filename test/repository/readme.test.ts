import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { emptyFolder, tributary } from "../cli/process.ts";
import { blocks, pages, read, usesIn } from "./pages.ts";

const readme = read("README.md");
const start = readme.split("\n").slice(0, 40).join("\n");

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

test("the demo ends with a warehouse, answers and a report, and does so once more in the same folder", async () => {
  const cwd = emptyFolder();
  const demo = join(import.meta.dirname, "../../demo.ts");
  for (const _ of [1, 2]) {
    const { stdout } = await promisify(execFile)(process.execPath, [demo], { cwd });
    expect(stdout).toMatch(/In all [\d,]+ rows read with [\d,]+ requests: nothing has changed\./);
    expect(stdout).toMatch(/vendor .*still_to_come/);
    for (const file of ["demo.duckdb", "demo-report.html"])
      expect(statSync(join(cwd, file)).size).toBeGreaterThan(50_000);
  }
});

test("the quoted stream is the file's", () => {
  const quotes = blocks("README.md", "ts");
  expect(quotes).toHaveLength(1);
  expect(read("streams/purchase_orders.ts")).toContain(`\n${quotes[0]}`);
});

test.each([
  ["README.md", 150],
  ["ARCHITECTURE.md", 150],
  ["CHANGELOG.md", 25],
])("%s has at most %i lines", (page, most) => {
  expect(read(page).split("\n").length - 1).toBeLessThanOrEqual(most);
});

test.each(["README.md", "docs/commands.md"])("%s names every command, and none that isn't there", async page => {
  const { stdout } = await tributary(["--help"], { cwd: emptyFolder() });
  const [summaries = ""] = stdout.split("\nCommands:\n")[1]!.split("\n\n");
  const listed = [...summaries.matchAll(/^ {2}([a-z]+)\b/gm)].map(match => match[1]!);
  const named = [...new Set(usesIn(read(page)).map(use => use.command))];
  expect(named.sort()).toEqual(listed.filter(name => name !== "help").sort());
});

test("every core table is in docs/tables.md, and how many there are in all", async () => {
  const { streams } = await import("../../streams/index.ts");
  const core = streams.filter(stream => stream.preset === "core");
  const tables = core.flatMap(({ tables: { main, children } }) => [main, ...children].map(({ name }) => name));
  const page = read("docs/tables.md");
  expect(
    tables.filter(name => !page.includes(`\`${name}\``)),
    "tables of the core that docs/tables.md does not name: add them to its list",
  ).toEqual([]);
  // That the numbers are right is held with the generated files.
  const word = ["eight", "nine", "ten", "eleven", "twelve"][core.length - 8];
  for (const text of [page, readme]) {
    expect(text).toMatch(/\b\d{3} streams, \d{3} tables\b/);
    expect(text, "how many streams the core has").toMatch(
      new RegExp(`\\b${word}\\sstreams\\sthat\\sbecome\\s\\d+\\stables\\b`),
    );
  }
});

test("every page of docs/ is within reach of the README", () => {
  const docs = pages.filter(page => page.startsWith("docs/") && !/^docs\/decisions\/(?!README)/.test(page));
  expect(docs.filter(page => !readme.includes(`](${page})`))).toEqual([]);
});
