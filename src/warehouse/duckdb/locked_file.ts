import { mkdir, readdir, rmdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { DestinationError, LockedError } from "../../errors.ts";
import { codeOf, entryAt, remove } from "../../files.ts";
import type { Message } from "../../message.ts";
import type { Holder } from "../destination.ts";
import { asLocked, claim, renewClaim, writeHolder } from "./lock/holder.ts";
import { attempting, firstLineOf, isDamage } from "./session/failure.ts";
import { isStageFolder, type Layout } from "./session/file_layout.ts";
import { duckdbMessages } from "./session/messages.ts";
import { checkpoint, identify, makeWhole, openSession, type Session } from "./session/session.ts";
import {
  guardFile,
  type Opening,
  type Present,
  presentAt,
  replaceDamaged,
  requireIdentity,
  requireKnown,
  requireOurs,
  seed,
} from "./versions/seed.ts";
import type { MakeLink } from "./versions/version_names.ts";
import { adopt, damagedFile, removeLeftovers } from "./versions/versions.ts";

export interface LockedFile {
  readonly session: Session;
  /** @throws DestinationError when the file is no longer the one at its path: what is written to it is lost. */
  requireInPlace(): Promise<void>;
  /** Gives it up, checkpointed where that is possible; `isShown`: it was checkpointed for readers before. */
  release(isShown: boolean): Promise<void>;
}

export interface Taking extends Opening {
  readonly holder: Holder;
  readonly makeLink: MakeLink;
  /** Hears what a run has to tell though it can go on. */
  readonly warn: (warning: Message) => void;
}

/** Takes the file for this session alone, making it where there is none. LockedError when another has it, DestinationError when it cannot be used. */
export async function takeFile(taking: Taking): Promise<LockedFile> {
  const { layout } = taking;
  return attempting(`open the warehouse file ${layout.path}`, async () => {
    const present = await presentAt(layout);
    await mkdir(layout.home).catch(ignoreExisting);
    const giveUpClaim = await claim(layout);
    try {
      return await open(taking, present, giveUpClaim);
    } catch (error) {
      await giveUpClaim();
      throw error;
    }
  });
}

async function open(taking: Taking, present: Present, giveUpClaim: () => Promise<void>): Promise<LockedFile> {
  const { layout, stateSchema, holder, resources } = taking;
  const direct = layout.readers === "direct";
  let seeded = direct ? false : await seed(taking, present);
  if (present === "file" && !seeded && !direct) {
    await requireOurs(taking, layout.path);
    await requireKnown(layout);
  }
  const isNew = !seeded && (await entryAt(layout.work)) === undefined;
  if (isNew) await makeWhole(layout.work, layout, resources);
  // The file at the path is the work file itself: whose it is has to be known before it is opened for writing, which may change it.
  if (present === "file" && direct) await requireOurs(taking, layout.path, true);
  const openWork = () => openSession(layout.work, false, resources).catch(asLocked(layout));
  // Another program may have it for a look.
  const opening = openWork().catch(error => {
    if (error instanceof LockedError && error.exitCode === 6) return openWork();
    throw error;
  });
  const session = await opening.catch(async error => {
    if (direct || !isDamage(error)) throw error;
    const source = await replaceDamaged(taking, present);
    if (source !== undefined) {
      const paths = { work_path: layout.work, kept_path: damagedFile(layout) };
      taking.warn(duckdbMessages.damaged_replaced({ ...paths, reason: firstLineOf(error) }));
    }
    seeded ||= source === layout.path;
    return openWork();
  });
  try {
    await requireIdentity(taking, layout.work, session, true);
    // Another process may have taken ours for a dead one's while we waited for the lock.
    await renewClaim(layout);
    await removeLeftovers(layout);
    await mkdir(layout.stage, { mode: 0o700 }).catch(ignoreExisting);
    await removeSpills(layout, session.spill);
    if (seeded) await adopt(layout, taking.makeLink);
    await writeHolder(layout, holder);
    const { dev, ino } = await stat(layout.work);
    return {
      session,
      requireInPlace: () => requireInPlace(layout, { dev, ino }),
      async release(isShown) {
        const isNothing = isNew && (await identify(session.connection, stateSchema).catch(() => "ours")) === "empty";
        // While the lock is ours: whoever comes next finds no file, rather than having one taken away.
        if (isNothing) await remove(layout.work);
        const isWhole = isShown && (await entryAt(`${layout.work}.wal`)) === undefined;
        await release(layout, session, giveUpClaim, isWhole);
        if (isNothing) await clear(layout);
      },
    };
  } catch (error) {
    session.close();
    throw error;
  }
}

async function requireInPlace({ work }: Layout, opened: { readonly dev: number; readonly ino: number }): Promise<void> {
  const found = await stat(work).catch(error => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found?.dev === opened.dev && found.ino === opened.ino) return;
  throw new DestinationError(duckdbMessages.out_of_place({ work_path: work, removed: found === undefined }));
}

async function release(
  layout: Layout,
  session: Session,
  giveUpClaim: () => Promise<void>,
  isWhole: boolean,
): Promise<void> {
  try {
    await remove(layout.holder);
    // Of a run that was started together with this one, and refused.
    await remove(guardFile(layout));
    // What is committed lies in the log if not in the file, and the next run takes it from there: a full disk, say, has been told.
    if (!isWhole) await checkpoint(session.connection, 0, layout.readers === "direct").catch(() => undefined);
  } finally {
    session.close();
    await giveUpClaim();
  }
}

/** A run that could not begin leaves no trace where there was none before. */
async function clear({ home, stage, work }: Layout): Promise<void> {
  await remove(`${work}.wal`);
  await rmdir(stage).catch(() => undefined);
  await rmdir(home).catch(() => undefined);
}

/** Those of sessions that were killed. */
async function removeSpills({ home, spill }: Layout, own: string): Promise<void> {
  const stale = (name: string) => name.startsWith(basename(spill)) && join(home, name) !== own && !isStageFolder(name);
  for (const name of (await readdir(home)).filter(stale)) await remove(join(home, name));
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}
