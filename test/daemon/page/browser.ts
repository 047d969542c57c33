import { existsSync } from "node:fs";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import type axe from "axe-core";
import { type Browser, type Page, chromium as playwright } from "playwright-core";

/** Rules that apply to each of the pages. */
const LEAST_RULES = 15;

/**
 * A real browser without a window, from the npm registry. Its own list of arguments is for machines that allow no second
 * process and switches off rules this page must keep; a sandbox needs rights that root and containers don't have.
 */
export async function startBrowser(): Promise<Browser> {
  const home = await unpacked();
  return playwright.launch({
    executablePath: join(home, "chromium"),
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: 180_000,
    // The same letters on every machine, on one without fonts too.
    env: { ...process.env, FONTCONFIG_PATH: join(home, "fonts") },
  });
}

/** The package unpacks to the temporary folder, for its user alone, and takes a half-unpacked browser for a whole one. */
async function unpacked(): Promise<string> {
  const manifest = join(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "../package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { readonly version: string };
  const temporary = tmpdir();
  const home = join(temporary, `tributary-browser-${version}-${process.getuid?.() ?? "user"}`);
  if (existsSync(home)) return home;
  const fresh = await mkdtemp(join(temporary, "tributary-unpacking-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = fresh;
  try {
    await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
  await writeFile(join(fresh, "fonts/fonts.conf"), fontsOf(home));
  // Another process may have been quicker.
  await rename(fresh, home).catch(() => rm(fresh, { recursive: true }));
  return home;
}

const fontsOf = (home: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${home}/fonts</dir><cachedir>${home}/cache</cachedir></fontconfig>
`;

/** What axe, which the page was opened with, finds: each with its places. */
export async function violations(page: Page): Promise<string[]> {
  const { violations: found, passes } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations", "passes"] }),
  );
  if (passes.length <= LEAST_RULES) throw new Error(`expected axe to try its rules, but ${passes.length} applied`);
  return found.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(", ")}`,
  );
}
