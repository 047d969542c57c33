import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../clock.ts";
import { ApiError, ConfigError, DestinationError, LockedError, TributaryError } from "../../errors.ts";
import { codeOf, entryAt } from "../../files.ts";
import type { Log } from "../../logging.ts";
import type { Message } from "../../message.ts";
import { nearest } from "../../nearest_name.ts";
import { contentOf, type Inputs, inputFault, isOurs } from "./inputs.ts";
import { uploadMessages } from "./messages.ts";
import type { UploadedFile } from "./upload.ts";

const LOOK_EVERY_MS = 2_000;
const TRY_AGAIN_MS = 30_000;
/** An empty file may be about to be written. */
const EMPTY_MS = 60_000;

/** Where files lie while they are sent: no other program puts a new one over them there. */
const SENDING = "sending";

export interface Watched extends Inputs {
  readonly folder: string;
  /** Sends files; `through` is called for each once its outcome is known. */
  readonly send: (files: readonly string[], through: (sent: UploadedFile) => Promise<void>) => Promise<void>;
  /** Is called for each file that leaves the watch; `sent` is undefined where it could not be sent. */
  readonly moved: (to: string, fault: Message | undefined, sent: UploadedFile | undefined) => void;
}

interface Tools {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The files that a watch of this folder would take, those that an earlier one began included. @throws ConfigError unless it is a folder */
export async function filesWaiting(folder: string, guarded: readonly string[]): Promise<readonly string[]> {
  const entry = await stat(folder).catch(codeOf);
  if (entry === "ENOENT") {
    const name = nearest(basename(folder), await readdir(dirname(folder)).catch(() => []));
    const suggestion = name === undefined ? undefined : join(dirname(folder), name);
    throw new ConfigError(uploadMessages.no_such_folder({ folder, suggestion }));
  }
  if (typeof entry !== "object") throw new ConfigError(uploadMessages.folder_not_usable({ folder, reason: entry }));
  if (!entry.isDirectory()) throw new ConfigError(uploadMessages.not_a_folder({ folder }));
  const files = [...(await filesIn(folder)), ...(await filesIn(join(folder, SENDING)).catch(() => []))];
  const ours = await Promise.all(files.map(file => isOurs(file, guarded)));
  return files.filter((_, at) => !ours[at]);
}

/**
 * Sends what is put into a folder, once it has stopped growing, and moves it to `done/` or `failed/` there. Before a file is read it is
 * moved to `sending/`: what takes its name afterwards is a new file. Ends when the signal aborts. While the warehouse is in another run's
 * hands, or away, files wait there. @throws ConfigError, TributaryError for a folder that cannot be used
 */
export async function watchFolder(watched: Watched, tools: Tools): Promise<void> {
  const { folder } = watched;
  await makeFolders(folder).catch(error => {
    throw new ConfigError(uploadMessages.folder_not_usable({ folder, reason: codeOf(error) }), error);
  });
  const watch = new FolderWatch(watched, tools);
  while (!tools.signal.aborted) await tools.clock.sleep(await watch.look(), tools.signal).catch(() => undefined);
}

class FolderWatch {
  readonly #watched: Watched;
  readonly #tools: Tools;
  /** Size and time of each file at the look before. */
  #before: ReadonlyMap<string, string> = new Map();

  constructor(watched: Watched, tools: Tools) {
    this.#watched = watched;
    this.#tools = tools;
  }

  /** Takes what has stopped growing, sends it and moves it; answers when to look again. */
  async look(): Promise<number> {
    const { log, signal } = this.#tools;
    let pauseMs = LOOK_EVERY_MS;
    const later = (reason: string) => {
      pauseMs = TRY_AGAIN_MS;
      log.warn(uploadMessages.files_stay({ reason }));
    };
    try {
      const ready = await this.#takeSettled();
      if (ready.length === 0) return pauseMs;
      await this.#watched.send(ready, async sent => {
        if (sent.outcome === "stopped") later(sent.error!);
        else await this.#settle(sent);
      });
    } catch (error) {
      if (!signal.aborted) {
        if (!mayPass(error)) throw error;
        later(error.message);
      }
    }
    return pauseMs;
  }

  /** Files in `sending/` that look as they did before. */
  async #takeSettled(): Promise<readonly string[]> {
    const { folder } = this.#watched;
    await makeFolders(folder).catch(error => this.#isAway(error));
    const inFolder = await this.#looks(folder);
    const begun = await this.#looks(join(folder, SENDING));
    const seen = new Map([...inFolder, ...begun]);
    const isSettled = (file: string) => this.#before.get(file) === seen.get(file);
    const ready: string[] = [];
    for (const file of inFolder.keys()) {
      const own = join(folder, SENDING, basename(file));
      // One of that name is on its way: this one comes after it.
      if (!isSettled(file) || begun.has(own) || !(await this.#isSendable(file))) continue;
      await move(file, own);
      const looks = await looksOf(own, this.#tools.clock.now());
      if (looks !== undefined) seen.set(own, looks);
      if (looks === seen.get(file)) ready.push(own);
    }
    for (const file of begun.keys()) if (isSettled(file) && (await this.#isSendable(file))) ready.push(file);
    this.#before = seen;
    return ready;
  }

  async #isSendable(file: string): Promise<boolean> {
    const fault = await inputFault(file, this.#watched);
    // A user may have taken it back.
    if (fault !== undefined && (await entryAt(file)) !== undefined) await this.#away(file, "failed", fault, undefined);
    return fault === undefined;
  }

  async #settle(sent: UploadedFile): Promise<void> {
    const { file, doc_id, code, error, sha256 } = sent;
    const fault = code === null || error === null ? undefined : { code, message: error, fields: {} };
    const present = await contentOf(file).catch(() => undefined);
    // A program that had it open may have written to it meanwhile: what it holds now was not sent.
    if (sha256 !== "" && present !== undefined && present.sha256 !== sha256) {
      this.#tools.log.warn(uploadMessages.changed_meanwhile({ file: basename(file) }));
      const to = await moveFree(file, this.#watched.folder);
      if (doc_id !== null) this.#watched.moved(to, fault, sent);
    } else await this.#away(file, doc_id === null ? "failed" : "done", fault, sent);
  }

  async #away(
    file: string,
    into: "done" | "failed",
    fault: Message | undefined,
    sent: UploadedFile | undefined,
  ): Promise<void> {
    const { folder, moved } = this.#watched;
    moved(await moveFree(file, join(folder, into)), fault, sent);
  }

  /** Size and time of each file: they show whether it still changes. */
  async #looks(folder: string): Promise<ReadonlyMap<string, string>> {
    const seen = new Map<string, string>();
    for (const file of await filesIn(folder).catch(error => this.#isAway(error))) {
      if (await isOurs(file, this.#watched.guarded)) continue;
      const looks = await looksOf(file, this.#tools.clock.now());
      if (looks !== undefined) seen.set(file, looks);
    }
    return seen;
  }

  #isAway(error: unknown): never {
    const { folder } = this.#watched;
    throw new FolderAway(uploadMessages.folder_not_usable({ folder, reason: codeOf(error) }), 1, error);
  }
}

/** A folder that was there when the watch began: a share that is away comes back. */
class FolderAway extends TributaryError {}

/** Failures that another try may get over: a locked warehouse, a database, a service or a folder that is away. A refused key is none of them. */
const mayPass = (error: unknown): error is Error =>
  error instanceof LockedError ||
  error instanceof FolderAway ||
  (error instanceof DestinationError && error.passing) ||
  (error instanceof ApiError && error.failure !== "unauthorized");

/** Not the folder itself: where a share is away, files would be looked for on the disk below it. */
async function makeFolders(folder: string): Promise<void> {
  for (const name of [SENDING, "done", "failed"])
    await mkdir(join(folder, name)).catch(async error => {
      if (codeOf(error) !== "EEXIST" || !(await stat(join(folder, name))).isDirectory()) throw error;
    });
}

/** Its files but for hidden ones. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter(entry => entry.isFile() && !entry.name.startsWith(".")).map(({ name }) => join(folder, name));
}

async function looksOf(file: string, now: number): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || (found.size === 0 && now - found.mtimeMs <= EMPTY_MS)) return undefined;
  return `${found.size} ${found.mtimeMs}`;
}

/** Under its name, or one with a number where that is taken. */
async function moveFree(file: string, folder: string): Promise<string> {
  const name = basename(file);
  let to = join(folder, name);
  for (let nth = 2; (await entryAt(to)) !== undefined; nth++) to = join(folder, `${nth}-${name}`);
  await move(file, to);
  return to;
}

async function move(file: string, to: string): Promise<void> {
  await rename(file, to).catch(error => {
    // A user may have taken it back.
    if (codeOf(error) === "ENOENT") return;
    throw new TributaryError(uploadMessages.not_moved({ file, to, reason: codeOf(error) }), 1, error);
  });
}
