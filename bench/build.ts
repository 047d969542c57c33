import { access, copyFile, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build as bundle } from "rolldown";
import config, { leanUndici } from "../rolldown.config.ts";

const root = resolve(import.meta.dirname, "..");

/** The product as it is installed, and the programs that are measured beside it. */
export interface Built {
  readonly cli: string;
  readonly floor: string;
  readonly meter: string;
}

/** Builds into a folder: stripping types at each start would be counted as the product's CPU. */
export async function build(folder: string): Promise<Built> {
  const dir = join(folder, "dist");
  for (const part of ["node_modules", "models"]) await symlink(join(root, part), join(folder, part), "junction");
  await copyFile(join(root, "package.json"), join(folder, "package.json"));
  // Not the one that writes licences.
  const settings = { ...config, plugins: [leanUndici] };
  await bundle({ ...settings, cwd: root, logLevel: "warn", output: { ...config.output, dir } });
  // Beside it, with their packages as npm ships them.
  const beside = join(folder, "beside");
  const input = { floor: "bench/floor.ts", meter: "bench/meter.ts" };
  await bundle({ cwd: root, logLevel: "warn", platform: "node", external: /^[^./]/, input, output: { dir: beside } });
  const built = { cli: join(dir, "tributary.js"), floor: join(beside, "floor.js"), meter: join(beside, "meter.js") };
  for (const file of Object.values(built)) await access(file);
  return built;
}
