import { tmpdir } from "node:os";
import { join } from "node:path";
import { DestinationError } from "../../errors.ts";
import { entryAt } from "../../files.ts";
import { Mutex } from "../../mutex.ts";
import type { Db } from "../database.ts";
import { claimIfWritable } from "./lock/holder.ts";
import { kyselyOver, parseOne } from "./session/driver.ts";
import { attempting } from "./session/failure.ts";
import { type Layout, layoutOf, type Readers } from "./session/file_layout.ts";
import { duckdbMessages } from "./session/messages.ts";
import type { Resources, Session } from "./session/session.ts";
import { openOurs } from "./versions/seed.ts";

export interface ReadingSettings extends Partial<Resources> {
  readonly path: string;
  readonly readers: Readers;
  readonly stateSchema: string;
}

export interface Reading {
  readonly db: Db;
  interrupt(): void;
  parseOne(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the published file, which no run disturbs; with readers: direct the one file, and then LockedError while a run writes.
 * DestinationError when nothing has been published yet, or the file isn't ours.
 */
export async function openDuckdbForReading(settings: ReadingSettings): Promise<Reading> {
  const layout = layoutOf(settings);
  return attempting(`read ${layout.path}`, async () => {
    if ((await entryAt(layout.path)) === undefined)
      throw new DestinationError(duckdbMessages.nothing_there({ path: layout.path }));
    const giveUpClaim = layout.readers === "direct" ? await claimIfWritable(layout) : undefined;
    try {
      const session = await openPublished(layout, settings);
      const turns = new Mutex();
      const roomMb = settings.isSparing === true ? ROOM * (settings.memoryLimitMb ?? 0) : undefined;
      return {
        db: kyselyOver(async () => session.connection, turns, { roomMb }).withSchema(settings.stateSchema),
        interrupt: () => session.connection.interrupt(),
        parseOne: text => parseOne(session.connection, text),
        close: () =>
          turns.run(async () => {
            session.close();
            await giveUpClaim?.();
          }),
      };
    } catch (error) {
      await giveUpClaim?.();
      throw error;
    }
  });
}

const ROOM = 4;

async function openPublished(layout: Layout, settings: ReadingSettings): Promise<Session> {
  const resources = {
    memoryLimitMb: settings.memoryLimitMb ?? 128,
    threads: settings.threads ?? 1,
    spill: settings.spill ?? join(tmpdir(), "tributary-reading"),
    spillsInPrivate: settings.spillsInPrivate ?? false,
    isSparing: settings.isSparing ?? false,
  };
  return openOurs({ layout, stateSchema: settings.stateSchema, resources }, layout.path);
}
