import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of package.json, above these sources as above their compiled form. */
export function packageRoot(start = import.meta.dirname): string {
  if (existsSync(join(start, "package.json"))) return start;
  const above = dirname(start);
  if (above === start) throw new Error(`no package.json above ${import.meta.dirname}`);
  return packageRoot(above);
}

/** The version in package.json. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  return String((manifest as { readonly version: unknown }).version);
}
