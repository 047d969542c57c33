import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { dictionaryDocument } from "../../../src/outputs/dictionary/dictionary_page.ts";
import { startBrowser, violations } from "../../daemon/page/browser.ts";
import { smaller, wholeDictionary } from "./dictionaries.ts";

let browser: Browser;
let folder: string;
const pages = { whole: "", some: "" };
beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "tributary-dictionary-"));
  const whole = await wholeDictionary();
  // Looking at every element of all tables takes axe half a minute; a few have one of each sort.
  const some = smaller(whole, "Core", "Core details");
  for (const [name, dictionary] of Object.entries({ whole, some })) {
    const file = join(folder, `${name}.html`);
    await writeFile(file, dictionaryDocument(dictionary));
    pages[name as keyof typeof pages] = pathToFileURL(file).href;
  }
});
afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true });
});

async function visit(url: string, options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const complaints: string[] = [];
  context.on("console", message => complaints.push(message.text()));
  context.on("weberror", error => complaints.push(error.error().message));
  context.on("request", request => {
    if (request.url() !== url && !request.url().startsWith("data:")) complaints.push(`${request.url()} was asked for`);
  });
  const page = await context.newPage();
  if (options.javaScriptEnabled !== false) await page.addInitScript({ content: axe.source });
  await page.goto(url);
  return { page, complaints };
}

const themes = [
  { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { colorScheme: "light", viewport: { width: 320, height: 640 } },
] as const;

test.each(themes)("nothing keeps anybody from reading it: $colorScheme, $viewport.width", async theme => {
  const { page, complaints } = await visit(pages.some, theme);
  await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(theme.viewport.width);
  // A narrow page has the same elements; what axe says of them takes it some seconds.
  if (theme.viewport.width > 1_000) expect(await violations(page)).toEqual([]);
  const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
  expect(ground).toBe(theme.colorScheme === "dark" ? "rgb(14, 19, 25)" : "rgb(244, 246, 248)");
  expect(complaints).toEqual([]);
});

test("a table or column is found by name and by what is said of it, without a mouse, and nothing is fetched", async () => {
  const { page, complaints } = await visit(pages.whole, { viewport: { width: 1280, height: 900 } });
  const focused = () =>
    page.evaluate("document.activeElement.textContent || document.activeElement.id") as Promise<string>;
  await page.keyboard.press("/");
  expect(await focused()).toBe("search");
  await page.keyboard.type("po number");
  const first = page.locator("#found a code").first();
  expect(await first.textContent()).toMatch(/\.po_number$/);
  await page.fill("#search", "purchase_orders");
  expect(await first.textContent()).toBe("purchase_orders");
  expect(await page.locator("#hits").textContent()).toMatch(/^(The first 60 of \d+|\d+ found)\.$/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  expect(await focused()).toMatch(/^purchase_orders/);
  await page.keyboard.press("Enter");
  expect(new URL(page.url()).hash).toBe("#t.purchase_orders");
  const box = (await page.locator("[id='t.purchase_orders']").boundingBox())!;
  const header = (await page.locator("header").boundingBox())!;
  expect(box.y).toBeGreaterThanOrEqual(header.height - 1);
  expect(box.y).toBeLessThan(300);
  expect(await page.locator("#found a").count()).toBe(0);

  await page.fill("#search", "undeleted zebra");
  expect(await page.locator("#hits").textContent()).toBe("Nothing has these words.");
  await page.focus("#search");
  await page.keyboard.press("Escape");
  expect(await page.inputValue("#search")).toBe("");
  await page.fill("#search", "days until payment is due");
  expect(await page.locator("#found a code").allTextContents()).toContain("invoices.due_in_days");
  expect(complaints).toEqual([]);
});

test("a drawing shows the way of the column that is picked; on paper all stands open but the SQL", async () => {
  const { page, complaints } = await visit(pages.whole, { viewport: { width: 1280, height: 900 } });
  const view = page.locator("[id='t.three_way_match']");
  await view.getByText("Where it comes from, drawn").click();
  const strong = () => view.locator("svg .box.on").evaluateAll(boxes => boxes.map(box => box.getAttribute("data-box")));
  const pick = view.getByLabel("Way of");
  expect(await pick.locator("option").allTextContents()).toContain("line_total_reported");
  await pick.selectOption({ label: "document_number" });
  expect((await strong()).sort()).toEqual(["/api/v1/reconciliation", "invoices", "three_way_match"]);
  expect(await view.locator("svg path.on").count()).toBe(2);
  await pick.selectOption({ label: "all columns" });
  expect([await strong(), await view.locator("svg.picked").count()]).toEqual([[], 0]);

  const folded = () => view.locator("details:not([open])").evaluateAll(all => all.map(each => each.className));
  const before = await folded();
  expect(before.length).toBeGreaterThan(1);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  expect(await folded()).toEqual(["sql"]);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  expect(await folded()).toEqual(before);
  expect(await page.getByRole("button", { name: "Print" }).isVisible()).toBe(true);
  expect(complaints).toEqual([]);
});

test("without scripts all of it is there but the search; on paper the text is alone", async () => {
  const { page } = await visit(pages.some, { javaScriptEnabled: false });
  expect(await page.locator("search").isVisible()).toBe(false);
  expect(await page.locator("[id='t.purchase_order_details'] tbody tr").count()).toBe(4);
  expect(await page.locator("svg.diagram a").count()).toBeGreaterThan(4);
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("nav").isVisible()).toBe(false);
  expect(await page.locator("[id='t.purchase_order_legs']").isVisible()).toBe(true);
});
