import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

/**
 * A real browser without a window, from the npm registry. Its own list of arguments is for machines that allow no second
 * process and switches off rules this page must keep; a sandbox needs rights that root and containers don't have.
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  return playwright.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], headless: true });
}
