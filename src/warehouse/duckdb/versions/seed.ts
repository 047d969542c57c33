import { readlink, rename } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DestinationError } from "../../../errors.ts";
import { codeOf, entryAt, remove, syncFolder } from "../../../files.ts";
import { asLocked, isAlive, lockedError, readHolder } from "../lock/holder.ts";
import { isDamage } from "../session/failure.ts";
import type { Layout } from "../session/file_layout.ts";
import { duckdbMessages } from "../session/messages.ts";
import { checkpoint, identify, makeWhole, openSession, type Resources, type Session } from "../session/session.ts";
import { copyDatabase } from "./copy.ts";
import { damagedFile, isKnownAtPath, knowAtPath, linkedVersion, newestVersion, versionFile } from "./versions.ts";

export interface Opening {
  readonly layout: Layout;
  readonly stateSchema: string;
  readonly resources: Resources;
}

/** The file whose lock lets one process at a time make the work file. It may go whenever the work file is there. */
export function guardFile(layout: Layout): string {
  return join(layout.home, "seeding.tmp");
}

/** What stands at the path that analysts open. */
export type Present = "nothing" | "version" | "file";

/** Looks at the path; DestinationError when something stands there that tributary must not replace. */
export async function presentAt(layout: Layout): Promise<Present> {
  if (layout.readers === "snapshot") await requireAlone(layout);
  const { path } = layout;
  const entry = await entryAt(path);
  if (entry === undefined) return "nothing";
  if (entry.isSymbolicLink()) {
    if (layout.readers === "snapshot" && (await linkedVersion(layout)) !== undefined) return "version";
    const target = await readlink(path);
    throw new DestinationError(duckdbMessages.path_is_link({ path, target, direct: layout.readers === "direct" }));
  }
  if (entry.isDirectory()) throw new DestinationError(duckdbMessages.path_is_folder({ path }));
  if (!entry.isFile()) throw new DestinationError(duckdbMessages.path_is_special({ path }));
  return "file";
}

/** A publish to one of two paths that share their versions would remove what readers of the other are given. */
async function requireAlone(layout: Layout): Promise<void> {
  const { path, twin, home } = layout;
  if ((await linkedVersion({ home, path: twin })) === undefined) return;
  throw new DestinationError(duckdbMessages.second_path({ path, versions_folder: home, other_path: twin }));
}

/**
 * Opens a file for a look at whose it is, without changing it. LockedError when it is in use; DestinationError unless it is ours
 * or, where the caller `acceptsEmpty`, a database without a single table.
 */
export async function requireOurs(opening: Opening, file: string, acceptsEmpty = false): Promise<void> {
  (await openOurs(opening, file, acceptsEmpty)).close();
}

/** The same, and the session with the file open for reading. */
export async function openOurs(opening: Opening, file: string, acceptsEmpty = false): Promise<Session> {
  const { layout, resources } = opening;
  const session = await openSession(file, true, resources).catch(async error => {
    if (/not a valid DuckDB database/.test(String(error)))
      throw new DestinationError(duckdbMessages.no_database({ path: layout.path, file }), error);
    return asLocked(layout, file)(error);
  });
  try {
    await requireIdentity(opening, file, session, acceptsEmpty);
    return session;
  } catch (error) {
    session.close();
    throw error;
  }
}

/** DestinationError when a publish would replace what isn't ours: it may have come to the path since the run began. */
export async function requireReplaceable(opening: Opening): Promise<void> {
  const { layout } = opening;
  if ((await presentAt(layout)) !== "file") return;
  await requireOurs(opening, layout.path);
  await requireKnown(layout);
}

/** DestinationError for a file at the path that work does not go on from, though it may be a warehouse: a publish would replace it. */
export async function requireKnown(layout: Layout): Promise<void> {
  const [file, work] = await Promise.all([layout.path, layout.work].map(entryAt));
  if (layout.readers === "direct" || work === undefined || file === undefined) return;
  if (await isKnownAtPath(layout, file)) return;
  throw new DestinationError(duckdbMessages.unknown_file({ path: layout.path, versions_folder: layout.home }));
}

/** DestinationError unless the open file is ours (or empty, where that is accepted). */
export async function requireIdentity(
  { layout, stateSchema }: Opening,
  file: string,
  session: Session,
  acceptsEmpty: boolean,
): Promise<void> {
  const identity = await identify(session.connection, stateSchema);
  if (identity === "ours" || (identity === "empty" && acceptsEmpty)) return;
  throw new DestinationError(duckdbMessages.not_ours({ path: layout.path, file, state_schema: stateSchema }));
}

/**
 * Makes the work file, when it is missing, from what readers were given last. Returns whether a regular file at the path was
 * its source.
 */
export async function seed(opening: Opening, present: Present): Promise<boolean> {
  const { layout } = opening;
  if (await entryAt(layout.work)) return false;
  // Removed under a run that goes on: two would work on one stream.
  const holder = await readHolder(layout);
  if (holder !== undefined && holder.host === hostname() && holder.pid !== process.pid && isAlive(holder.pid))
    throw await lockedError(layout, holder.pid);
  return guarded(opening, async () => {
    if (await entryAt(layout.work)) return false;
    // A log without its file would be replayed onto the new one.
    await remove(`${layout.work}.wal`);
    const source = await sourceOf(layout, present);
    if (source === undefined) return false;
    await placeCopy(opening, source);
    return source === layout.path;
  });
}

/**
 * Puts a work file that cannot be opened aside, and a copy of what readers were given last in its place. Returns what that
 * was; undefined when there is nothing to go on from, or when the file can be opened by now.
 */
export async function replaceDamaged(opening: Opening, present: Present): Promise<string | undefined> {
  const { layout } = opening;
  return guarded(opening, async () => {
    // Another process may have been faster, or the disk have had a bad moment.
    if (!(await isDamaged(opening))) return undefined;
    const source = await sourceOf(layout, present);
    if (source === undefined) return undefined;
    const aside = damagedFile(layout);
    await placeCopy(opening, source, async () => {
      await remove(`${aside}.wal`);
      await rename(layout.work, aside);
      // Here, a kill leaves a log without its file.
      await rename(`${layout.work}.wal`, `${aside}.wal`).catch(ignoreMissing);
    });
    return source;
  });
}

/** One process at a time: DuckDB's lock on a file of its own is let go even by a killed one. */
async function guarded<T>({ layout, resources }: Opening, work: () => Promise<T>): Promise<T> {
  await makeWhole(guardFile(layout), layout, resources);
  const guard = await openSession(guardFile(layout), false, resources).catch(asLocked(layout));
  try {
    return await work();
  } finally {
    guard.close();
  }
}

/** What readers were given last; undefined where they were given nothing yet. */
async function sourceOf(layout: Layout, present: Present): Promise<string | undefined> {
  if (present === "file") return layout.path;
  const newest = await newestVersion(layout);
  return newest === undefined ? undefined : versionFile(layout, newest);
}

async function isDamaged({ layout, resources }: Opening): Promise<boolean> {
  try {
    const session = await openSession(layout.work, false, resources).catch(asLocked(layout));
    session.close();
    return false;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

/** Copies the source to the work file's place; `makeWay` comes when the copy is whole. */
async function placeCopy(opening: Opening, source: string, makeWay = async (): Promise<void> => undefined) {
  const { layout } = opening;
  if (source !== layout.path) await remove(`${source}.wal`);
  await requireOurs(opening, source);
  if (await entryAt(`${source}.wal`)) await replayLog(opening, source);
  if (source === layout.path) await knowAtPath(layout, [await entryAt(source)]);
  const made = join(layout.home, "work.tmp");
  try {
    await copyDatabase(source, made, 0o644);
    await makeWay();
    await rename(made, layout.work);
  } catch (error) {
    await remove(made);
    throw error;
  }
  await syncFolder(layout.home);
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

async function replayLog({ layout, resources }: Opening, source: string): Promise<void> {
  using session = await openSession(source, false, resources).catch(asLocked(layout));
  await checkpoint(session.connection);
}
