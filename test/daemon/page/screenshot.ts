import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { stringify } from "yaml";
import { startSimulator } from "../../../simulator/simulator.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { statusCacheOf } from "../../../src/daemon/cached_status.ts";
import { servePage } from "../../../src/daemon/page/server.ts";
import { type PageSource, warehouseSource } from "../../../src/daemon/page/source.ts";
import { groups, streams } from "../../../streams/index.ts";
import { type StillClock, stillClock } from "../../support/clock.ts";
import { silentLog } from "../../support/log.ts";
import { bench } from "../../support/run.ts";
import { startBrowser } from "./browser.ts";
import { manyStreams } from "./many.ts";
import { writeNights } from "./nights.ts";
import { scriptedDaemon } from "./scripted.ts";
import { now, telling } from "./warehouse_status.ts";

/*
 * `node test/daemon/page/screenshot.ts [folder]`: a made-up month of all streams when all is well and when much is wrong, and the
 * page of a stream of a real warehouse, as docs/status-page*.png; with a folder also dark, and on a phone.
 */

const docs = join(import.meta.dirname, "../../../docs");
const more = process.argv[2];
const browser = await startBrowser();

/** Pictures of one page: `height` of it for the documents, and all of it in the folder. */
async function shoot(source: PageSource, clock: StillClock, name: string, look: (page: Page) => Promise<number>) {
  const page = await servePage({
    listen: { host: "127.0.0.1", port: 0 },
    access: () => ({ token: undefined, login: undefined }),
    source,
    routes: [],
    log: { ...silentLog, warn: ({ message }, facts) => console.error(message, facts) },
    clock,
    redact: text => text,
  });
  const wide = { viewport: { width: 1200, height: 900 } };
  const kinds = [
    { to: join(docs, `${name}.png`), options: wide },
    ...(more === undefined
      ? []
      : [
          { to: join(more, `${name}-dark.png`), options: { ...wide, colorScheme: "dark" as const } },
          { to: join(more, `${name}-phone.png`), options: { viewport: { width: 390, height: 844 }, isMobile: true } },
        ]),
  ];
  for (const { to, options } of kinds) {
    const tab = await browser.newPage({ timezoneId: "UTC", ...options });
    await tab.goto(page.url);
    const height = await look(tab);
    await mkdir(dirname(to), { recursive: true });
    if (to.startsWith(docs)) await tab.setViewportSize({ width: 1200, height });
    await tab.screenshot({ path: to, fullPage: !to.startsWith(docs) });
    const high = await tab.evaluate("document.documentElement.scrollHeight");
    console.log(`${to}: ${Math.round((await stat(to)).size / 1_000)} kB, the page is ${high} px high`);
    await tab.close();
  }
  await page.close();
}

const planned = scriptedDaemon();
planned.plan([{ schedule: "nightly", at: "2026-03-16T02:00:00.000Z", cause: "schedule" }]);
for (const [name, isWell, height] of [
  ["status-page", true, 1_400],
  ["status-page-trouble", false, 1_200],
] as const) {
  const { status, history } = manyStreams(isWell);
  const source = { ...telling(() => status, history), daemon: planned };
  await shoot(source, stillClock(now), name, async tab => {
    if (isWell) await tab.locator("summary").filter({ hasText: "Sites and docks" }).click();
    return height;
  });
}

const night = "2026-11-20T02:00:00.000Z";
const clock = stillClock("2026-11-19T02:00:00.000Z");
const simulator = await startSimulator({ now: clock.date });
const folder = await mkdtemp(join(tmpdir(), "tributary-picture-"));
const path = join(folder, "warehouse.duckdb");
const destination = { type: "duckdb", path, readers: "direct" };
const file = join(folder, "config.yaml");
try {
  const { sync } = bench({ simulator, warehouse: { destination }, clock });
  await sync();
  simulator.update("purchase_orders", 41);
  for (const [nth, { po_number }] of [...simulator.truth.rows("purchase_orders")].slice(0, 60).entries())
    simulator.patchDetail(`/po/${encodeURIComponent(String(po_number))}`, {
      buying_region: nth % 2 === 0 ? "north" : "south",
      ...(nth % 5 === 0 ? { expected_date: "to be agreed" } : {}),
    });
  clock.advance(Date.parse(night) + 600_000 - clock.now());
  await sync();
  await writeNights(path, "acme", Date.parse(night));
  clock.advance(7 * 3_600_000 + 24 * 60_000);
  await writeFile(file, stringify({ api: { base_url: simulator.url, key: "k" }, company: "acme", destination }));
  const { config } = await loadConfig(file, {});
  const status = statusCacheOf(() => config, streams, undefined, { clock, daemon: undefined });
  const source = warehouseSource(() => config, status, { company: undefined, groups }, undefined);
  await shoot(source, clock, "status-page-stream", async tab => {
    await tab.getByRole("link", { name: "purchase_order_details" }).first().click();
    await tab.getByRole("heading", { level: 1, name: "purchase_order_details" }).waitFor();
    return 1_700;
  });
} finally {
  await browser.close();
  await simulator.close();
  await rm(folder, { recursive: true });
}
