import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of package.json: the repository for these sources, the published package for the program built of them. */
export function packageRoot(start = import.meta.dirname): string {
  if (existsSync(join(start, "package.json"))) return start;
  const above = dirname(start);
  if (above === start) throw new Error(`no package.json above ${import.meta.dirname}`);
  return packageRoot(above);
}

/** When this build's files were written: it tells two builds of one version apart. */
export const builtAt = (): number => statSync(import.meta.filename).mtimeMs;

export function packageVersion(): string {
  return manifest().version;
}

export function manifest(): { readonly version: string; readonly engines: { readonly node: string } } {
  return JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
}

/** A file of `assets/`: what pages and packages are made with, as it is. */
export const asset = (name: string): string => readFileSync(join(packageRoot(), "assets", name), "utf8");
