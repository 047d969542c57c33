import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { entryAt } from "../../src/files.ts";

const run = promisify(execFile);
/** What brings something over a network is given so long. */
export const LIMIT_MS = 120_000;

/** A folder of this name that `bring` has filled, in this run or an earlier one. */
export async function kept(name: string, bring: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(import.meta.dirname, "../../node_modules/.cache", name);
  if ((await entryAt(folder)) !== undefined) return folder;
  const making = await mkdtemp(join(tmpdir(), "tributary-brought-"));
  try {
    await bring(making);
    await mkdir(dirname(folder), { recursive: true });
    // Another run may have been first. Not a rename, which goes no further than one disk.
    const placed = `${folder}.${process.pid}`;
    await cp(making, placed, { recursive: true });
    await rename(placed, folder).catch(() => rm(placed, { recursive: true }));
    return folder;
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** The name of a Python that has pip; throws where there is none. */
export async function pythonWithPip(): Promise<string> {
  const names = ["python3", "python3.11", "python", "/usr/bin/python3"];
  for (const name of names) {
    const found = await run(name, ["-m", "pip", "--version"], { timeout: LIMIT_MS }).catch(() => undefined);
    if (found !== undefined) return name;
  }
  throw new Error(`none of ${names.join(", ")} has pip`);
}

/** A Python that finds these packages, and the variables by which it does. Throws where there is no Python with pip, or it cannot bring them. */
export async function pythonWith(
  ...packages: readonly string[]
): Promise<{ readonly python: string; readonly env: Readonly<Record<string, string>> }> {
  const python = await pythonWithPip();
  const folder = await kept(join("python", packages[0]!), async making => {
    await run(python, ["-m", "pip", "install", "--quiet", "--target", making, ...packages], { timeout: LIMIT_MS });
  });
  return { python, env: { PATH: process.env["PATH"] ?? "", PYTHONPATH: folder } };
}
