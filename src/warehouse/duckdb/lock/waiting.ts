import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../../clock.ts";
import { parsedJson, remove } from "../../../files.ts";
import { isStageFolder, type Layout } from "../session/file_layout.ts";
import { isAlive } from "./holder.ts";

const PREFIX = "waiting-";
const RENEW_MS = 5_000;
/** Of another machine's process nothing else is known than when it last said that it waits. */
const BELIEVED_MS = 30_000;

const stored = z.object({ pid: z.number(), host: z.string(), at: z.number() });

/** A run's word that it waits for the file: a file of its own beside it, renewed while it does. */
export class Waiting {
  readonly #path: string;
  readonly #clock: Clock;
  #at: number | undefined;

  constructor(layout: Layout, runId: string, clock: Clock) {
    this.#path = join(layout.home, `${PREFIX}${process.pid}-${runId.replace(/[^A-Za-z0-9_-]/g, "_")}`);
    this.#clock = clock;
  }

  /** Says it, or says it again when it was long ago. Where it can't be said the run waits all the same. */
  async renew(): Promise<void> {
    const now = this.#clock.now();
    if (this.#at !== undefined && now - this.#at < RENEW_MS) return;
    this.#at = now;
    const made = `${this.#path}.tmp`;
    const text = JSON.stringify({ pid: process.pid, host: hostname(), at: now });
    await writeFile(made, text, { mode: 0o600 })
      .then(() => rename(made, this.#path))
      .catch(() => undefined);
  }

  async withdraw(): Promise<void> {
    if (this.#at !== undefined) await remove(this.#path);
  }
}

/** Whether somebody waits for the file. What killed ones left is removed. */
export async function isWaitedFor({ home }: Layout, clock: Clock): Promise<boolean> {
  let found = false;
  for (const name of await readdir(home).catch(() => [])) {
    if (!name.startsWith(PREFIX) || name.endsWith(".tmp") || isStageFolder(name)) continue;
    const path = join(home, name);
    const { data } = stored.safeParse(parsedJson(await readFile(path, "utf8").catch(() => "")));
    const here = data?.host === hostname();
    const believed = data !== undefined && clock.now() - data.at < BELIEVED_MS && (!here || isAlive(data.pid));
    if (believed) found = true;
    else await remove(path);
  }
  return found;
}
