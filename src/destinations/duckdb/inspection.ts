import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { attempting } from "./failure.ts";
import { entryAt } from "./folder.ts";
import { layoutOf, type Readers } from "./layout.ts";
import { presentAt } from "./seed.ts";

/** Where a warehouse file is or will be, in bytes: what the disk has free, and the size of what a publish copies. */
export interface Room {
  readonly path: string;
  readonly folder: string;
  readonly free: number;
  readonly size: number;
}

/** Looks whether a run could make or write its files, and writes nothing. @throws DestinationError */
export async function inspectFile(settings: { readonly path: string; readonly readers: Readers }): Promise<Room> {
  const layout = layoutOf(settings);
  const { path, home, work } = layout;
  const folder = dirname(path);
  await attempting(`write to ${folder}`, async () => {
    if (!(await stat(folder)).isDirectory()) throw new Error(`ENOTDIR: ${folder} is no folder`);
    await access(folder, constants.W_OK | constants.X_OK);
    for (const own of [home, work]) if (await entryAt(own)) await access(own, constants.W_OK);
  });
  return attempting(`look at ${path}`, async () => {
    await presentAt(layout);
    const { bavail, bsize } = await statfs(folder);
    return { path, folder, free: bavail * bsize, size: (await entryAt(work))?.size ?? 0 };
  });
}
