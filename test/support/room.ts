import { chmod, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const NAME = "tributary-tests-";
/** What the whole run has there at a time, several times over. */
const NEEDED = 6 * 2 ** 30;

/**
 * Lets all that tests make for a while be made in memory, where there is enough of it: each transaction of theirs waits for
 * a disk otherwise, a quarter of their time. Nothing that is tested here survives the machine. Resolves to what removes it.
 */
export default async function makeRoom(): Promise<() => Promise<void>> {
  await removeAbandoned().catch(() => undefined);
  const space = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (Math.min(space, process.availableMemory()) < NEEDED) return async () => undefined;
  const room = await mkdtemp(join(MEMORY, `${NAME}${process.pid}-`));
  // PostgreSQL, and some tests' commands, run as other users.
  await chmod(room, 0o1777);
  process.env["TMPDIR"] = room;
  return () => rm(room, { recursive: true, force: true });
}

/** Memory that killed runs left would be lost until the machine starts anew. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const [, pid] = name.match(`^${NAME}(\\d+)-`) ?? [];
    if (pid !== undefined && isDead(Number(pid))) await rm(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
