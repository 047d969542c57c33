import type { Stats } from "node:fs";
import { chmod, link, mkdir, readdir, readFile, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { codeOf, entryAt, remove, syncFolder, writeDurably } from "../../../files.ts";
import type { Message } from "../../../message.ts";
import type { Release } from "../../destination.ts";
import { isDeadClaim } from "../lock/holder.ts";
import type { Layout } from "../session/file_layout.ts";
import { PLACED } from "../session/file_layout.ts";
import { duckdbMessages } from "../session/messages.ts";
import { copyDatabase } from "./copy.ts";
import { isVersion, lacksLinks, type MakeLink, nameAfter, nameIn, namesIn, targetOf } from "./version_names.ts";

/** Beside a version's database: its publish number. */
const NUMBER = "publish_number";

/** In `home`: the files that tributary put to the path itself, or began with, where no link leads to a version. */
const AT_PATH = "at_path.json";
const storedFiles = z.array(z.object({ size: z.number(), mtimeMs: z.number() }));

/** Whether the file at the path is one that work goes on from: anything else was put there by somebody, a backup say. */
export async function isKnownAtPath(layout: Layout, file: Pick<Stats, "size" | "mtimeMs">): Promise<boolean> {
  const text = await readFile(join(layout.home, AT_PATH), "utf8").catch(() => "[]");
  return storedFiles.parse(JSON.parse(text)).some(each => each.size === file.size && each.mtimeMs === file.mtimeMs);
}

/** Remembers these as the files that may stand at the path, before one of them is or is begun with: a kill may come in between. */
export async function knowAtPath({ home }: Layout, files: readonly (Stats | undefined)[]): Promise<void> {
  const known = files.flatMap(file => (file === undefined ? [] : [{ size: file.size, mtimeMs: file.mtimeMs }]));
  const made = join(home, `${AT_PATH}.tmp`);
  await writeDurably(made, JSON.stringify(known));
  await rename(made, join(home, AT_PATH));
  await syncFolder(home);
}

/** A link leads to a version now: the same file, put back one day, is somebody's. */
const forgetAtPath = ({ home }: Layout): Promise<void> => remove(join(home, AT_PATH));

/** The version that readers are given, by name; undefined when the path is no link of ours. */
export async function linkedVersion({ path, home }: Pick<Layout, "path" | "home">): Promise<string | undefined> {
  const target = await targetOf(path);
  return target === undefined ? undefined : nameIn(home, dirname(target));
}

export function versionFile(layout: Layout, name: string): string {
  return join(layout.home, name, layout.file);
}

/** The publish number that a version was made with; undefined for one that was made otherwise, or is no longer there. */
export async function notedNumber(layout: Layout, name: string): Promise<string | undefined> {
  if ((await entryAt(versionFile(layout, name))) === undefined) return undefined;
  return readFile(join(layout.home, name, NUMBER), "utf8").catch(() => undefined);
}

/**
 * Copies the checkpointed work file to a new version and lets the path lead there; `number` is noted beside it. Until the last rename readers see the old
 * one; a failure before it leaves nothing behind. Nobody may write meanwhile.
 */
export async function publishVersion(
  layout: Layout,
  number: string,
  now: number,
  keep: number,
  makeLink: MakeLink,
): Promise<Release> {
  const before = await namesIn(layout.home);
  const name = nameAfter(now, before);
  const unfinished = join(layout.home, `${name}.tmp`);
  let note: Message | undefined;
  try {
    await mkdir(unfinished);
    await copyDatabase(layout.work, join(unfinished, layout.file), 0o444);
    await writeDurably(join(unfinished, NUMBER), number);
    await syncFolder(unfinished);
    await rename(unfinished, join(layout.home, name));
    await syncFolder(layout.home);
    note = await pointTo(layout, name, makeLink);
  } catch (error) {
    await Promise.allSettled([unfinished, join(layout.home, name), `${layout.path}${PLACED}`].map(remove));
    throw error;
  }
  await syncFolder(dirname(layout.path));
  if (note === undefined) await forgetAtPath(layout);
  // A version that a reader holds open on Windows goes at a later publish.
  for (const old of before.slice(0, Math.max(0, before.length + 1 - Math.max(1, keep))))
    await remove(join(layout.home, old)).catch(() => undefined);
  return { path: layout.path, note };
}

/** Where a work file that cannot be opened is put: it is kept until the next one. */
export function damagedFile(layout: Layout): string {
  return join(layout.home, "damaged.duckdb");
}

/** Removes every version but the one that readers are given, and what was put aside; who holds an old one open keeps reading it until it is closed. */
export async function removeOtherVersions(layout: Layout): Promise<void> {
  const shown = await newestVersion(layout);
  await remove(damagedFile(layout));
  await removeLog(damagedFile(layout));
  for (const name of await namesIn(layout.home)) if (name !== shown) await remove(join(layout.home, name));
}

async function pointTo(layout: Layout, name: string, makeLink: MakeLink): Promise<Message | undefined> {
  try {
    const made = await linkTo(layout, name, makeLink);
    await removeLog(layout.path);
    await rename(made, layout.path);
    return undefined;
  } catch (error) {
    if (!lacksLinks(error)) throw error;
    return placeCopy(layout, name);
  }
}

/** Makes the link to a version, to be renamed to the path. */
async function linkTo(layout: Layout, name: string, makeLink: MakeLink): Promise<string> {
  const made = `${layout.path}${PLACED}`;
  await remove(made);
  await makeLink(join(basename(layout.home), name, layout.file), made);
  return made;
}

/** Where there are no links the file itself is replaced. A log that somebody left beside the old one would be replayed onto the new. */
async function placeCopy(layout: Layout, name: string): Promise<Message> {
  const placed = `${layout.path}${PLACED}`;
  await copyDatabase(versionFile(layout, name), placed, 0o444);
  await removeLog(layout.path);
  await knowAtPath(layout, [await entryAt(layout.path), await entryAt(placed)]);
  await rename(placed, layout.path);
  return duckdbMessages.no_links({ path: layout.path });
}

async function removeLog(database: string): Promise<void> {
  await remove(`${database}.wal`);
}

/** Makes the file that readers open a version, and the path its link; readers that hold it notice nothing. */
export async function adopt(layout: Layout, makeLink: MakeLink): Promise<void> {
  const { mtimeMs } = await stat(layout.path);
  const name = nameAfter(mtimeMs, await namesIn(layout.home));
  const unfinished = join(layout.home, `${name}.tmp`);
  try {
    await mkdir(unfinished);
    const file = join(unfinished, layout.file);
    await link(layout.path, file).catch(error => {
      if (codeOf(error) !== "EXDEV") throw error;
      return copyDatabase(layout.path, file, 0o444);
    });
    await rename(unfinished, join(layout.home, name));
    const made = await linkTo(layout, name, makeLink);
    await chmod(versionFile(layout, name), 0o444);
    await rename(made, layout.path);
  } catch (error) {
    await Promise.all([unfinished, join(layout.home, name)].map(remove));
    if (!lacksLinks(error)) throw error;
    return;
  }
  await forgetAtPath(layout);
}

/** Removes what killed publishes left, and logs that others left beside versions. Only with DuckDB's lock held. */
export async function removeLeftovers(layout: Layout): Promise<void> {
  await remove(`${layout.path}${PLACED}`);
  await removeLog(`${layout.path}${PLACED}`);
  for (const name of await readdir(layout.home)) {
    if (isVersion(name)) await removeLog(versionFile(layout, name));
    else if (name.endsWith(".tmp") || name === "link.new" || isDeadClaim(name)) await remove(join(layout.home, name));
  }
}

/** Newest version: the one readers are given, else the last by name. */
export async function newestVersion(layout: Layout): Promise<string | undefined> {
  const linked = await linkedVersion(layout);
  if (linked !== undefined && (await entryAt(versionFile(layout, linked)))) return linked;
  return (await namesIn(layout.home)).at(-1);
}
