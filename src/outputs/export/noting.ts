import type { Clock } from "../../clock.ts";
import { DestinationError, LockedError } from "../../errors.ts";
import type { Message } from "../../message.ts";
import { inState, type Where } from "../../warehouse/connect/open.ts";
import type { WarehouseReading } from "../../warehouse/connect/reading.ts";
import type { Holder } from "../../warehouse/destination.ts";
import { notedExports, noteExport } from "../../warehouse/state/noted_exports.ts";
import { readManifest } from "./manifest.ts";
import { exportMessages } from "./messages.ts";
import type { Place } from "./place.ts";

/** The policy that the warehouse has noted for a place; undefined for a place that it does not know. */
export async function notedPolicy(reading: WarehouseReading, { path }: Place): Promise<string | undefined> {
  const { publishedAt } = reading;
  // A published file lacks what was noted after it: then the export itself says its policy.
  const manifest = publishedAt === undefined ? undefined : await readManifest(path);
  if (manifest !== undefined && Date.parse(manifest.read_at) > publishedAt!.getTime()) return manifest.privacy;
  const known = await notedExports(reading.db);
  return known.find(noted => noted.path === path)?.policy;
}

export interface Noting {
  readonly place: Place;
  readonly policy: string;
  /** Whether the warehouse knows the place under another policy: until the note is written, runs name the place. */
  readonly isKnown: boolean;
  readonly holder: Holder;
  readonly clock: Clock;
  readonly waitMs: number;
}

/**
 * Notes the policy that an export's values are stored under. Returns a warning where the note cannot be written.
 * @throws LockedError while a run has a DuckDB file that does not know the place yet
 */
export async function notePlace(where: Where, noting: Noting): Promise<Message | undefined> {
  const { place, policy, isKnown, holder, clock, waitMs } = noting;
  const { path } = place;
  try {
    const opener = { runId: holder.runId, holder, clock };
    await inState(where, opener, waitMs, ({ db }) => noteExport(db, { path, host: holder.host, policy }));
    return undefined;
  } catch (error) {
    if (!(error instanceof DestinationError || (isKnown && error instanceof LockedError))) throw error;
    return exportMessages.not_noted({ path, state_schema: where.stateSchema, reason: error.message });
  }
}
