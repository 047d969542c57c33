import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { json, roleDatabase, simulated, workplace } from "../../cli/workplace.ts";
import { startInbox } from "../../daemon/notify/inbox.ts";

interface Told {
  readonly out: string;
  readonly bytes: number;
  readonly period: { readonly from: string; readonly until: string; readonly today: string };
  readonly companies: readonly {
    readonly company: string;
    readonly sections: readonly { readonly name: string; readonly blocks: readonly { readonly rows: number }[] }[];
  }[];
  readonly missing: readonly { readonly model: string; readonly why: string; readonly tables: readonly string[] }[];
}

test("a schedule's run that brought everything writes the report, and mails its first screen", async () => {
  const inbox = await startInbox();
  const { run, folder } = workplace(
    await simulated({ sizes: { orders: 40, invoices: 40, items: 10, findings: 20, ingested: 60 } }),
    {
      reports: [
        { after: ["nightly"], out: "pages/report.html", months: 3 },
        { mail: { smtp: inbox.url, from: "tributary@example.com", to: ["buying@example.com"] } },
      ],
    },
  );
  const { code, stderr } = await run(["schedule", "--once", "nightly", "--no-progress"]);
  expect(code).toBe(0);
  expect(readFileSync(join(folder, "pages/report.html"), "utf8")).toContain("3 whole months");
  expect(inbox.mails).toHaveLength(1);
  const [{ to, text }] = inbox.mails as [(typeof inbox.mails)[number]];
  expect(to).toEqual(["buying@example.com"]);
  expect(text).toMatch(/Subject: Procurement report, \d{4}-\d\d to \d{4}-\d\d/);
  expect(text).toContain("filename=report.html");
  expect(text).toMatch(/^1\. \w+/m);
  expect(stderr).not.toContain("secret-word");
});

test("the command writes the page of a synced warehouse, whole, and says what it lacks", async () => {
  const { run, folder } = workplace(
    await simulated({ sizes: { orders: 40, invoices: 40, items: 10, findings: 20, ingested: 60 } }),
  );
  expect((await run(["sync", "--no-progress", "--log-level", "warn"])).code).toBe(0);

  const ended = await run(["report", "--out", "pages/report.html", "--json"]);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const told = json<Told>(ended);
  const file = join(folder, "pages/report.html");
  expect(told).toMatchObject({ out: file, bytes: statSync(file).size });
  expect(told.companies.map(({ company }) => company)).toEqual(["acme"]);
  expect(told.companies[0]!.sections.map(({ name }) => name)).toContain("deliveries");
  const rows = told.companies[0]!.sections.flatMap(({ blocks }) => blocks.map(block => block.rows));
  expect(rows.filter(count => count > 0).length).toBeGreaterThan(12);
  expect(told.missing).toEqual([
    { model: "item_price_trend", why: "missing", tables: ["item_price_history"] },
    { model: "contract_utilisation", why: "missing", tables: ["contracts"] },
  ]);
  const page = readFileSync(file, "utf8");
  expect(page).toMatch(/<\/html>\n$/);
  expect(page).toContain("All 8 sources were fresh");
  expect(page).toContain("the stream <code>item_price_history</code>");
  expect(page).not.toMatch(/(?:src|href)="(?!#|data:,)|url\(|@import/);
  // What the umask leaves of rw-rw-rw-, and nothing beside it.
  expect(statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(readdirSync(join(folder, "pages"))).toEqual(["report.html"]);

  symlinkSync(file, join(folder, "latest.html"));
  const again = await run(["report", "--out", "latest.html", "--months", "3"]);
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(again.stdout).toMatch(
    /^A report of \d{4}-\d\d to \d{4}-\d\d is in .*pages\/report\.html \(\d+ kB\): open it in a browser\.\nNot in it, and the page says how to get it: item_price_trend, contract_utilisation\.\n$/,
  );
  expect(readFileSync(file, "utf8")).toContain("3 whole months");

  writeFileSync(join(folder, "mine.html"), "<html>my own work</html>");
  const refused = await run(["report", "--out", "mine.html"]);
  expect(refused).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/there is a file already .*Name another file/),
  });
  expect(readFileSync(join(folder, "mine.html"), "utf8")).toBe("<html>my own work</html>");

  writeFileSync(join(folder, "without.yaml"), `${readFileSync(join(folder, "config.yaml"), "utf8")}views: false\n`);
  expect(await run(["report", "--out", "x.html", "--config", "without.yaml"])).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringMatching(/`views: false`.*Set `views: true`, run `tributary sync`/),
  });
  expect(readdirSync(folder)).not.toContain("x.html");
});

test("from PostgreSQL the command makes the same page", async () => {
  const sizes = { orders: 20, invoices: 20, items: 5, findings: 10, ingested: 30 };
  const simulator = await simulated({ sizes, vocabulary: "other" });
  const postgres = await roleDatabase();
  const pages: string[] = [];
  for (const more of [{}, { destination: postgres.destination }]) {
    const { run, folder } = workplace(simulator, more);
    expect((await run(["sync", "--no-progress", "--log-level", "warn"])).code).toBe(0);
    expect(await run(["report", "--out", "report.html"])).toMatchObject({ code: 0, stderr: "" });
    const page = readFileSync(join(folder, "report.html"), "utf8");
    pages.push(page.slice(page.indexOf('<dl class="tiles">')).replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "then"));
  }
  expect(pages[0]!.length).toBeGreaterThan(50_000);
  expect(pages[1]).toBe(pages[0]);
});

test("a page that can't be finished leaves the one before", async () => {
  const { requireOwnFile, writePage } = await import("../../../src/outputs/report/file.ts");
  const folder = workplace({ url: "http://127.0.0.1:9" }).folder;
  const file = join(folder, "report.html");
  await writePage(file, "the one before");
  const inTheWay = join(folder, ".report.html.tributary");
  mkdirSync(inTheWay);
  writeFileSync(join(inTheWay, "something"), "");
  await expect(writePage(file, "the new one")).rejects.toMatchObject({ exitCode: 2 });
  expect(readFileSync(file, "utf8")).toBe("the one before");
  await expect(writePage(join(file, "report.html"), "page")).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/could not be written to .*report\.html\/report\.html \((ENOTDIR|EEXIST)\)/),
  });
  await expect(requireOwnFile(folder)).rejects.toMatchObject({
    message: expect.stringContaining("expected a file's name, found a folder"),
  });
  await expect(requireOwnFile("/dev/null")).rejects.toMatchObject({
    message: expect.stringContaining("something else"),
  });
});
