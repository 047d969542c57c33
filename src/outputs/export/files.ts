import { copyFile, link, mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, syncFolder } from "../../files.ts";
import type { ExportedFile } from "./manifest.ts";

/** Whether all files are there as the manifest says; one that was cut short or written over is not. */
export async function areWhole(folder: string, files: readonly ExportedFile[]): Promise<boolean> {
  for (const { path, bytes } of files) {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (found?.isFile() !== true || found.size !== bytes) return false;
  }
  return true;
}

/** Answers of file systems that have no hard links, or not that many of one file. */
const noLinks = /^(EPERM|EXDEV|ENOSYS|ENOTSUP|EOPNOTSUPP|EMLINK)$/;

/** Takes files of another version over: they are the same files under one more name, copies where there are no hard links. */
export async function takeOver(from: string, to: string, files: readonly ExportedFile[]): Promise<void> {
  for (const { path } of files) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await link(join(from, path), join(to, path)).catch(async error => {
      if (!noLinks.test(codeOf(error) ?? "")) throw error;
      await copyFile(join(from, path), join(to, path));
      await syncFile(join(to, path));
    });
  }
}

/** Makes files durable. */
export async function syncFiles(folder: string, files: readonly ExportedFile[]): Promise<void> {
  for (const { path } of files) await syncFile(join(folder, path));
}

async function syncFile(path: string): Promise<void> {
  await using handle = await open(path, "r+");
  await handle.sync();
}

/** Makes the names of everything below a folder durable. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncFolder(folder);
}
