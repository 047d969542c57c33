import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Head, type Line, writeLine } from "./line.ts";
import { PIECE_BYTES, packed } from "./piece.ts";
import { filesIn, foldersIn } from "./places.ts";
import { linesOf } from "./reading.ts";

const WRITTEN = ".rewritten";

/** What becomes of an archived body; undefined: it stays. */
export type ChangeBody = (head: Head, body: Buffer) => Buffer | undefined;

/**
 * Rewrites the files of the archive whose lines were written under a policy that `isOther`; from then on they are under `privacy`.
 * Each as a whole: killed in the middle, the next time goes on. A file that cannot be read to its end loses what could not be
 * read. Answers how many.
 */
export async function rewriteArchive(
  root: string,
  privacy: string,
  isOther: (privacy: string) => boolean,
  change: ChangeBody,
): Promise<number> {
  let rewritten = 0;
  for (const company of await foldersIn(root))
    for (const stream of await foldersIn(company))
      for (const { path } of await filesIn(stream)) {
        const written = await policyIn(path);
        if (written === undefined || !isOther(written)) continue;
        await rewriteFile(path, privacy, change);
        rewritten++;
      }
  return rewritten;
}

/** A file is one run's, and a run has one policy. */
async function policyIn(path: string): Promise<string | undefined> {
  for await (const { head } of linesOf(path, () => undefined)) return head.privacy;
  return undefined;
}

async function rewriteFile(path: string, privacy: string, change: ChangeBody): Promise<void> {
  const written = join(dirname(path), `.${basename(path)}${WRITTEN}`);
  await rm(written, { force: true });
  const handle = await open(written, "w", 0o600);
  try {
    let waiting: Buffer[] = [];
    let bytes = 0;
    const flush = async () => {
      if (waiting.length > 0) await handle.appendFile(await packed(waiting));
      waiting = [];
      bytes = 0;
    };
    for await (const { head, body } of linesOf(path, () => undefined)) {
      const line: Line = { head: { ...head, privacy }, body: change(head, body) ?? body };
      for (const piece of writeLine(line)) {
        waiting.push(Buffer.from(piece));
        bytes += piece.length;
      }
      if (bytes >= PIECE_BYTES) await flush();
    }
    await flush();
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(written, path);
}
