import { open, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { LockedError } from "../../../errors.ts";
import { codeOf, entryAt, parsedJson, remove } from "../../../files.ts";
import type { Holder } from "../../destination.ts";
import { lockMessages, processInWords, runInWords } from "../../messages.ts";
import { lockConflict } from "../session/failure.ts";
import { isStageFolder, type Layout } from "../session/file_layout.ts";

const stored = z.object({
  runId: z.string(),
  pid: z.number(),
  host: z.string(),
  command: z.string(),
  startedAt: z.string(),
});

/**
 * Keeps a second session of this very process out: DuckDB's file lock doesn't, and closing one of two descriptors would drop
 * the lock of both. The name is the process's own, so that what a killed one left is never in another's way.
 */
export async function claim(layout: Layout): Promise<() => Promise<void>> {
  await probing.get(layout.home);
  return claimNow(layout);
}

async function claimNow(layout: Layout): Promise<() => Promise<void>> {
  const path = join(layout.home, claimName());
  const handle = await open(path, "wx", 0o600).catch(async error => {
    if (codeOf(error) === "EEXIST") throw await lockedError(layout, process.pid);
    throw error;
  });
  await handle.close();
  return () => remove(path);
}

/** A process that may not write beside the file has no session of its own whose lock it could drop. */
export async function claimIfWritable(layout: Layout, take = claim): Promise<(() => Promise<void>) | undefined> {
  return take(layout).catch(error => {
    if (["ENOENT", "EACCES", "EPERM", "EROFS"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  });
}

/** Puts the claim back where it was taken away. */
export async function renewClaim(layout: Layout): Promise<void> {
  await writeFile(join(layout.home, claimName()), "");
}

function claimName(): string {
  return `claim-${process.pid}-${performance.timeOrigin}`;
}

/** Whether a file in `home` is the claim of another, by now dead, process. Right only for who holds DuckDB's lock. */
export function isDeadClaim(name: string): boolean {
  return name.startsWith("claim-") && name !== claimName() && !isStageFolder(name);
}

/** Says who holds the file; call with DuckDB's lock held. */
export async function writeHolder(layout: Layout, holder: Holder): Promise<void> {
  const temporary = `${layout.holder}.new`;
  await writeFile(temporary, JSON.stringify(stored.parse(holder)));
  await rename(temporary, layout.holder);
}

/** Who holds the file, or held it when it was killed. */
export async function readHolder(layout: Layout): Promise<Holder | undefined> {
  return stored.safeParse(parsedJson(await readFile(layout.holder, "utf8").catch(() => ""))).data;
}

/** The holder, unless it is gone. Only the file's lock knows: containers share names of hosts and numbers of processes. */
export async function liveHolder(layout: Layout): Promise<Holder | undefined> {
  const holder = await readHolder(layout);
  if (holder === undefined) return undefined;
  const isHeld = (error: unknown) => !(error instanceof LockedError) || error.runId !== undefined;
  return (await tryLock(layout, true).then(() => false, isHeld)) ? holder : undefined;
}

/** By folder, the looks of this process that are under way, which a run of its own waits for. */
const probing = new Map<string, Promise<unknown>>();

/** Takes the file's lock for a moment, as a reader or as a run, which would write a log into the file. @throws LockedError */
export async function tryLock(layout: Layout, readOnly: boolean): Promise<void> {
  const { home } = layout;
  const before = probing.get(home);
  const look = (async () => {
    await before;
    await takeForAMoment(layout, readOnly);
  })();
  const settled = look.catch(() => undefined);
  probing.set(home, settled);
  await look.finally(() => probing.get(home) === settled && probing.delete(home));
}

async function takeForAMoment(layout: Layout, readOnly: boolean): Promise<void> {
  const { work, spill } = layout;
  if ((await entryAt(work)) === undefined) return;
  const giveUpClaim = await claimIfWritable(layout, claimNow);
  try {
    const reads = readOnly || (await entryAt(`${work}.wal`)) !== undefined;
    const { openSession } = await import("../session/session.ts");
    const resources = { memoryLimitMb: 64, threads: 1, spill };
    (await openSession(work, reads, resources).catch(asLocked(layout))).close();
  } finally {
    await giveUpClaim?.();
  }
}

/** How long whoever has just taken the file may need until it has said who it is. */
const INTRODUCTION_MS = 1_500;
const LOOK_MS = 50;

/** The error that names who has a file; `pid`: from the message of DuckDB, if it names one. A file in the hands of another program is a failure. */
export async function lockedError(
  layout: Layout,
  pid: number | undefined,
  cause?: unknown,
  file = layout.work,
): Promise<LockedError> {
  const { path } = layout;
  const holder = file === layout.work ? await introduced(layout, pid) : undefined;
  if (holder !== undefined) {
    const { runId, startedAt, ...rest } = holder;
    const run = { run_id: runId, ...rest, since: startedAt };
    const who = `${runInWords(run, "`")}, which has held ${path} since ${startedAt}`;
    return new LockedError(lockMessages.file_held({ path, ...run }), { runId, who }, cause);
  }
  const other = pid === 0 ? undefined : pid;
  const isRun = pid === process.pid || (file === layout.work && (await isClaimed(layout)));
  return new LockedError(
    lockMessages.file_open({ path: file, pid: other }),
    { who: `${processInWords(other)}, which has ${file} open`, exitCode: isRun ? 4 : 6 },
    cause,
  );
}

/** Whether another living process of ours is at the file: it may still be opening it. */
async function isClaimed({ home }: Layout): Promise<boolean> {
  const claims = (await readdir(home).catch(() => [])).filter(isDeadClaim);
  return claims.some(name => isAlive(Number(name.split("-")[1])));
}

/** The holder that fits the process DuckDB named: of two runs that start together the first may not have written it yet. */
async function introduced(layout: Layout, pid: number | undefined): Promise<Holder | undefined> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const holder = await readHolder(layout);
    // 0: a process of another container, whose host may have this one's name, or of another machine.
    const fits = holder !== undefined && (pid === undefined || pid === holder.pid || pid === 0);
    if (fits) return holder;
    if (waited >= INTRODUCTION_MS) return undefined;
    await sleep(LOOK_MS);
  }
}

/** Rethrows what DuckDB said when it could not open a file: as LockedError, when another process has it open. */
export function asLocked(layout: Layout, file?: string): (error: unknown) => Promise<never> {
  return async error => {
    const conflict = lockConflict(error);
    throw conflict === undefined ? error : await lockedError(layout, conflict.pid, error, file);
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
