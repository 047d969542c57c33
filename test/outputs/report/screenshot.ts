import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { startSimulator } from "../../../simulator/simulator.ts";
import { tributary } from "../../cli/process.ts";
import { startBrowser } from "../../daemon/page/browser.ts";

/*
 * `node test/outputs/report/screenshot.ts [folder]`: the first page of the demo's report, as docs/report.png; with a folder also
 * more of it, light, dark and on a phone, and all of it as a PDF.
 */

const simulator = await startSimulator({
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
  ]) {
    const { code, stderr } = await tributary(words, { cwd: folder, env: { KEY: simulator.key } });
    if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${stderr}`);
  }
  const url = pathToFileURL(join(folder, "report.html")).href;
  const browser = await startBrowser();
  try {
    const shoot = async (to: string, options: Parameters<typeof browser.newPage>[0]) => {
      const tab = await browser.newPage(options);
      await tab.goto(url);
      await mkdir(dirname(to), { recursive: true });
      if (to.endsWith(".pdf")) await tab.pdf({ path: to, preferCSSPageSize: true });
      else await tab.screenshot({ path: to });
      await tab.close();
      console.log(`${to}: ${Math.round((await stat(to)).size / 1_000)} kB`);
    };
    const picture = join(import.meta.dirname, "../../../docs/report.png");
    await shoot(picture, { viewport: { width: 1200, height: 1690 } });
    const more = process.argv[2];
    if (more !== undefined) {
      await shoot(join(more, "light.png"), { viewport: { width: 1200, height: 5_000 } });
      await shoot(join(more, "dark.png"), { viewport: { width: 1200, height: 5_000 }, colorScheme: "dark" });
      await shoot(join(more, "phone.png"), { viewport: { width: 390, height: 5_000 }, isMobile: true });
      await shoot(join(more, "report.pdf"), {});
    }
  } finally {
    await browser.close();
  }
} finally {
  await simulator.close();
  await rm(folder, { recursive: true });
}
