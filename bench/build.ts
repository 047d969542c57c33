import { access, copyFile, readFile, symlink, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join, resolve } from "node:path";
import { build as bundle } from "rolldown";
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
  const dir = join(folder, "dist");
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  await copyFile(join(root, "package.json"), join(folder, "package.json"));
  const { input, plugins: _, ...settings } = config;
  await bundle({ ...settings, cwd: root, logLevel: "warn", input, output: { ...config.output, dir } });
  for (const name of ["floor", "meter"]) {
    const source = await readFile(join(root, "bench", `${name}.ts`), "utf8");
    await writeFile(join(folder, `${name}.mjs`), stripTypeScriptTypes(source));
  }
  const built = { cli: join(dir, "tributary.js"), floor: join(folder, "floor.mjs"), meter: join(folder, "meter.mjs") };
  for (const file of Object.values(built)) await access(file);
  return built;
}
