import { createHash } from "node:crypto";
import { lstat, mkdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ConfigError } from "../../errors.ts";
import type { PackageFile } from "./yaml_file.ts";

/** Names the files of a folder that are ours, each with the hashes it may have. Until a write is done that is the old one and the new one. */
const MANIFEST = ".tributary-dbt.json";
const ASIDE = ".tributary-dbt.new";

const manifestSchema = z.object({
  made_by: z.literal("tributary dbt"),
  files: z.record(z.string(), z.array(z.string())),
});

type Hashes = Readonly<Record<string, readonly string[]>>;

/** Instead of a hash: a folder or a link, which is nobody's to overwrite. */
const NO_FILE = "no file";

/** What a write did: paths below the folder. */
export interface Written {
  readonly written: readonly string[];
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Makes the folder hold these files. Files that are not ours are left alone; one in the way, or one of ours that somebody
 * edited, is refused before anything is written, unless it is to be forced. Whoever is killed meanwhile can do it again.
 * @throws ConfigError
 */
export async function writePackage(folder: string, files: readonly PackageFile[], force: boolean): Promise<Written> {
  try {
    return await write(folder, files, force);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof ConfigError || code === undefined) throw cause;
    const advice =
      code === "ENOSPC" ? "make room on its disk" : "check what it is and its rights, or name another folder";
    throw new ConfigError(`The folder ${folder} could not be written (${code}): ${advice}.`, cause);
  }
}

async function write(folder: string, files: readonly PackageFile[], force: boolean): Promise<Written> {
  const ours = await readManifest(folder, force);
  const wanted = new Map(files.map(file => [file.path, hashOf(file.text)]));
  const present = new Map<string, string | undefined>();
  for (const path of new Set([...wanted.keys(), ...Object.keys(ours)]))
    present.set(path, await hashAt(join(folder, path)));
  const isThere = (path: string) => present.get(path) !== undefined;
  const blocked = [...wanted.keys()].filter(path => present.get(path) === NO_FILE);
  if (blocked.length > 0)
    throw inTheWay(folder, blocked, () => "a folder or a link", "move it away, or name another folder");
  const changing = files.filter(({ path }) => present.get(path) !== wanted.get(path));
  const leaving = Object.keys(ours).filter(path => !wanted.has(path) && isThere(path) && present.get(path) !== NO_FILE);
  const foreign = [...changing.map(({ path }) => path), ...leaving].filter(
    path => isThere(path) && !ours[path]?.includes(present.get(path)!),
  );
  const whose = (path: string) => (path in ours ? "changed since tributary wrote it" : "not written by tributary");
  if (foreign.length > 0 && !force)
    throw inTheWay(folder, foreign, whose, "move them away, name another folder, or take --force to overwrite them");
  const done = { written: changing.map(({ path }) => path), removed: leaving };
  const unchanged = files.map(({ path }) => path).filter(path => !done.written.includes(path));
  const final = Object.fromEntries([...wanted].map(([path, hash]) => [path, [hash]]));
  await putAside(folder, changing);
  const meanwhile = [...new Set([...wanted.keys(), ...leaving])].map(path => {
    const hashes = [present.get(path), wanted.get(path)].filter(hash => hash !== undefined);
    return [path, [...new Set(hashes)]] as const;
  });
  if (changing.length + leaving.length > 0) await writeManifest(folder, Object.fromEntries(meanwhile));
  for (const { path } of changing) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await rename(join(folder, ASIDE, path), join(folder, path));
  }
  for (const path of leaving) await remove(folder, path);
  await writeManifest(folder, final);
  await rm(join(folder, ASIDE), { recursive: true, force: true });
  return { ...done, unchanged };
}

/** Everything is on the disk before the first file takes its place: a full disk changes nothing. */
async function putAside(folder: string, files: readonly PackageFile[]): Promise<void> {
  const aside = join(folder, ASIDE);
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  try {
    for (const { path, text } of files) {
      await mkdir(dirname(join(aside, path)), { recursive: true });
      await writeFile(join(aside, path), text);
    }
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw error;
  }
}

async function writeManifest(folder: string, files: Hashes): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify({ made_by: "tributary dbt", files: sorted }, null, 1)}\n`;
  await writeFile(join(folder, ASIDE, MANIFEST), text);
  await rename(join(folder, ASIDE, MANIFEST), join(folder, MANIFEST));
}

async function readManifest(folder: string, force: boolean): Promise<Hashes> {
  let text: string;
  try {
    text = await readFile(join(folder, MANIFEST), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  const parsed = manifestSchema.safeParse(parsedJson(text));
  // A path that leads out of the folder was not written by us.
  const inside =
    parsed.data !== undefined && Object.keys(parsed.data.files).every(path => !/^\/|\\|(^|\/)\.\.(\/|$)/.test(path));
  if (parsed.data !== undefined && inside) return parsed.data.files;
  if (force) return {};
  throw new ConfigError(
    `${join(folder, MANIFEST)} is not the list that \`tributary dbt\` wrote of its files: name another folder, or take --force, which overwrites files of the package's names.`,
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined where there is nothing. */
async function hashAt(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isFile() ? hashOf(await readFile(path)) : NO_FILE;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

async function remove(folder: string, path: string): Promise<void> {
  await rm(join(folder, path));
  // Folders that hold nothing else go with their last file.
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
  paths: readonly string[],
  why: (path: string) => string,
  advice: string,
): ConfigError {
  const lines = paths.slice(0, SHOWN).map(path => `  ${path} (${why(path)})`);
  const more = paths.length > SHOWN ? [`  and ${paths.length - SHOWN} more`] : [];
  const last = `Nothing was written: ${advice}.`;
  return new ConfigError([`${folder} holds what is in the way of the package:`, ...lines, ...more, last].join("\n"));
}
