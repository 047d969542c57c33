import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock } from "../../clock.ts";
import { ApiError, DestinationError, LockedError } from "../../errors.ts";
import { codeOf, entryAt } from "../../files.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { uploadMessages } from "./messages.ts";
import { inputFault, type UploadedFile } from "./upload.ts";

const LOOK_EVERY_MS = 2_000;
const TRY_AGAIN_MS = 30_000;
/** An empty file may be about to be written. */
const EMPTY_MS = 60_000;

export interface Watched {
  readonly folder: string;
  readonly contentType: string | undefined;
  readonly send: (files: readonly string[]) => Promise<readonly UploadedFile[]>;
  /** Told where a file was moved, and why to `failed/`. */
  readonly moved: (to: string, fault: Message | undefined) => void;
}

/**
 * Sends what is put into a folder, once it has stopped growing, and moves it to `done/` or `failed/` there. Ends when the signal
 * aborts. While the warehouse is in another run's hands, or away, files stay where they are.
 */
export async function watchFolder(
  watched: Watched,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const { folder, contentType, send, moved } = watched;
  for (const name of ["done", "failed"]) await mkdir(join(folder, name), { recursive: true });
  let before = new Map<string, string>();
  while (!signal.aborted) {
    const seen = await looked(folder, clock.now());
    const ready: string[] = [];
    for (const [file, looks] of seen) {
      if (before.get(file) !== looks) continue;
      const fault = await inputFault(file, contentType);
      if (fault === undefined) ready.push(file);
      else moved(await move(folder, file, "failed"), fault);
    }
    before = seen;
    let pauseMs = LOOK_EVERY_MS;
    const later = (reason: string) => {
      pauseMs = TRY_AGAIN_MS;
      log.warn(uploadMessages.files_stay({ reason }));
    };
    try {
      for (const sent of ready.length === 0 ? [] : await send(ready)) {
        if (sent.outcome === "stopped") later(sent.error!);
        else moved(await move(folder, sent.file, sent.doc_id === null ? "failed" : "done"), faultOf(sent));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!mayPass(error)) throw error;
      later(error.message);
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}

const faultOf = ({ code, error }: UploadedFile): Message | undefined =>
  code === null || error === null ? undefined : { code, message: error, fields: {} };

/** Failures that another try may get over: a locked warehouse, a database or a service that is away. A refused key is none of them. */
const mayPass = (error: unknown): error is Error =>
  error instanceof LockedError ||
  (error instanceof DestinationError && error.passing) ||
  (error instanceof ApiError && error.failure !== "unauthorized");

/** By file what shows whether it still changes. */
async function looked(folder: string, now: number): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith(".")) continue;
    const file = join(folder, entry.name);
    const { size, mtimeMs } = await stat(file).catch(() => ({ size: 0, mtimeMs: now }));
    if (size > 0 || now - mtimeMs > EMPTY_MS) seen.set(file, `${size} ${mtimeMs}`);
  }
  return seen;
}

/** Under its name, or one with a number where that is taken. */
async function move(folder: string, file: string, into: "done" | "failed"): Promise<string> {
  const name = basename(file);
  let to = join(folder, into, name);
  for (let nth = 2; (await entryAt(to)) !== undefined; nth++) to = join(folder, into, `${nth}-${name}`);
  await rename(file, to).catch(error => {
    // Somebody took it back.
    if (codeOf(error) !== "ENOENT") throw error;
  });
  return to;
}
