import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { startSimulator } from "../../../simulator/simulator.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { statusCacheOf } from "../../../src/daemon/cached_status.ts";
import { warehouseSource } from "../../../src/daemon/page/source.ts";
import type { RunView } from "../../../src/sync/run/run.ts";
import { groups, streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { bench } from "../../support/run.ts";
import { startBrowser, violations } from "./browser.ts";
import { manyStreams } from "./many.ts";
import { writeNights } from "./nights.ts";
import { scriptedDaemon } from "./scripted.ts";
import { fleet, queuedRun, served, stream, telling, warehouseStatus, worker } from "./warehouse_status.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

const night = "2026-03-15T02:00:00.000Z";

/** A warehouse filled by a real run, its page, and a daemon whose runs the test starts; `names`: what that run reads, else everything. */
async function place(readers: "direct" | "snapshot", orders = 30, names: readonly string[] = []) {
  const clock = stillClock(night);
  const simulator = await startSimulator({ now: clock.date, sizes: { orders, items: 100, invoices: 30 } });
  onTestFinished(() => simulator.close());
  const folder = await mkdtemp(join(tmpdir(), "tributary-page-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "warehouse.duckdb");
  const destination = { type: "duckdb", path, readers };
  const file = join(folder, "config.yaml");
  await writeFile(file, stringify({ api: { base_url: simulator.url, key: "k" }, company: "acme", destination }));
  const { config } = await loadConfig(file, {});
  const daemon = scriptedDaemon();
  const begun = Promise.withResolvers<RunView>();
  const { sync, configure } = bench({ simulator, warehouse: { destination }, clock, watch: view => watched(view) });
  let watched = (_view: RunView): void => undefined;
  await sync({ names });
  watched = begun.resolve;
  const { url, warned } = await served(
    warehouseSource(
      () => config,
      statusCacheOf(() => config, streams, undefined, { clock, daemon }),
      { company: undefined, groups },
      daemon,
    ),
    { clock },
  );
  return { url, warned, sync, configure, simulator, clock, daemon, begun: begun.promise, path };
}

interface Visit {
  readonly page: Page;
  /** What a browser complained of, and what it could not load or loaded from elsewhere. */
  readonly complaints: string[];
}

async function visit(url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", ...options });
  onTestFinished(() => context.close());
  const complaints: string[] = [];
  context.on("console", message => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  context.on("weberror", error => complaints.push(error.error().message));
  context.on("requestfailed", request => {
    const text = request.failure()?.errorText;
    // A page that is left ends its connection.
    if (text !== "net::ERR_ABORTED" || !request.url().endsWith("/events")) complaints.push(`${request.url()}: ${text}`);
  });
  context.on("response", response => {
    if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`);
  });
  context.on("request", request => {
    if (!request.url().startsWith(`${new URL(url).origin}/`)) complaints.push(`${request.url()} is elsewhere`);
  });
  const page = await context.newPage();
  // A script that is there from the beginning is not subject to the page's own policy.
  if (options.javaScriptEnabled !== false) await page.addInitScript({ content: axe.source });
  await page.goto(url);
  return { page, complaints };
}

/** Opens whatever is folded, or folded within a place, and what is folded in that. */
async function unfold(page: Page, within = "body"): Promise<void> {
  const folded = page.locator(within).locator("details:not([open]) > summary:visible");
  while ((await folded.count()) > 0) await folded.first().click();
}

const themes = [
  { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { colorScheme: "light", viewport: { width: 390, height: 844 } },
  { colorScheme: "dark", viewport: { width: 320, height: 640 } },
] as const;

test("a month of nights is shown to everybody, in every light and width", async () => {
  const { url, daemon, path, clock, warned } = await place("direct");
  await writeNights(path, "acme", Date.parse(night));
  daemon.plan([{ schedule: "nightly", at: "2026-03-16T02:00:00.000Z", cause: "schedule" }]);
  daemon.run({ schedule: "hook", cause: "hint", startedAt: new Date(clock.now()).toISOString() }, [
    { stream: "items", state: "reading", pages: 3, rows: 300, total: 1_000, remainingMs: 9_000 },
    { stream: "findings", state: "publishing", pages: 3, rows: 300 },
    { stream: "ingested", state: "failed", pages: 3, rows: 300 },
    { stream: "purchase_order_details", state: "waiting", pages: 0, rows: 0, waitingFor: "purchase_orders" },
  ]);
  for (const theme of themes) {
    const { page, complaints } = await visit(url, theme);
    const name = `${theme.colorScheme} ${theme.viewport.width}`;
    expect(await page.locator("#streams tbody tr").count(), name).toBe(8);
    expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBe(theme.viewport.width);
    await unfold(page);
    expect(await violations(page), name).toEqual([]);
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe(theme.colorScheme === "dark" ? "rgb(14, 19, 25)" : "rgb(244, 246, 248)");
    // Every drawing says in words what it shows, or is no more than an ornament.
    const drawings = page.locator("svg:not([aria-hidden=true]):not(svg svg)");
    const labels = await drawings.evaluateAll(all =>
      (all as unknown as Described[]).map(one => [one.getAttribute("role"), one.getAttribute("aria-label")]),
    );
    expect(labels.length).toBeGreaterThan(20);
    for (const [role, label] of labels) {
      expect(role).toBe("img");
      expect(label?.length).toBeGreaterThan(10);
    }
    const captions = await page.locator("figure.chart figcaption").allTextContents();
    expect(captions).toHaveLength(24);
    for (const caption of captions) expect(caption).toMatch(/\d.* runs?\b/);
    await page.getByRole("link", { name: "purchase_order_details" }).first().click();
    await page.getByRole("heading", { level: 1, name: "purchase_order_details" }).waitFor();
    await unfold(page);
    expect(await page.locator("#runs tbody tr").count(), name).toBe(29);
    expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBe(theme.viewport.width);
    expect(await violations(page), name).toEqual([]);
    expect(complaints, name).toEqual([]);
  }
  expect(warned).toEqual([]);
});

test("workers are shown to everybody, in every light and width", async () => {
  const streams = [{ stream: "purchase_order_details", state: "reading", rows: 1_200, total: 4_000 }] as const;
  const job = { run_id: "20260315T020000-1a2b3c4d", company: "acme", since: "2026-03-15T11:58:00.000Z", streams };
  const conducts = { ...job, company: null, streams: [] };
  const refusal = "The warehouse was written by a later version: update this one.";
  const workers = fleet(
    [worker({ jobs: [conducts, job, job] }), worker({ id: "b", refusal }), worker({ id: "c", up: false })],
    {
      queue: { waiting_companies: 12, active_companies: 2, runs: [queuedRun({ state: "active" })] },
    },
  );
  const { url } = await served(telling(() => warehouseStatus([stream()], { workers })));
  for (const theme of themes) {
    const { page, complaints } = await visit(url, theme);
    const name = `${theme.colorScheme} ${theme.viewport.width}`;
    expect(await page.locator("#workers tbody tr").count(), name).toBe(3);
    expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBe(theme.viewport.width);
    expect(await violations(page), name).toEqual([]);
    expect(complaints, name).toEqual([]);
  }
});

const widths = [
  { colorScheme: "light", viewport: { width: 1440, height: 900 }, most: 2_500 },
  { colorScheme: "dark", viewport: { width: 390, height: 844 }, most: 4_000 },
  { colorScheme: "light", viewport: { width: 320, height: 640 }, most: 4_000 },
] as const;

test.each(widths)("all streams there are fit on few screens, $viewport.width wide", async ({ most, ...theme }) => {
  for (const isWell of [true, false]) {
    const { status, history } = manyStreams(isWell);
    const { url } = await served(telling(() => status, history));
    const { page, complaints } = await visit(url, theme);
    const edge = (selector: string): Promise<number> =>
      page.locator(selector).evaluate(element => (element as unknown as Placed).getBoundingClientRect().bottom);
    const fits = async () => {
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(theme.viewport.width);
      expect(await violations(page)).toEqual([]);
    };
    if (isWell) {
      expect(await page.evaluate("document.documentElement.scrollHeight")).toBeLessThanOrEqual(most);
      await fits();
      continue;
    }
    expect(await edge("#trouble")).toBeLessThan(theme.viewport.width < 500 ? 1_000 : 750);
    for (const title of ["Freight", "Core details"]) await page.locator("summary").filter({ hasText: title }).click();
    await unfold(page, "#trouble, #runs");
    await fits();
    await page.locator("#search").fill("purchase");
    await fits();
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("#tools").isVisible()).toBe(false);
    await fits();
    expect(complaints).toEqual([]);
  }
});

interface Described {
  getAttribute(name: string): string | null;
}

interface Placed {
  getBoundingClientRect(): { readonly bottom: number };
}

test("search, filters and order ask the server for nothing, and stay with what is unfolded while the page changes", async () => {
  let { status, history } = manyStreams(false);
  const daemon = scriptedDaemon();
  const { url } = await served({ ...telling(() => status, history), history: async () => history, daemon });
  const { page, complaints } = await visit(url);
  const requests: string[] = [];
  page.on("request", request => requests.push(new URL(request.url()).pathname));
  const names = () => page.locator("#found tbody .name").allTextContents();
  const matches = () => page.locator("#matches").textContent();
  const freight = page.locator("summary").filter({ hasText: "Freight" });
  /** Once the page has heard of a change: it may not listen yet. */
  const becomes = (look: () => Promise<string | null>, expected: string) =>
    expect
      .poll(
        () => {
          daemon.tell({ kind: "reloaded", changed: [] });
          return look();
        },
        { timeout: 30_000, interval: 250 },
      )
      .toBe(expected);

  await freight.press("Enter");
  const cards = page.getByRole("link", { name: "rate_cards", exact: true });
  expect(await cards.isVisible()).toBe(true);
  await page.getByRole("searchbox").fill(" Freight  cards ");
  expect(await names()).toEqual(["rate_cards"]);
  expect(await matches()).toBe("1 of 165 streams");
  await page.getByRole("searchbox").fill("");
  expect(await cards.isVisible()).toBe(true);
  expect(await names()).toEqual([]);

  const failing = page.getByRole("button", { name: "failing" });
  await failing.press("Space");
  expect(await failing.getAttribute("aria-pressed")).toBe("true");
  expect(await matches()).toBe("6 of 165 streams");
  const byName = ["company_settings", "contracts", "entity_graph", "findings", "import_review_parked"];
  await page.getByRole("combobox").selectOption("name");
  expect(await names()).toEqual([...byName, "matching_settings"]);
  await page.getByRole("combobox").selectOption("rows");
  const rows = new Map(status.streams.map(one => [one.stream, one.live_rows]));
  const most = (await names()).map(name => rows.get(name)!);
  expect(most).toEqual(most.toSorted((a, b) => b - a));
  // The connection that tells of changes may have been opened only just now.
  expect(requests.filter(path => path !== "/events")).toEqual([]);
  expect(page.url()).toBe(`${url}/?only=failing&order=rows`);

  ({ status, history } = manyStreams(true));
  const items = status.streams.map(one =>
    one.stream === "items" ? { ...one, status: "failed", error: "Away." } : one,
  );
  status = { ...status, streams: items };
  await becomes(matches, "1 of 165 streams");
  expect(await names()).toEqual(["items"]);
  expect(await failing.getAttribute("aria-pressed")).toBe("true");
  await page.reload();
  expect(await names()).toEqual(["items"]);
  expect(await page.getByRole("combobox").inputValue()).toBe("rows");
  await page.getByRole("combobox").selectOption("");
  await page.getByRole("button", { name: "failing" }).click();
  expect(page.url()).toBe(`${url}/`);
  expect(await matches()).toBe("");
  await freight.click();
  status = { ...status, streams: items.map(one => ({ ...one, live_rows: 4_711 })) };
  await becomes(() => freight.locator(".quiet").first().textContent(), "9 streams, 42,399 rows");
  expect(await cards.isVisible()).toBe(true);
  expect(complaints).toEqual([]);
});

test("progress moves without a reload, and the run's end shows what it did", async () => {
  const { url, sync, simulator, daemon, clock, begun } = await place("snapshot", 1_500, ["purchase_orders"]);
  const { page, complaints } = await visit(url);
  await page.getByText("Nothing is running.").waitFor();
  await page.evaluate(() => Object.assign(globalThis, { same: true }));
  const changes = page
    .locator("#streams tr", { hasText: /^\s*purchase_orders/ })
    .locator("td")
    .nth(3);
  expect(await changes.locator(".number").textContent()).toBe("1,500");

  simulator.update("purchase_orders", 7);
  // Slow enough that the page is looked at long before the run is through; let go once it was seen to move.
  simulator.faults.latencyMs = 1_500;
  clock.advance(3_600_000);
  const running = sync({ names: ["purchase_orders"] });
  const view = await begun;
  const startedAt = new Date(clock.now()).toISOString();
  const run = { schedule: "nightly", cause: "schedule", startedAt } as const;
  daemon.run(run);
  daemon.watch(view);
  daemon.tell({ kind: "started", run: { ...run, view } });
  const bar = page.locator('#live [data-stream="purchase_orders"] progress');
  const value = async () => Number(await bar.getAttribute("value"));
  await expect.poll(value, { timeout: 30_000 }).toBeGreaterThan(0);
  const seen = await value();
  expect(await bar.getAttribute("max")).toBe("1500");
  await expect.poll(value, { timeout: 30_000 }).toBeGreaterThan(seen);
  expect(await page.locator("#live").textContent()).toMatch(/of 1,500 rows/);
  simulator.faults.latencyMs = 0;
  const report = await running;
  daemon.run(undefined);
  const finishedAt = new Date(clock.now()).toISOString();
  daemon.tell({ kind: "finished", run: { ...run, view }, finishedAt, outcome: report, retryAt: undefined });
  await page.getByText("Nothing is running.").waitFor();
  await expect.poll(() => changes.locator(".number").textContent(), { timeout: 30_000 }).toBe("7");
  expect(await page.evaluate(() => (globalThis as unknown as { same?: boolean }).same)).toBe(true);
  expect(complaints).toEqual([]);
});

test("an error appears with its advice as soon as a run has failed", async () => {
  const { url, sync, configure, daemon, clock } = await place("snapshot");
  const { page, complaints } = await visit(url);
  await page.getByRole("heading", { name: "All 8 streams are up to date" }).waitFor();
  expect(await page.locator("#trouble").count()).toBe(0);

  configure({ api: { key: "a-key-of-somebody-else" } });
  clock.advance(3_600_000);
  const startedAt = new Date(clock.now()).toISOString();
  const outcome = await sync();
  expect(outcome.exit_code).toBe(3);
  const run = { schedule: "nightly", cause: "schedule", startedAt, view: undefined } as const;
  const end = { kind: "finished", run, finishedAt: outcome.finished_at, outcome, retryAt: undefined } as const;
  daemon.end(end);
  daemon.tell(end);
  const advice = page.locator("#trouble .advice").first();
  await advice.waitFor();
  expect(await advice.textContent()).toContain("check api.key");
  expect(await advice.isVisible()).toBe(true);
  expect(await page.locator("h1").textContent()).not.toContain("up to date");
  expect(await page.title()).not.toContain("up to date");
  expect(await violations(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("without scripts everything but live progress is there", async () => {
  const { url } = await place("snapshot");
  const { page, complaints } = await visit(url, { javaScriptEnabled: false });
  expect(await page.locator("#streams tbody tr").count()).toBe(8);
  expect(await page.locator("#runs tbody tr").count()).toBe(1);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("All 8 streams are up to date");
  expect(await page.locator("#as-of").textContent()).toContain("Sun 15 Mar, 02:00");
  expect(complaints).toEqual([]);
});

test("without scripts a subject unfolds, and nothing is shown that would do nothing", async () => {
  const { status, history } = manyStreams(true);
  const { url } = await served(telling(() => status, history));
  const { page, complaints } = await visit(url, { javaScriptEnabled: false });
  const link = page.getByRole("link", { name: "rate_cards", exact: true });
  expect(await link.isVisible()).toBe(false);
  await page.locator("summary").filter({ hasText: "Freight" }).click();
  expect(await link.isVisible()).toBe(true);
  expect(await page.locator("#tools").isVisible()).toBe(false);
  expect(await page.locator("#found").isVisible()).toBe(false);
  await link.click();
  await page.getByRole("heading", { level: 1, name: "rate_cards" }).waitFor();
  expect(complaints).toEqual([]);
});

test("times are the reader's own", async () => {
  const { url } = await place("snapshot");
  const { page } = await visit(url, { timezoneId: "Asia/Tokyo" });
  await expect.poll(() => page.locator("#zone").textContent(), { timeout: 30_000 }).toBe("Asia/Tokyo");
  expect(await page.locator("#runs tbody time").first().textContent()).toContain("11:00");
});

test("the token in a link lets in for good and does not stay in the address", async () => {
  const { url, complaints, page } = await withToken();
  expect(page.url()).toBe(`${url}/`);
  await page.reload();
  await page.getByText("Nothing is running.").waitFor();
  await expect.poll(() => page.locator("#connection").textContent(), { timeout: 30_000 }).toBe("");
  expect(complaints).toEqual([]);
});

async function withToken() {
  const token = "t-0123456789-abcdef";
  const { url } = await served(
    telling(() => warehouseStatus([stream()])),
    { access: () => ({ token, login: undefined }) },
  );
  return { url, ...(await visit(`${url}/?token=${token}`)) };
}
