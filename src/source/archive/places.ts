import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { TributaryError } from "../../errors.ts";
import { archiveMessages } from "./messages.ts";

const LONGEST_NAME = 100;

/** A file of the archive: the `nth` of a run and stream, from 1. */
export interface ArchiveFile {
  readonly path: string;
  readonly run: string;
  readonly nth: number;
}

export function folderOf(root: string, company: string, stream: string): string {
  return join(root, safeName(company), safeName(stream));
}

/** `<run>.ndjson.zst`, then `<run>.2.ndjson.zst` … */
export function fileName(run: string, nth: number): string {
  return `${run}${nth === 1 ? "" : `.${nth}`}.ndjson.zst`;
}

/** One path segment, whatever the name is; different names stay different. */
export function safeName(name: string): string {
  const safe = encodeURIComponent(name.toWellFormed())
    .replace(/^\./, "%2E")
    .replace(/[*'()!~]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  if (safe.length <= LONGEST_NAME) return safe;
  return `${safe.slice(0, LONGEST_NAME - 17)}-${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
}

const named = /^(\d{8}T\d{6}-[0-9a-f]{8})(?:\.(\d+))?\.ndjson\.zst$/;

/** The archive's files in a folder, in the order in which they were written; none where there is no folder. */
export async function filesIn(folder: string): Promise<readonly ArchiveFile[]> {
  const files = (await entriesOf(folder)).flatMap(entry => {
    const [, run, nth = "1"] = named.exec(entry.name) ?? [];
    return run === undefined || !entry.isFile() ? [] : [{ path: join(folder, entry.name), run, nth: Number(nth) }];
  });
  return files.sort((a, b) => (a.run === b.run ? a.nth - b.nth : a.run < b.run ? -1 : 1));
}

/** The folders in a folder, and links to folders, through which a run writes; none where it is not there. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(path)))) folders.push(path);
  }
  return folders;
}

/** Links that lead nowhere: what lies behind them is on a disk that is not there. */
export async function lostLinksIn(folder: string): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    const found = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : entry;
    if (found === undefined) lost.push(path);
  }
  return lost;
}

const leadsToFolder = (link: string): Promise<boolean> =>
  stat(link).then(
    found => found.isDirectory(),
    () => false,
  );

/** When the run began that a file is named after, ms since 1970. */
export function beganAt(run: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(run) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new TributaryError(archiveMessages.unreadable_folder({ folder, reason: String(code) }), 1, error);
  }
}
