import { randomUUID } from "node:crypto";
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
import { folderMessages } from "../messages.ts";
import { exportMessages } from "./messages.ts";

const UNFINISHED = ".tmp";

/** Where an export lies: `path` is a link to one of the versions in `home`. */
export interface Place {
  readonly path: string;
  readonly home: string;
  /** A private folder in `home` for what this one export has not finished. */
  readonly room: string;
}

/** The place that `--out` names. @throws ConfigError where something else stands, which is left as it is */
export async function placeOf(out: string, cwd: string): Promise<Place> {
  const path = resolve(cwd, out);
  const away = relative(path, cwd);
  if (away === "" || !(away.startsWith("..") || resolve(away) === away))
    throw new ConfigError(exportMessages.not_below({ out }));
  const home = `${path}.exports`;
  const place = { path, home, room: join(home, `${randomUUID()}${UNFINISHED}`) };
  const entry = await entryAt(path).catch(error => {
    const error_code = codeOf(error) ?? String(error);
    throw new ConfigError(folderMessages.not_writable({ folder: path, error_code, is_full: false }), error);
  });
  if ((await entryAt(home))?.isFile() === true) throw new ConfigError(exportMessages.versions_blocked({ out, home }));
  if (entry === undefined) return place;
  if (entry.isSymbolicLink()) {
    if ((await linked(place)) !== undefined) return place;
    throw new ConfigError(exportMessages.foreign_link({ out, target: await targetOf(path) }));
  }
  if (!entry.isDirectory()) throw new ConfigError(exportMessages.not_a_folder({ out }));
  if ((await readdir(path)).length > 0) throw new ConfigError(exportMessages.foreign_files({ out }));
  return place;
}

export async function linked({ path, home }: Place): Promise<string | undefined> {
  const target = await targetOf(path);
  return target === undefined ? undefined : nameIn(home, target);
}

/** A version in the making: readers see nothing of it before it is shown. */
export interface Unfinished {
  readonly name: string;
  readonly folder: string;
}

export async function begin(place: Place, now: number): Promise<Unfinished> {
  // Before leftovers go: their names are not used again.
  const name = nameAfter(now, await namesIn(place.home));
  await removeLeftovers(place);
  const folder = join(place.room, name);
  await mkdir(folder);
  return { name, folder };
}

/**
 * Lets the path lead to the finished version: one rename. Its files have to be on the disk by then. The link comes out of the
 * room, so an export whose room another one has moved away shows nothing.
 */
export async function show(place: Place, { name, folder }: Unfinished, makeLink: MakeLink): Promise<void> {
  const { path, home, room } = place;
  const made = join(room, "link");
  const version = join(home, name);
  await rename(folder, version);
  try {
    await syncFolder(home);
    await makeLink(join(basename(home), name), made).catch(error => {
      if (!lacksLinks(error)) throw error;
      throw new DestinationError(exportMessages.no_links({ path, error_code: codeOf(error) }), error);
    });
    if ((await entryAt(path))?.isDirectory() === true) await rmdir(path);
    await rename(made, path);
  } catch (error) {
    await remove(version).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/**
 * Removes what earlier exports left: their rooms, and versions that they finished and never showed. A room is moved away
 * whole before it is emptied: an export that is still at work in it fails.
 */
async function removeLeftovers(place: Place): Promise<void> {
  const { home, room } = place;
  const names = await readdir(home);
  for (const name of names.filter(name => name.endsWith(UNFINISHED) && name !== basename(room))) {
    const aside = join(room, name);
    await rename(join(home, name), aside).catch(error => {
      // Its export ended just now.
      if (codeOf(error) !== "ENOENT") throw error;
    });
    await remove(aside);
  }
  // Only now can none of these versions be shown any more.
  const shown = await linked(place);
  if (shown === undefined) return;
  for (const name of names.filter(name => isVersion(name) && name > shown)) await remove(join(home, name));
}

/** Keeps the newest versions up to the one that is shown, for readers in the middle of one; those that `mayStay` denies go all the same. */
export async function prune(place: Place, keep: number, mayStay: (folder: string) => Promise<boolean>): Promise<void> {
  const shown = await linked(place);
  if (shown === undefined) return;
  const older = (await namesIn(place.home)).filter(name => name < shown).reverse();
  for (const [nth, name] of older.entries()) {
    const folder = join(place.home, name);
    // One that a reader holds open on Windows goes the next time.
    if (nth + 1 >= keep || !(await mayStay(folder))) await remove(folder).catch(() => undefined);
  }
}
