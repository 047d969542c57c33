import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of package.json: the repository for these sources, the published package for the program built of them. */
export function packageRoot(start = import.meta.dirname): string {
  if (existsSync(join(start, "package.json"))) return start;
  const above = dirname(start);
  if (above === start) throw new Error(`no package.json above ${import.meta.dirname}`);
  return packageRoot(above);
}

/** The commit that the build was made of and its date, put in by the build; empty for a build of something else. */
declare const BUILD: string;

/** The same; undefined too for the sources. */
const build = typeof BUILD === "undefined" || BUILD === "" ? undefined : BUILD;

/** Tells two builds of one version apart: by their commits, else by when their files were written. */
export const buildIdentity = (): string | number => build ?? statSync(import.meta.filename).mtimeMs;

export function packageVersion(): string {
  return manifest().version;
}

/** The version for people, `0.1.0 (8f23a01b, 2026-11-29)`. */
export const versionInWords = (): string => `${packageVersion()}${build === undefined ? "" : ` (${build})`}`;

export function manifest(): { readonly version: string; readonly engines: { readonly node: string } } {
  return JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
}

/** A file of `assets/`: what pages and packages are made with, as it is. */
export const asset = (name: string): string => readFileSync(join(packageRoot(), "assets", name), "utf8");
