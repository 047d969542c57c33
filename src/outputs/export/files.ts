import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../../files.ts";
import type { ExportedFile } from "./manifest.ts";

/** Makes files durable. Fails where one is no longer there. */
export async function syncFiles(folder: string, files: readonly ExportedFile[]): Promise<void> {
  for (const { path } of files) {
    await using handle = await open(join(folder, path), "r+");
    await handle.sync();
  }
}

/** Makes the names of everything below a folder durable. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncFolder(folder);
}
