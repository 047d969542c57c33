import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { startSimulator } from "../../../simulator/simulator.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { statusCacheOf } from "../../../src/daemon/cached_status.ts";
import { servePage } from "../../../src/daemon/page/server.ts";
import { warehouseSource } from "../../../src/daemon/page/source.ts";
import { groups, streams } from "../../../streams/index.ts";
import { stillClock } from "../../support/clock.ts";
import { models } from "../../support/models.ts";
import { bench } from "../../support/run.ts";
import { startBrowser } from "./browser.ts";
import { writeNights } from "./nights.ts";
import { scriptedDaemon } from "./scripted.ts";

/*
 * `node test/daemon/page/screenshot.ts [folder]`: the status page of a made-up month, as docs/status-page.png; with a folder also
 * dark, and on a phone.
 */

const night = "2026-11-20T02:00:00.000Z";
const clock = stillClock(night);
const simulator = await startSimulator({ now: clock.date });
const folder = await mkdtemp(join(tmpdir(), "tributary-picture-"));
const path = join(folder, "warehouse.duckdb");
const destination = { type: "duckdb", path, readers: "direct" };
const file = join(folder, "config.yaml");
try {
  await bench({ simulator, warehouse: { destination }, clock }).sync();
  await writeNights(path, "acme", Date.parse(night));
  clock.advance(7 * 3_600_000 + 24 * 60_000);
  await writeFile(file, stringify({ api: { base_url: simulator.url, key: "k" }, company: "acme", destination }));
  const { config } = await loadConfig(file, {});
  const daemon = scriptedDaemon();
  daemon.plan([{ schedule: "nightly", at: "2026-11-21T02:00:00.000Z", cause: "schedule" }]);
  const startedAt = new Date(clock.now() - 47_000).toISOString();
  daemon.run({ schedule: "hook", cause: "hint", startedAt }, [
    { stream: "ingested", state: "done", pages: 5, rows: 412, total: 412 },
    { stream: "findings", state: "reading", pages: 31, rows: 3_100, total: 5_021, remainingMs: 9_000 },
    { stream: "invoices", state: "reading", pages: 120, rows: 24_000, total: 38_956, remainingMs: 31_000 },
    { stream: "invoice_matches", state: "waiting", pages: 0, rows: 0, waitingFor: "invoices" },
  ]);
  const page = await servePage({
    listen: { host: "127.0.0.1", port: 0 },
    access: () => ({ token: undefined, login: undefined }),
    source: warehouseSource(
      () => config,
      statusCacheOf(() => config, streams, undefined, { clock, daemon }),
      { company: undefined, groups, ...models },
      daemon,
    ),
    routes: [],
    log: { info: () => undefined, warn: (facts, message) => console.error(message, facts), debug: () => undefined },
    clock,
    redact: text => text,
  });
  const browser = await startBrowser();
  try {
    const shoot = async (to: string, options: Parameters<typeof browser.newPage>[0], fullPage: boolean) => {
      const tab = await browser.newPage({ timezoneId: "UTC", ...options });
      await tab.goto(page.url);
      await mkdir(dirname(to), { recursive: true });
      await tab.screenshot({ path: to, fullPage });
      await tab.close();
      console.log(`${to}: ${Math.round((await stat(to)).size / 1_000)} kB`);
    };
    const picture = join(import.meta.dirname, "../../../docs/status-page.png");
    await shoot(picture, { viewport: { width: 1200, height: 1500 } }, false);
    const more = process.argv[2];
    if (more !== undefined) {
      await shoot(join(more, "dark.png"), { viewport: { width: 1200, height: 900 }, colorScheme: "dark" }, true);
      await shoot(
        join(more, "phone.png"),
        { viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 },
        true,
      );
    }
  } finally {
    await browser.close();
    await page.close();
  }
} finally {
  await simulator.close();
  await rm(folder, { recursive: true });
}
