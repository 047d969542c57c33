import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TributaryError } from "../../errors.ts";
import { codeOf } from "../../files.ts";
import { BodyError } from "../body.ts";
import { type Head, type Line, writeLine } from "./line.ts";
import { archiveMessages } from "./messages.ts";
import { PIECE_BYTES, packer } from "./piece.ts";
import { filesIn, foldersIn, lostLinksIn } from "./places.ts";
import { headsOf, linesOf } from "./reading.ts";

const WRITTEN = ".rewritten";

/** What becomes of an archived body; undefined: it stays. Throws BodyError for one that is damaged. */
export type ChangeBody = (head: Head, body: Buffer) => Buffer | undefined;

/**
 * Rewrites archive files whose lines are under a policy that `isOther` to `privacy`, each file as a whole; killed, the next time goes on.
 * Damaged answers, and what lies behind them in an unreadable file, are lost. Answers how many. @throws TributaryError
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
        await rewriteFile(path, privacy, change).catch(error => {
          const code = codeOf(error);
          if (code === undefined) throw error;
          throw new TributaryError(archiveMessages.not_rewritten({ path, reason: code }), 1, error);
        });
        rewritten++;
      }
  return rewritten;
}

/** Whoever skipped what cannot be reached now would call it rewritten. @throws TributaryError */
export async function requireReachable(root: string): Promise<void> {
  for (const folder of [root, ...(await foldersIn(root))])
    for (const link of await lostLinksIn(folder)) throw new TributaryError(archiveMessages.lost_link({ link }), 1);
}

/** A file is one run's, and a run has one policy. */
async function policyIn(path: string): Promise<string | undefined> {
  for await (const { privacy } of headsOf(path, () => undefined)) return privacy;
  return undefined;
}

async function rewriteFile(path: string, privacy: string, change: ChangeBody): Promise<void> {
  const written = join(dirname(path), `.${basename(path)}${WRITTEN}`);
  await rm(written, { force: true });
  const handle = await open(written, "w", 0o600);
  try {
    const pack = packer();
    let waiting: Buffer[] = [];
    let bytes = 0;
    const flush = async () => {
      if (waiting.length > 0) await handle.appendFile(await pack(Buffer.concat(waiting)));
      waiting = [];
      bytes = 0;
    };
    for await (const { head, body } of linesOf(path, () => undefined)) {
      const changed = changedBody(change, head, body);
      if (changed === undefined) continue;
      const line: Line = { head: { ...head, privacy }, body: changed };
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

/** Undefined for one that is damaged: nobody can tell what it holds. */
function changedBody(change: ChangeBody, head: Head, body: Buffer): Buffer | undefined {
  try {
    return change(head, body) ?? body;
  } catch (error) {
    if (error instanceof BodyError) return undefined;
    throw error;
  }
}
