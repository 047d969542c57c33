import { buildPath } from "../api/path.ts";
import { type Comparison, missingKeys, type Publication } from "../destinations/comparison.ts";
import type { Verdict } from "../destinations/deletion.ts";
import { ApiError } from "../errors.ts";
import { inParallel } from "../extract/parallel.ts";
import type { Tally } from "../extract/tally.ts";
import type { ScanRecord } from "../state.ts";
import { fixedPaths, type Listing, type Stream } from "../stream.ts";
import type { SyncContext } from "./context.ts";

/** A scan that took longer cannot say what is missing: rows moved too far meanwhile. */
const OLDEST_SCAN_MS = 6 * 3_600_000;
/** Requests a run spends on asking whether missing rows are gone. */
const MOST_ASKED = 200;

export interface AbsenceDecision {
  /** Undefined: nothing is deleted, nothing remembered. */
  readonly verdict: Verdict | undefined;
  /** Why the guard held deletions back: the stream fails with it. */
  readonly held: string | undefined;
  /** Another complete scan would settle rows that this one leaves open. */
  readonly unsettled: boolean;
}

const nothing: AbsenceDecision = { verdict: undefined, held: undefined, unsettled: false };

/** Decides which missing rows are gone: on proof, never on doubt. May ask their own endpoints. */
export async function decideAbsence(
  context: SyncContext,
  stream: Stream,
  listing: Listing,
  publication: Publication,
  record: ScanRecord,
  comparison: Comparison,
  tally: Tally,
): Promise<AbsenceDecision> {
  const { policy, clock } = context;
  const absence = listing.absence ?? "gone";
  const { missing, missedBefore, live, distinct } = comparison;
  if (!record.full || absence === "kept" || missing === 0) return nothing;
  if (clock.now() - Date.parse(record.startedAt) > OLDEST_SCAN_MS) return nothing;

  const total = record.lastTotal;
  const exact = record.rejected === 0 && total !== null && record.firstTotal === total && total === distinct;
  const complete = exact || (record.rejected === 0 && (total === null || distinct >= total));
  const empty = distinct === 0;
  const confirmed = exact || empty ? [] : await confirmGone(context, listing, publication, tally);
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
        { priority: 0, signal: context.signal },
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
