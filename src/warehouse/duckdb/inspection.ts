import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { entryAt } from "../../files.ts";
import { attempting } from "./session/failure.ts";
import { layoutOf, type Readers } from "./session/file_layout.ts";
import { presentAt, requireKnown } from "./versions/seed.ts";
import { namesIn } from "./versions/version_names.ts";

/** Where a warehouse file is or will be, in bytes: what the disk has free, and the size of the file that a run writes. */
export interface Room {
  readonly path: string;
  readonly folder: string;
  readonly free: number;
  readonly size: number;
  /** Published versions there are; a publish copies the file to one more. Undefined where readers open the file itself. */
  readonly versions: number | undefined;
  /** Where DuckDB puts what doesn't fit into its memory. */
  readonly spill: string;
}

/** Looks whether a run could make or write its files, and writes nothing. @throws DestinationError */
export async function inspectFile(settings: { readonly path: string; readonly readers: Readers }): Promise<Room> {
  const layout = layoutOf(settings);
  const { path, home, work, stage, spill } = layout;
  const folder = dirname(path);
  await attempting(`write to ${folder}`, async () => {
    if (!(await stat(folder)).isDirectory()) throw new Error(`ENOTDIR: ${folder} is no folder`);
    await access(folder, constants.W_OK | constants.X_OK);
    for (const own of [home, work, stage]) if (await entryAt(own)) await access(own, constants.W_OK);
  });
  return attempting(`look at ${path}`, async () => {
    if ((await presentAt(layout)) === "file") await requireKnown(layout);
    // What a run writes lies in `home`, which may be a disk of its own.
    const there = (await entryAt(home)) !== undefined;
    const { bavail, bsize } = await statfs(there ? home : folder);
    const versions = layout.readers === "direct" ? undefined : there ? (await namesIn(home)).length : 0;
    return { path, folder, free: bavail * bsize, size: (await entryAt(work))?.size ?? 0, versions, spill };
  });
}
