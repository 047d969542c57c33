import type { Stats } from "node:fs";
import { lstat, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TributaryError } from "./errors.ts";

/** Makes the entries of a folder durable. Systems that cannot sync a folder (Windows) need no help there. */
export async function syncFolder(path: string): Promise<void> {
  await using handle = await open(path, "r").catch(error => {
    if (codeOf(error) === "EPERM" || codeOf(error) === "EISDIR") return undefined;
    throw error;
  });
  await handle?.sync().catch(error => {
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "EINVAL") throw error;
  });
}

/** Writes a file whole and makes its bytes durable; its name is so only after `syncFolder`. */
export async function writeDurably(path: string, bytes: string | Uint8Array, mode = 0o600, flags = "w"): Promise<void> {
  const handle = await open(path, flags, mode);
  // A full disk may fail both: `using` would hide what it says behind a SuppressedError.
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder, and those above it that are not there. Node.js's own way (`recursive`) never ends where a file system makes none
 * below a folder that is there, as in /proc.
 */
export async function makeFolder(path: string, mode = 0o777, isLastTry = false): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (codeOf(error) === "EEXIST" && (await stat(path)).isDirectory()) return;
    const above = dirname(path);
    if (codeOf(error) !== "ENOENT" || above === path || isLastTry) throw error;
    await makeFolder(above, mode);
    await makeFolder(path, mode, true);
  }
}

/** Replaces a file by one rename: a reader sees the old one or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const aside = join(folder, `.${basename(path)}.tributary`);
  try {
    await makeFolder(folder);
    // A killed process may have left one behind, and a link is not followed.
    await rm(aside, { force: true });
    await writeDurably(aside, text, 0o666, "wx");
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder).catch(() => undefined);
}

/** What stands there, links not followed; undefined when nothing does. */
export async function entryAt(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(error => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
}

/** Removes whatever it is, if it is there. */
export async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** What a failure of the disk says: of Node.js its code, of DuckDB the system's words. */
export const diskFailure = {
  full: /ENOSPC|EDQUOT|EFBIG|No space left|File too large|[Dd]isk (is )?full|quota exceeded|max_temp_directory_size/,
  readOnly: /EROFS|Read-only file system/,
  denied: /EACCES|EPERM|Permission denied|Operation not permitted/,
  notFolder: /ENOTDIR|Not a directory/,
  gone: /ENOENT|ESTALE|No such file or directory/,
} as const;

export const FULL = "The disk is full, or your quota is used up.";
export const DENIED = "This user may not write there.";

/** `code` of a system error, not of a message; of the first one where closing failed, too. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof SuppressedError) return codeOf(error.suppressed);
  if (typeof error !== "object" || error === null || error instanceof TributaryError) return undefined;
  return "code" in error ? String(error.code) : undefined;
}

/** What a text of JSON says; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
