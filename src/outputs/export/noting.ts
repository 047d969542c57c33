import type { Clock } from "../../clock.ts";
import { DestinationError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { inState, type Where } from "../../warehouse/connect/open.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import type { Holder } from "../../warehouse/destination.ts";
import { notedExports, noteExport } from "../../warehouse/state/noted_exports.ts";
import { readManifest } from "./manifest.ts";
import { exportMessages } from "./messages.ts";
import type { Place } from "./place.ts";

/** Whether the warehouse knows that this machine exports to a place. */
export async function isNoted(reading: WarehouseReading, { path }: Place, host: string): Promise<boolean> {
  const known = await notedExports(reading.db);
  if (known.some(noted => noted.path === path && noted.host === host)) return true;
  const { publishedAt } = reading;
  if (publishedAt === undefined) return false;
  // What was noted since the file was published stands only in the one that runs write.
  const before = await readManifest(path);
  return before !== undefined && Date.parse(before.read_at) > publishedAt.getTime();
}

/**
 * Notes a place in the warehouse before anything is exported to it for the first time: a change of privacy has to find it.
 * Answers a warning where nothing may be written there. @throws LockedError while a run has a DuckDB file
 */
export async function notePlace(
  where: Where,
  { path }: Place,
  holder: Holder,
  clock: Clock,
  waitMs: number,
): Promise<Message | undefined> {
  try {
    const opener = { runId: holder.runId, holder, clock };
    const now = new Date(clock.now()).toISOString();
    await inState(where, opener, waitMs, ({ db }) => noteExport(db, { path, host: holder.host }, now));
    return undefined;
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error;
    return exportMessages.not_noted({ path, state_schema: where.stateSchema, reason: error.message });
  }
}
