import type { Clock } from "../clock.ts";
import type { ApiStats } from "../source/api.ts";
import type { Db } from "../warehouse/database.ts";
import type { Destination } from "../warehouse/destination.ts";
import type { Dialect } from "../warehouse/dialect.ts";
import { type FutureOrder, mendFutureTimestamps, serverTime } from "../warehouse/schema/future_timestamps.ts";

/*
 * Our clock may be wrong for a run: days ahead, its timestamps would be later than those of every run to come. So what is
 * stored for good is at most a minute ahead of a clock that is not ours.
 */

/** What lies further ahead is in the future. */
const FUTURE_MS = 60_000;
/** So far ahead of the other clock a publish may be: each of those that follow at once is a millisecond later. */
const AHEAD_MS = FUTURE_MS / 2;

/** Who says what time it is besides our clock. */
export interface Witnesses {
  readonly clock: Pick<Clock, "now">;
  readonly stats: ApiStats;
  readonly db: Db;
  readonly dialect: Dialect;
}

/** Milliseconds since 1970. `at`: our clock's time, at most a minute ahead of the other clock's. */
export interface WitnessedTime {
  readonly at: number;
  /** Whatever lies after it is in the future by every clock there is; undefined where ours is the only one. */
  readonly future: number | undefined;
}

/** The time for a publish after one at `last` (ms since 1970). The other clock is the service's where its last two answers agree and are not behind `last`, else the database's. */
export async function witnessedTime({ clock, stats, db, dialect }: Witnesses, last: number): Promise<WitnessedTime> {
  const own = clock.now();
  const service = serviceTime(own, stats);
  const other = service !== undefined && service >= last - FUTURE_MS ? service : await serverTime(db, dialect);
  if (other === undefined) return { at: own, future: undefined };
  const future = Math.max(own, other, service ?? 0) + FUTURE_MS;
  return { at: Math.min(own, other + AHEAD_MS), future };
}

/** Our clock's time (ms since 1970), at most a minute ahead of the service's. */
export function presentTime(clock: Pick<Clock, "now">, stats: ApiStats): number {
  const own = clock.now();
  return Math.min(own, (serviceTime(own, stats) ?? own) + AHEAD_MS);
}

/** The service's time when ours is `own`; undefined where its last two answers don't agree within half a minute. */
function serviceTime(own: number, { clockOffsets: [first, second] = [] }: ApiStats): number | undefined {
  if (first === undefined || second === undefined || Math.abs(first - second) > AHEAD_MS) return undefined;
  return own + Math.max(first, second);
}

/**
 * Mends a company's timestamps that are in the future by every clock, before the run's first publish; where ours is the only clock nobody knows. Answers
 * which streams it was, and the first of the new timestamps (ISO 8601); undefined: nothing was mended.
 */
export async function mendTimestamps(
  destination: Destination,
  { clock, stats }: Pick<Witnesses, "clock" | "stats">,
  order: Pick<FutureOrder, "company" | "streams">,
): ReturnType<typeof mendFutureTimestamps> {
  const own = clock.now();
  const offset = stats.clockOffsets?.at(-1);
  const service = offset === undefined ? undefined : own + offset;
  const other = service ?? (await serverTime(destination.db, destination.dialect));
  if (other === undefined) return undefined;
  const future = Math.max(own, other) + FUTURE_MS;
  const now = Math.min(own, other + AHEAD_MS);
  return mendFutureTimestamps(destination, { ...order, now, future });
}
