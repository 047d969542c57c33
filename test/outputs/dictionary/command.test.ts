import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { streams } from "../../../streams/index.ts";
import { emptyFolder, tributary } from "../../cli/process.ts";
import { json, roleDatabase, simulated, workplace } from "../../cli/workplace.ts";

interface Told {
  readonly out: string;
  readonly files: readonly string[];
  readonly tables: number;
  readonly columns: number;
  readonly views: number;
  readonly examples: boolean;
}

test("without a configuration everything there can be is described, into a folder that is made", async () => {
  const cwd = emptyFolder();
  const tables = streams.reduce((sum, stream) => sum + 1 + stream.tables.children.length, 0);
  const ended = await tributary(["docs", "--json"], { cwd });
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const told = json<Told>(ended);
  expect(told).toMatchObject({ out: join(cwd, "docs-site"), tables, examples: false });
  expect(told.views).toBeGreaterThan(5);
  for (const file of told.files) expect(statSync(join(told.out, file)).size).toBeGreaterThan(300);
  const page = readFileSync(join(told.out, "index.html"), "utf8");
  expect(page).toContain("procurement_analytics.purchase_orders");
  expect(page).not.toContain("Examples");

  const other = await tributary(["docs", "--out", "a/b"], { cwd });
  expect(other.stdout).toMatch(/^\d+ tables, [\d,]+ columns, \d+ views: open .*a\/b\/index\.html\n$/);
  expect(Number.parseInt(other.stdout, 10)).toBe(tables);
});

test("both databases give the same examples and counts, though a run holds the lock, and none where they are not wanted", async () => {
  const simulator = await simulated({ vocabulary: "other" });
  const postgres = await roleDatabase();
  const both = [{}, { destination: postgres.destination }].map(more => workplace(simulator, { views: false, ...more }));
  const [first] = both;
  const empty = await first!.run(["docs"]);
  expect(empty).toMatchObject({ code: 0, stderr: "Nothing has been loaded yet: the dictionary has no examples.\n" });
  for (const { run } of both) expect((await run(["sync", "items", "purchase_orders", "ingested"])).code).toBe(0);
  // Both have their lock once they ask for the list, and get no answer to that.
  Object.assign(simulator.faults, { only: "/items", hang: 1 });
  simulator.requests.clear();
  const holding = both.map(({ start }) => start("sync", "items"));
  while (simulator.requests.count("/items") < both.length) await sleep(20);
  const texts: string[] = [];
  for (const { run, folder } of both) {
    expect(json<Told>(await run(["docs", "--json"])).examples).toBe(true);
    const page = readFileSync(join(folder, "docs-site/index.html"), "utf8");
    expect(page).toMatch(/<dt>Rows<\/dt><dd>130 live, complete to \d{4}-\d\d-\d\d \d\d:\d\d UTC<\/dd>/);
    const row = (id: string) => page.split(`<tr id="${id}"`)[1]!.split("</tr>")[0]!.split('class="examples">')[1]!;
    const shown = [
      "purchase_orders.po_number",
      "purchase_orders.total_amount",
      "purchase_orders.po_date",
      "items.currency_code",
      "ingested.ts",
      "ingested.row_type",
    ];
    for (const name of shown) expect(row(`c.${name}`), name).toContain("<code>");
    const hidden = [
      "ingested.sender_email",
      "ingested.body_preview",
      "purchase_orders.vendor_name",
      "ingested.attachments",
    ];
    for (const name of hidden) expect(row(`c.${name}`), name).not.toContain("<code>");
    texts.push(shown.map(name => row(`c.${name}`)).join("\n"));
  }
  expect(texts[1]).toBe(texts[0]);
  for (const process of holding) expect([process.exitCode, process.kill("SIGKILL")]).toEqual([null, true]);
  simulator.faults.hang = 0;
  await first!.run(["docs", "--no-examples"]);
  expect(readFileSync(join(first!.folder, "docs-site/index.html"), "utf8")).not.toContain('class="examples"');
});

test("a warehouse that cannot be reached is told and leaves the dictionary without examples", async () => {
  const simulator = await simulated();
  const { run, folder } = workplace(simulator, {
    destination: { type: "postgres", url: `postgres://a:\${PASSWORD}@127.0.0.1:1/x`, schema: "buying" },
    views: false,
    streams: { exclude: ["items"] },
  });
  const ended = await run(["docs"]);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toMatch(/127\.0\.0\.1:1[\s\S]*The dictionary has no examples\.\n$/);
  const page = readFileSync(join(folder, "docs-site/index.html"), "utf8");
  expect(page).toContain("buying.purchase_orders");
  expect(page).not.toContain("buying_analytics");
  expect(page).toMatch(/items<\/a> <span class="pill">off/);

  mkdirSync(join(folder, "there"));
  const homeless = await tributary(["docs", "--company", "acme"], { cwd: join(folder, "there") });
  expect([homeless.code, readdirSync(join(folder, "there"))]).toEqual([2, []]);
  expect(homeless.stderr).toContain("--company needs a configuration");
});
