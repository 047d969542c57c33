import { createHash } from "node:crypto";
import { readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ConfigError } from "../errors.ts";
import { diskFailure, entryAt, parsedJson, replaceFile } from "../files.ts";
import { folderMessages, type InTheWay } from "./messages.ts";

/** A file to be written; `path` is below the folder, with slashes. */
export interface OwnedFile {
  readonly path: string;
  readonly text: string;
}

/** Names the files of a folder that a command wrote, each with the hashes it may have. Until a write is done that is the old one and the new one. */
const manifestOf = (command: string) => `.${command.replace(" ", "-")}.json`;

const manifestSchema = z.object({
  made_by: z.string(),
  files: z.record(z.string(), z.array(z.string())),
});

type Hashes = Readonly<Record<string, readonly string[]>>;

/** Instead of a hash: a folder or a link, which is never overwritten. */
const NO_FILE = "no file";

export interface Written {
  readonly written: readonly string[];
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Makes the folder hold these files. Files that are not ours are left alone; one in the way, or one of ours that somebody
 * edited, is refused before anything is written. After a kill the same command does it again.
 * @throws ConfigError
 */
export async function writeOwned(folder: string, files: readonly OwnedFile[], command: string): Promise<Written> {
  try {
    return await write(folder, files, command);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof ConfigError || code === undefined) throw cause;
    const is_full = diskFailure.full.test(code);
    throw new ConfigError(folderMessages.not_writable({ folder, error_code: code, is_full }), cause);
  }
}

async function write(folder: string, files: readonly OwnedFile[], command: string): Promise<Written> {
  const ours = await readManifest(folder, command);
  const wanted = new Map(files.map(file => [file.path, hashOf(file.text)]));
  const present = new Map<string, string | undefined>();
  for (const path of new Set([...wanted.keys(), ...Object.keys(ours)]))
    present.set(path, await hashAt(join(folder, path)));
  const isThere = (path: string) => present.get(path) !== undefined;
  const blocked = [...wanted.keys()].filter(path => present.get(path) === NO_FILE);
  if (blocked.length > 0) throw inTheWay(folder, command, blocked, () => "no_file");
  const changing = files.filter(({ path }) => present.get(path) !== wanted.get(path));
  const leaving = Object.keys(ours).filter(path => !wanted.has(path) && isThere(path) && present.get(path) !== NO_FILE);
  const foreign = [...changing.map(({ path }) => path), ...leaving].filter(
    path => isThere(path) && !ours[path]?.includes(present.get(path)!),
  );
  if (foreign.length > 0) throw inTheWay(folder, command, foreign, path => (path in ours ? "changed" : "foreign"));
  const done = { written: changing.map(({ path }) => path), removed: leaving };
  const unchanged = files.map(({ path }) => path).filter(path => !done.written.includes(path));
  const final = [...wanted].map(([path, hash]): [string, readonly string[]] => [path, [hash]]);
  const list = (files: typeof final) => writeManifest(folder, command, Object.fromEntries(files));
  const meanwhile = [...new Set([...wanted.keys(), ...leaving])].map(path => {
    const hashes = [present.get(path), wanted.get(path)].filter(hash => hash !== undefined);
    return [path, [...new Set(hashes)]] as [string, readonly string[]];
  });
  if (changing.length + leaving.length > 0) await list(meanwhile);
  for (const { path, text } of changing) await replaceFile(join(folder, path), text);
  for (const path of leaving) await remove(folder, path);
  await list(final);
  return { ...done, unchanged };
}

async function writeManifest(folder: string, command: string, files: Hashes): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify({ made_by: command, files: sorted }, null, 1)}\n`;
  await replaceFile(join(folder, manifestOf(command)), text);
}

async function readManifest(folder: string, command: string): Promise<Hashes> {
  const file = join(folder, manifestOf(command));
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  const { data } = manifestSchema.safeParse(parsedJson(text));
  // We write no paths that lead out of the folder.
  const isInside = (path: string) => !/^\/|\\|(^|\/)\.\.(\/|$)/.test(path);
  if (data?.made_by === command && Object.keys(data.files).every(isInside)) return data.files;
  throw new ConfigError(folderMessages.foreign_list({ file, command }));
}

async function hashAt(path: string): Promise<string | undefined> {
  const entry = await entryAt(path);
  return entry?.isFile() ? hashOf(await readFile(path)) : entry && NO_FILE;
}

const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

async function remove(folder: string, path: string): Promise<void> {
  await rm(join(folder, path));
  // Folders that have become empty are removed too.
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    try {
      await rmdir(join(folder, above));
    } catch {
      return;
    }
  }
}

const SHOWN = 10;

function inTheWay(
  folder: string,
  command: string,
  paths: readonly string[],
  is: (path: string) => InTheWay["is"],
): ConfigError {
  const files = paths.slice(0, SHOWN).map(path => ({ path, is: is(path) }));
  return new ConfigError(folderMessages.in_the_way({ folder, command, files, more: paths.length - files.length }));
}
