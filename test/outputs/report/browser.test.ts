import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Contents } from "../../../src/outputs/report/contents.ts";
import { startBrowser, violations } from "../../daemon/page/browser.ts";
import { modelWarehouses } from "../../models/warehouse.ts";
import { companies, hostile, reportRows } from "./data.ts";
import { contentsOf, pageOf } from "./made.ts";

let browser: Browser;
let folder: string;
const pages = { whole: "", some: "" };

beforeAll(async () => {
  const warehouse = await modelWarehouses[0]!.make({ rows: reportRows });
  const whole = await contentsOf(warehouse.reading, companies);
  await warehouse.drop();
  folder = await mkdtemp(join(tmpdir(), "tributary-report-"));
  for (const [name, contents] of Object.entries({ whole, some: smaller(whole) })) {
    const file = join(folder, `${name}.html`);
    await writeFile(file, pageOf(contents));
    pages[name as keyof typeof pages] = pathToFileURL(file).href;
  }
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
});

/** Every kind of block with a few of its rows: axe looks at each element, and at each colour behind it. */
const smaller = (contents: Contents): Contents => ({
  ...contents,
  companies: contents.companies.map((own, index) => ({
    ...own,
    figures: own.figures.slice(0, 4),
    sections: own.sections.slice(0, index === 0 ? 6 : 1).map(({ section, blocks }) => ({
      section,
      blocks: blocks
        .slice(0, 3)
        .map(({ block, answer }) => ({ block, answer: { ...answer, rows: answer.rows.slice(0, 3) } })),
    })),
  })),
});

async function visit(url: string, options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const complaints: string[] = [];
  context.on("console", message => complaints.push(message.text()));
  context.on("weberror", error => complaints.push(error.error().message));
  context.on("request", request => {
    if (!Object.values(pages).includes(request.url()) && !request.url().startsWith("data:"))
      complaints.push(`${request.url()} was asked for`);
  });
  const page = await context.newPage();
  if (options.javaScriptEnabled !== false) await page.addInitScript({ content: axe.source });
  await page.goto(url);
  return { page, complaints };
}

const openAll = `for (const details of document.querySelectorAll("details")) details.open = true`;

/** What is written over something else, or beyond its drawing, or beyond the page. */
const collisions = `(() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const whole = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].map(element => ({ text: element.textContent, box: element.getBoundingClientRect() }));
    for (const [index, { text, box }] of texts.entries()) {
      if (box.left < whole.left - 2 || box.right > whole.right + 2 || box.bottom > whole.bottom + 2) found.push("beyond its drawing: " + text);
      for (const other of texts.slice(index + 1))
        if (Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 0.5 && Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 4)
          found.push(text + " over " + other.text);
    }
  }
  for (const element of document.querySelectorAll("h1, h2, h3, h4, p, dt, dd, li, figcaption, svg, summary, .scroll, .tile")) {
    const box = element.getBoundingClientRect();
    if (box.width > 2 && box.right > innerWidth + 0.5) found.push("beyond the page: " + element.textContent.slice(0, 60));
    if (element.matches("p, dd, figcaption, h2, h4") && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "visible" && getComputedStyle(element).display !== "inline")
      found.push("wider than its place: " + element.textContent.slice(0, 60));
  }
  return found;
})()`;

const looks = [
  {
    name: "light",
    options: { colorScheme: "light", viewport: { width: 1240, height: 900 } },
    ground: "rgb(255, 255, 255)",
  },
  { name: "dark", options: { colorScheme: "dark", viewport: { width: 1240, height: 900 } }, ground: "rgb(22, 29, 38)" },
  {
    name: "on a phone",
    options: { colorScheme: "light", viewport: { width: 360, height: 740 } },
    ground: "rgb(255, 255, 255)",
  },
  {
    name: "on paper",
    options: { colorScheme: "dark", viewport: { width: 688, height: 1005 } },
    ground: "rgb(255, 255, 255)",
  },
] as const;

test.each(looks)("nothing keeps anybody from reading it: $name", async ({ name, options, ground }) => {
  const { page, complaints } = await visit(pages.some, options);
  if (name === "on paper") await page.emulateMedia({ media: "print" });
  await page.evaluate(openAll);
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(ground);
  expect(complaints).toEqual([]);
  // Dark or light, everything stands in the same places.
  if (name === "dark") return;
  await page.goto(pages.whole);
  if (name !== "on paper") expect(await page.evaluate(collisions)).toEqual([]);
  await page.evaluate(openAll);
  expect(await page.evaluate(collisions)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(options.viewport.width);
  expect(complaints).toEqual([]);
});

test("every drawing says in words what it shows, and names that nobody should bear do no harm", async () => {
  const { page, complaints } = await visit(pages.whole);
  const drawings = (await page.evaluate(`[...document.querySelectorAll("svg")].map(svg => {
    const said = svg.getAttribute("aria-labelledby").split(" ").map(id => document.querySelectorAll("[id='" + id + "']"));
    return { role: svg.getAttribute("role"), ids: said.map(found => found.length), words: said.map(([first]) => first.textContent) };
  })`)) as { role: string; ids: number[]; words: string[] }[];
  expect(drawings.length).toBeGreaterThan(40);
  for (const { role, ids, words } of drawings) {
    expect({ role, ids }).toEqual({ role: "img", ids: [1, 1] });
    expect(words[1]).toMatch(/\d.*\.$/s);
  }
  expect(new Set(drawings.map(({ words }) => words[0])).size).toBeGreaterThan(30);
  expect(await page.evaluate("document.querySelectorAll('script').length")).toBe(1);
  const written = (await page.evaluate("document.body.textContent")) as string;
  expect(written).toContain(hostile.markup);
  expect(written).toContain(hostile.word);
  expect(written).toContain(hostile.emoji);
  expect(written).toContain("Evil gnp.exe Ltd. second line");
  expect(written).not.toMatch(/[\u202a-\u202e\u2066\u2067]/);
  expect(complaints).toEqual([]);
});

test("without scripts all of it can be read; on paper every table stands open and chapters begin pages", async () => {
  const { page } = await visit(pages.whole, { javaScriptEnabled: false, viewport: { width: 1240, height: 900 } });
  const cell = page.locator("details td").first();
  expect(await cell.isVisible()).toBe(false);
  const chapter = page.locator(".chapter > summary").first();
  await chapter.click();
  await page.locator(".chapter").first().locator("details > summary").first().click();
  expect(await page.locator(".chapter td").first().isVisible()).toBe(true);
  await chapter.click();
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("nav").isVisible()).toBe(false);
  expect(await page.locator("details td").last().isVisible()).toBe(true);
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  expect(pdf).toMatch(/\/MediaBox \[0 0 594\.9\d* 841\.9\d*\]/);
  // A chapter each for two companies, and their covers.
  expect(pdf.match(/\/Type \/Page\b/g)!.length).toBeGreaterThanOrEqual(14);
});

test("the first screen says what to do first and how much is at stake; the page is short until chapters are unfolded", async () => {
  for (const [width, most] of [
    [1440, 6_000],
    [390, 10_000],
    [320, 10_000],
  ] as const) {
    const { page } = await visit(pages.whole, { viewport: { width, height: 900 } });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThan(most);
    if (width !== 1440) continue;
    const first = page.locator(".message").first();
    expect((await first.boundingBox())!.y).toBeLessThan(500);
    expect(await first.innerText()).toMatch(/^\w+.*\n+[A-Z]{3} [\d,]+ /);
    const more = page.locator("details.more").first();
    const messages = page.locator("article").first().locator(".message:visible");
    expect(await messages.count()).toBe(5);
    await more.locator("summary").click();
    expect(await messages.count()).toBeGreaterThan(5);
    // A link opens the chapter that it leads into.
    const link = first.locator("a");
    const chapter = page.locator(`details:has(> ${await link.getAttribute("href")})`);
    expect(await chapter.getAttribute("open")).toBeNull();
    await link.click();
    expect(await chapter.getAttribute("open")).not.toBeNull();
    expect(await page.locator(".standing").first().innerText()).toMatch(
      /^((better|worse) than in 20\d\d-\d\d|not certain.*)$/,
    );
  }
});

test("filters leave what is chosen, without a request, and say that sums stay", async () => {
  const { page, complaints } = await visit(pages.whole, { viewport: { width: 1240, height: 900 } });
  await page.evaluate(openAll);
  const rows = () => page.locator("tbody tr:visible").count();
  const all = await rows();
  await page.locator("select[name=currency]").selectOption("EUR");
  const codes = (await page.evaluate(
    `[...new Set([...document.querySelectorAll("tr[data-currency], figure[data-currency]")].filter(each => each.checkVisibility()).map(each => each.dataset.currency))]`,
  )) as string[];
  expect(codes).toEqual(["EUR"]);
  expect(await rows()).toBeLessThan(all);
  expect(await page.locator("#filters [role=status]").innerText()).toMatch(/sums stay/);
  const vendor = (await page.evaluate(
    `[...document.querySelectorAll(".point")].map(each => each.dataset.name).find(name => [...document.querySelector("select[name=party]").options].some(each => each.value === name))`,
  )) as string;
  await page.locator("select[name=party]").selectOption(vendor);
  expect(
    await page.evaluate(
      `[...document.querySelectorAll("tr[data-party]")].filter(each => each.checkVisibility()).every(each => each.dataset.party === ${JSON.stringify(vendor)})`,
    ),
  ).toBe(true);
  expect(await page.locator(".point.beside-it").count()).toBeGreaterThan(0);
  await page.locator("#filters [type=reset]").click();
  await page.waitForFunction(`document.querySelectorAll(".point.beside-it").length === 0`);
  expect(await rows()).toBe(all);
  await page.locator("select[name=company]").selectOption(companies[1]!);
  expect(await page.locator("article:visible").count()).toBe(1);
  expect(complaints).toEqual([]);
});

test("a drawing tells what is pointed at, and where the arrow keys have come to", async () => {
  const { page, complaints } = await visit(pages.whole, { viewport: { width: 1240, height: 900 } });
  await page.evaluate(openAll);
  const picture = page.locator(".picture:visible").first();
  await picture.locator(".point").nth(1).hover();
  const said = page.locator(".said");
  const second = await picture.locator(".point").nth(1).getAttribute("data-note");
  expect(await said.innerText()).toBe(second);
  await page.mouse.move(5, 5);
  expect(await said.isVisible()).toBe(false);
  await picture.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(await said.innerText()).toMatch(/\d/);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  expect(await said.isVisible()).toBe(false);
  await page.evaluate("window.print = () => { window.printed = true; }");
  await page.locator("#print").click();
  expect(await page.evaluate("window.printed")).toBe(true);
  expect(complaints).toEqual([]);
});
