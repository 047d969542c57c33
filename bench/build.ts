import { access, copyFile, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build as bundle, type Plugin } from "rolldown";
import { COPIED } from "../build.ts";
import config from "../rolldown.config.ts";

const root = resolve(import.meta.dirname, "..");

/** The product as it is installed, and the programs that are measured beside it. */
export interface Built {
  readonly cli: string;
  readonly floor: string;
  readonly meter: string;
}

/** Builds into a folder: stripping types at each start would be counted as the product's CPU. */
export async function build(folder: string): Promise<Built> {
  for (const part of ["node_modules", ...COPIED]) await symlink(join(root, part), join(folder, part), "junction");
  await copyFile(join(root, "package.json"), join(folder, "package.json"));
  const cli = await buildCommand(join(folder, "dist"));
  // Beside it, with their packages as npm ships them.
  const beside = join(folder, "beside");
  const input = { floor: "bench/floor.ts", meter: "bench/meter.ts" };
  await bundle({ cwd: root, logLevel: "warn", platform: "node", external: /^[^./]/, input, output: { dir: beside } });
  const built = { cli, floor: join(beside, "floor.js"), meter: join(beside, "meter.js") };
  for (const file of Object.values(built)) await access(file);
  return built;
}

/** Bundles the command into a folder below the one of `build`, as the product's own build does or with other plugins. */
export async function buildCommand(dir: string, plugins: readonly Plugin[] = config.plugins): Promise<string> {
  await bundle({ ...config, plugins: [...plugins], cwd: root, logLevel: "warn", output: { ...config.output, dir } });
  return join(dir, "tributary.js");
}
