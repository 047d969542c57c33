import { link, readFile, rename, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { LockedError } from "../../errors.ts";
import { codeOf, remove } from "../../files.ts";
import type { Holder } from "../../warehouse/destination.ts";
import { holderOf, holderText, isAlive } from "../../warehouse/duckdb/lock/holder.ts";
import { exportMessages } from "./messages.ts";

const NAME = "holder.json";
const RENEW_MS = 10_000;
/** How old the heartbeat of a process on another machine may be. */
const BELIEVED_MS = 60_000;

export interface Hold {
  /** @throws LockedError when somebody took it for a dead one's meanwhile: a machine that slept, for instance. */
  requireHeld(): Promise<void>;
  release(): Promise<void>;
}

/** Takes a folder of exports for this process alone. @throws LockedError naming who has it */
export async function hold(home: string, path: string, holder: Holder): Promise<Hold> {
  const place = join(home, NAME);
  const text = holderText(holder);
  while (!(await placed(place, text))) {
    const there = await whoIs(place, home);
    if (there === undefined) continue;
    if (there.works) throw lockedError(path, there.holder);
    await setAside(place, there.text, path);
  }
  const beat = setInterval(() => void utimes(place, new Date(), new Date()).catch(() => undefined), RENEW_MS).unref();
  const isMine = async () => (await readFile(place, "utf8").catch(() => "")) === text;
  return {
    async requireHeld() {
      if (await isMine()) return;
      const other = holderOf(await readFile(place, "utf8").catch(() => ""));
      throw lockedError(path, other);
    },
    async release() {
      clearInterval(beat);
      if (await isMine()) await remove(place);
    },
  };
}

async function placed(place: string, text: string): Promise<boolean> {
  try {
    await writeFile(place, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

interface There {
  readonly holder: Holder | undefined;
  readonly text: string;
  readonly works: boolean;
}

async function whoIs(place: string, home: string): Promise<There | undefined> {
  const text = await readFile(place, "utf8").catch(() => undefined);
  const said = await stat(place).catch(() => undefined);
  if (text === undefined || said === undefined) return undefined;
  const holder = holderOf(text);
  const silentMs = (await nowAt(home)) - said.mtimeMs;
  const dead = holder?.host === hostname() && !isAlive(holder.pid);
  return { holder, text, works: !dead && silentMs < BELIEVED_MS };
}

/** The time by the clock of the file server. */
async function nowAt(home: string): Promise<number> {
  const probe = join(home, `probe-${process.pid}.tmp`);
  try {
    await writeFile(probe, "");
    return (await stat(probe)).mtimeMs;
  } catch (error) {
    // The holder may have removed the probe as a leftover.
    if (codeOf(error) === "ENOENT") return Date.now();
    throw error;
  } finally {
    await remove(probe);
  }
}

/** Moves a dead holder's file away. If another process has just replaced it, its file is put back. */
async function setAside(place: string, dead: string, path: string): Promise<void> {
  const aside = `${place}.${process.pid}.tmp`;
  try {
    await rename(place, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  const text = await readFile(aside, "utf8");
  if (text !== dead) {
    await link(aside, place).catch(() => undefined);
    await remove(aside);
    throw lockedError(path, holderOf(text));
  }
  await remove(aside);
}

function lockedError(path: string, found: Holder | undefined): LockedError {
  const holder = found && { pid: found.pid, host: found.host, command: found.command, started_at: found.startedAt };
  return new LockedError(exportMessages.locked({ path, holder }));
}
