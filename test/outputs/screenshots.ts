import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { startSimulator } from "../../simulator/simulator.ts";
import { tributary } from "../cli/process.ts";
import { startBrowser } from "../daemon/page/browser.ts";

/*
 * `node test/outputs/screenshots.ts [folder]`: the first page of the demo's report, as docs/report.png, and a view in its
 * dictionary, as docs/dictionary.png; with a folder also more of both, light, dark and on a phone, and the report as a PDF.
 */

// The browser has no letters for some vendors' names: with this seed none of those has a place on the first page.
const simulator = await startSimulator({
  seed: 2,
  sizes: { orders: 400, invoices: 400, items: 250, findings: 120, ingested: 600 },
});
const folder = await mkdtemp(join(tmpdir(), "tributary-picture-"));
try {
  const config = `api: { base_url: "${simulator.url}", key: "\${KEY}" }
company: Northwind Manufacturing
destination: { type: duckdb, path: ./warehouse.duckdb }
streams: { include: [item_price_history, contracts] }
`;
  await writeFile(join(folder, "config.yaml"), config);
  for (const words of [
    ["sync", "--no-progress", "--log-level", "warn"],
    ["report", "--out", "report.html"],
    ["docs", "--out", "dictionary"],
  ]) {
    const { code, stderr } = await tributary(words, { cwd: folder, env: { KEY: simulator.key } });
    if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${stderr}`);
  }
  const report = pathToFileURL(join(folder, "report.html")).href;
  const view = `${pathToFileURL(join(folder, "dictionary/index.html")).href}#t.three_way_match`;
  const browser = await startBrowser();
  try {
    const shoot = async (url: string, to: string, options: Parameters<typeof browser.newPage>[0]) => {
      const tab = await browser.newPage(options);
      await tab.goto(url);
      if (url === view) await tab.locator(":target .lineage summary").first().click();
      await mkdir(dirname(to), { recursive: true });
      if (to.endsWith(".pdf")) await tab.pdf({ path: to, preferCSSPageSize: true });
      else await tab.screenshot({ path: to });
      await tab.close();
      console.log(`${to}: ${Math.round((await stat(to)).size / 1_000)} kB`);
    };
    const docs = join(import.meta.dirname, "../../docs");
    await shoot(report, join(docs, "report.png"), { viewport: { width: 1200, height: 1690 } });
    await shoot(view, join(docs, "dictionary.png"), { viewport: { width: 1200, height: 1100 } });
    const more = process.argv[2];
    for (const [name, url] of Object.entries(more === undefined ? {} : { report, dictionary: view })) {
      const to = (kind: string) => join(more!, `${name}-${kind}`);
      await shoot(url, to("light.png"), { viewport: { width: 1200, height: 5_000 } });
      await shoot(url, to("dark.png"), { viewport: { width: 1200, height: 5_000 }, colorScheme: "dark" });
      await shoot(url, to("phone.png"), { viewport: { width: 390, height: 5_000 }, isMobile: true });
      if (url === report) await shoot(url, to("paper.pdf"), {});
    }
  } finally {
    await browser.close();
  }
} finally {
  await simulator.close();
  await rm(folder, { recursive: true });
}
