import { lookupOf } from "../../catalog/lookup.ts";
import { type Feed, fixedPaths, type Listing, type Scan, type Stream } from "../../catalog/stream.ts";
import { isWithin } from "../../clock.ts";
import { ApiError } from "../../errors.ts";
import { buildPath } from "../../source/path.ts";
import { missingKeys } from "../../warehouse/merge/compare.ts";
import type { Verdict } from "../../warehouse/merge/deletion.ts";
import type { Comparison, Publication } from "../../warehouse/merge/publication.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import type { SyncContext } from "../context.ts";
import { inParallel } from "../extract/parallel.ts";
import type { Tally } from "../stream_progress.ts";

/** A scan that took longer cannot say what is missing: rows moved too far meanwhile. */
const OLDEST_SCAN_MS = 6 * 3_600_000;
/** Requests a run spends on asking whether missing rows are gone. */
const MOST_ASKED = 200;
/** Rows that are marked one by one; the others are, when the next scan misses them too. */
const MOST_PROVEN = 1_000;

export interface AbsenceDecision {
  /** Undefined: nothing is deleted, nothing remembered. */
  readonly verdict: Verdict | undefined;
  /** Why the guard held deletions back: the stream fails with it. */
  readonly held: string | undefined;
  /** Another complete scan would settle rows that this one leaves open. */
  readonly unsettled: boolean;
}

const nothing: AbsenceDecision = { verdict: undefined, held: undefined, unsettled: false };

/** Values that a lookup asked with, by column, and that the service knows nothing of. */
type Unknown = Readonly<Record<string, string>>;

/**
 * Decides which missing rows are gone: on proof, never on doubt. May ask their own endpoints; rows of what a lookup asked
 * for and the service does not know are proven gone by its 404.
 */
export async function decideAbsence(
  context: SyncContext,
  stream: Stream,
  mode: Scan | Feed,
  publication: Publication,
  record: ScanRecord,
  comparison: Comparison,
  tally: Tally,
  unknown: readonly Unknown[] = [],
): Promise<AbsenceDecision> {
  const { policy, clock } = context;
  const absence = mode.absence ?? "gone";
  const { missing, missedBefore, live, distinct } = comparison;
  if (!record.full || absence === "kept" || missing === 0) return nothing;
  if (!isWithin(clock, Date.parse(record.startedAt), OLDEST_SCAN_MS)) return nothing;

  const total = record.lastTotal;
  const usable = record.rejected === 0 && !record.capped;
  const exact = usable && total !== null && record.firstTotal === total && total === distinct;
  const complete = exact || (usable && (total === null || distinct >= total));
  // What a lookup asks for may have nothing, and the guard counts it all the same.
  const empty = distinct === 0 && lookupOf(stream) === undefined;
  const proven = unknown.length === 0 ? [] : await keysAmong(context, publication, unknown);
  const confirmed = exact || empty ? [] : [...proven, ...(await confirmGone(context, mode, publication, tally))];
  const deleting = exact ? missing : (complete ? missedBefore : 0) + confirmed.length;
  const tooMany = deleting > policy.deletes.maxShare * live && deleting > policy.deletes.minRows;
  if ((tooMany || empty) && absence !== "left" && !policy.confirmDeletes) {
    return {
      verdict: keepAll(complete),
      held: heldBack(stream, empty ? missing : deleting, live, empty, policy),
      unsettled: false,
    };
  }
  return {
    verdict: { remember: complete, all: exact, before: complete, confirmed },
    held: undefined,
    unsettled: complete && !exact && missing > deleting,
  };
}

const keepAll = (complete: boolean): Verdict => ({ remember: complete, all: false, before: false, confirmed: [] });

function heldBack(
  stream: Stream,
  deleting: number,
  live: number,
  empty: boolean,
  policy: SyncContext["policy"],
): string {
  const what = empty
    ? `the list came back empty, though ${live} rows are live`
    : `${deleting} of ${live} live rows are no longer listed, more than deletes.max_share (${policy.deletes.maxShare}) and deletes.min_rows (${policy.deletes.minRows}) allow`;
  return `${stream.name}: ${what}. Everything else was published and nothing was marked deleted. If it is right, run \`tributary sync ${stream.name} --confirm-deletes\`.`;
}

async function keysAmong(
  { destination }: SyncContext,
  publication: Publication,
  unknown: readonly Unknown[],
): Promise<Record<string, string>[]> {
  const keys = await missingKeys(destination, publication, MOST_PROVEN);
  return keys.filter(key =>
    unknown.some(values => Object.entries(values).every(([name, value]) => key[name] === value)),
  );
}

async function confirmGone(
  context: SyncContext,
  listing: Listing,
  publication: Publication,
  tally: Tally,
): Promise<Record<string, string>[]> {
  const { confirm } = listing;
  if (confirm === undefined) return [];
  const keys = await missingKeys(context.destination, publication, MOST_ASKED);
  const siblings = fixedPaths(context.catalogue);
  const gone: Record<string, string>[] = [];
  const ask = async (key: Record<string, string>): Promise<Record<string, string> | undefined> => {
    try {
      const answer = await context.api.get(
        buildPath(confirm, key, siblings),
        {},
        { priority: 1, signal: context.signal },
      );
      tally.page(answer);
      return undefined;
    } catch (error) {
      tally.failedRequest(error);
      if (error instanceof ApiError && error.failure === "not_found") return key;
      if (error instanceof RangeError) return undefined;
      // No answer is no proof, and no reason to keep the rest of the scan from the tables.
      if (error instanceof ApiError && !["unauthorized", "limited", "budget"].includes(error.failure)) return undefined;
      throw error;
    }
  };
  for await (const key of inParallel(each(keys), context.limiter.state.maximum, ask))
    if (key !== undefined) gone.push(key);
  return gone;
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
