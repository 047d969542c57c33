import { mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { ConfigError, DestinationError } from "../../errors.ts";
import { codeOf, entryAt, remove, syncFolder } from "../../files.ts";
import {
  isVersion,
  lacksLinks,
  type MakeLink,
  nameAfter,
  nameIn,
  namesIn,
  targetOf,
} from "../../warehouse/duckdb/versions/version_names.ts";
import { exportMessages } from "./messages.ts";

/** What a link to the path is prepared as. */
const PLACED = ".tributary.new";

/** Where an export lies: `path` is a link to one of the versions in `home`. */
export interface Place {
  readonly path: string;
  readonly home: string;
}

/** The place that `--out` names. @throws ConfigError where something else stands, which is left as it is */
export async function placeOf(out: string, cwd: string): Promise<Place> {
  const path = resolve(cwd, out);
  const away = relative(path, cwd);
  if (away === "" || !(away.startsWith("..") || resolve(away) === away))
    throw new ConfigError(exportMessages.not_below({ out }));
  const place = placeAt(path);
  const entry = await entryAt(path);
  const home = await entryAt(place.home);
  if (home?.isFile() === true) throw new ConfigError(exportMessages.versions_blocked({ out, home: place.home }));
  if (entry === undefined) return place;
  if (entry.isSymbolicLink()) {
    if ((await linked(place)) !== undefined) return place;
    throw new ConfigError(exportMessages.foreign_link({ out, target: await targetOf(path) }));
  }
  if (!entry.isDirectory()) throw new ConfigError(exportMessages.not_a_folder({ out }));
  if ((await readdir(path)).length > 0) throw new ConfigError(exportMessages.foreign_files({ out }));
  return place;
}

/** The private folder for what is on its way, there while an export is made. */
export const roomIn = ({ home }: Place): string => join(home, "room.tmp");

/** The version that readers are given. */
export async function linked({ path, home }: Place): Promise<string | undefined> {
  const target = await targetOf(path);
  return target === undefined ? undefined : nameIn(home, target);
}

/** A version in the making: readers see nothing of it before it is shown. */
export interface Unfinished {
  readonly name: string;
  readonly folder: string;
}

export async function begin({ home }: Place, now: number): Promise<Unfinished> {
  const name = nameAfter(now, await namesIn(home));
  const folder = join(home, `${name}.tmp`);
  await mkdir(folder);
  return { name, folder };
}

/** Lets the path lead to the finished version: one rename. Its files have to be on the disk by then. */
export async function show(place: Place, { name, folder }: Unfinished, makeLink: MakeLink): Promise<void> {
  const { path, home } = place;
  const made = `${path}${PLACED}`;
  const version = join(home, name);
  try {
    await rename(folder, version);
    await syncFolder(home);
    await remove(made);
    await makeLink(join(basename(home), name), made).catch(error => {
      if (!lacksLinks(error)) throw error;
      throw new DestinationError(exportMessages.no_links({ path, error_code: codeOf(error) }), error);
    });
    if ((await entryAt(path))?.isDirectory() === true) await rmdir(path);
    await rename(made, path);
  } catch (error) {
    await Promise.allSettled([version, made].map(remove));
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Removes what killed exports left: all that is unfinished, and versions that were finished and never shown. Only for who holds the place. */
export async function removeLeftovers(place: Place): Promise<void> {
  await remove(`${place.path}${PLACED}`);
  const shown = await linked(place);
  for (const name of await readdir(place.home)) {
    const releaseState = shown !== undefined && isVersion(name) && name > shown;
    if (releaseState || name.endsWith(".tmp")) await remove(join(place.home, name));
  }
}

/** Keeps the newest versions, for readers that are in the middle of one; those that `mayStay` denies go all the same. */
export async function prune(
  place: Place,
  keep: number,
  mayStay: (folder: string) => Promise<boolean> = async () => true,
): Promise<void> {
  const shown = await linked(place);
  const names = (await namesIn(place.home)).filter(name => name !== shown);
  const surplus = Math.max(0, names.length + 1 - Math.max(1, keep));
  for (const [nth, name] of names.entries()) {
    const folder = join(place.home, name);
    // One that a reader holds open on Windows goes the next time.
    if (nth < surplus || !(await mayStay(folder))) await remove(folder).catch(() => undefined);
  }
}

/** The place of an export that has been made. */
export const placeAt = (path: string): Place => ({ path, home: `${path}.exports` });

/** The folders of all versions; none where nothing was exported, or no longer is. */
export async function versionsAt({ home }: Place): Promise<readonly string[]> {
  const names = await namesIn(home).catch(error => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  return names.map(name => join(home, name));
}
