import { execFile } from "node:child_process";
import { access, copyFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "..");
const run = promisify(execFile);

/** The product as it is installed, JavaScript without types, and the programs that are measured beside it. */
export interface Built {
  readonly cli: string;
  readonly floor: string;
  readonly meter: string;
}

/** Builds into a folder: stripping types at each start would be counted as the product's CPU. */
export async function build(folder: string): Promise<Built> {
  const project = join(folder, "tsconfig.json");
  const out = join(folder, "dist");
  const settings = {
    extends: join(root, "tsconfig.build.json"),
    compilerOptions: { rootDir: root, outDir: out },
    include: [...["src", "streams", "schemas"].map(name => join(root, name)), join(root, "bench")],
  };
  await writeFile(project, JSON.stringify(settings));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  await copyFile(join(root, "package.json"), join(folder, "package.json"));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  // Types are another command's business: what was emitted is what counts.
  const { stdout } = await run(process.execPath, [compiler, "-p", project]).catch(failure => failure);
  const cli = join(out, "src", "cli", "main.js");
  await access(cli).catch(() => {
    throw new Error(`expected the build to make ${cli}, but it said: ${stdout}`);
  });
  return { cli, floor: join(out, "bench", "floor.js"), meter: join(out, "bench", "meter.js") };
}
