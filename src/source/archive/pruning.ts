import { rm, rmdir } from "node:fs/promises";
import { beganAt, filesIn, foldersIn } from "./places.ts";

/** Removes the files of runs that began before `before` (ms since 1970), and folders that are empty then. Others are not touched. */
export async function pruneArchive(root: string, before: number): Promise<number> {
  let removed = 0;
  for (const company of await foldersIn(root)) {
    for (const stream of await foldersIn(company)) {
      const old = (await filesIn(stream)).filter(({ run }) => beganAt(run) < before);
      for (const { path } of old) await rm(path, { force: true });
      removed += old.length;
      if (old.length > 0) await removeEmpty(stream);
    }
    if (removed > 0) await removeEmpty(company);
  }
  return removed;
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link to a folder is none (ENOTDIR), and whoever made it wants it.
    if (!["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"].includes(code ?? "")) throw error;
  }
}
