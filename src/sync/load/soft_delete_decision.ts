import { lookupOf } from "../../catalog/lookup.ts";
import { isWithin } from "../../clock.ts";
import type { Message } from "../../message.ts";
import type { Verdict } from "../../warehouse/merge/deletion.ts";
import { isTooMany } from "../../warehouse/merge/deletion_limits.ts";
import { missingKeys } from "../../warehouse/merge/diff.ts";
import type { LoadTarget } from "../../warehouse/merge/load_target.ts";
import type { StreamState } from "../../warehouse/state/stream_state.ts";
import type { SyncContext } from "../context.ts";
import type { StreamProgress } from "../stream_progress.ts";
import { deletesMessages } from "./messages.ts";
import { askAddresses, type MissedRows } from "./row_addresses.ts";

/** A scan that took longer cannot say what is missing: rows moved too far meanwhile. */
export const OLDEST_SCAN_MS = 6 * 3_600_000;
/** From the scan that first missed a row without an address to the start of one that may settle it: an index may lag for minutes. */
export const SETTLES_AFTER_MS = 15 * 60_000;
/** Rows of a lookup's unknown values that are marked one by one; the others are, when the next scan misses them too. */
const MOST_PROVEN = 1_000;

/** Which missing rows are gone, and what is remembered of those that stay. */
export interface DeleteDecision {
  /** Undefined: nothing is deleted, nothing remembered. */
  readonly verdict: Verdict | undefined;
  /** Why the deletion guard blocked deletions until they are confirmed: the stream fails with it. */
  readonly blocked: Message | undefined;
  /** What is remembered of the rows that stay; null: none do. */
  readonly undecided: StreamState["undecided"];
}

/**
 * Why nothing is soft-deleted: an empty list and too large a share (deletes.max_share) wait for --confirm-deletes, more than
 * half for the next run. `half` matters for small tables: of 40 live rows 25 may be missing, for deletes.min_rows allows 50.
 */
type Block = "empty" | "share" | "half";

/**
 * Soft deletes: decides which missing rows are gone. What comes before it: only a full scan whose questions were all answered
 * looks for missing rows (stream/listing.ts), and rows before `start` are not among them (diff_load.ts). What follows: merge/deletion.ts marks them in the publishing transaction.
 * Details have a guard of their own (merge/outcomes.ts).
 *
 * On proof, never on doubt. Equal totals are none: one deletion before an offset cursor and
 * one arrival behind it keep them and hide a live row. Proof is one answer that holds the whole list, a working list, a row's
 * own 404, or, where rows have no address, that an earlier run's complete scan, at least SETTLES_AFTER_MS before,
 * missed it too.
 */
export async function decideDeletes(
  context: SyncContext,
  sight: MissedRows,
  progress: StreamProgress,
): Promise<DeleteDecision> {
  const { mode, record, diff, target, before, run, seen, unknown } = sight;
  const { missing, missedBefore, live, distinct } = diff;
  const { confirmDeletes } = context.policy;
  if (missing === 0) return { verdict: undefined, blocked: undefined, undecided: null };
  const left = { run, doubted: false, again: false, asked: before?.asked ?? [] };
  if (!isWithin(context.clock, Date.parse(record.startedAt), OLDEST_SCAN_MS))
    return { verdict: undefined, blocked: undefined, undecided: left };

  const isCounted = record.lastTotal === null || distinct >= record.lastTotal;
  const complete = record.rejected === 0 && !record.capped && isCounted;
  const block = blockedBy(context, sight, complete);
  if (block !== undefined) {
    // An empty answer counts as no scan that missed a row: whatever else it misses would be gone with the next.
    const verdict = { remember: complete && block !== "empty", all: false, before: false, confirmed: [] };
    const message = blockMessage(sight, block, context);
    if (block === "half") progress.warnings.push(message);
    // What an incomplete scan lacks says nothing yet: why it is incomplete has been told.
    const isSilent = block === "half" || (block === "share" && !complete);
    const blocked = isSilent ? undefined : message;
    return { verdict, blocked, undecided: { ...left, doubted: true, again: complete } };
  }
  if (complete && (record.oneAnswer || mode.absence === "left" || confirmDeletes)) {
    const verdict = { remember: true, all: true, before: false, confirmed: [] };
    return { verdict, blocked: undefined, undecided: null };
  }
  const addresses = await askAddresses(context, sight, progress);
  const proven = unknown.length === 0 ? [] : await keysAmong(context, target, unknown);
  const confirmed = [...proven, ...addresses.gone];
  // Where the scan before was blocked and this one finds most of its rows again, being missed there counts for nothing.
  const isTrusted = before?.doubted !== true || missing * 2 > live;
  const byScans = complete && !addresses.exist;
  const verdict = { remember: complete, all: false, before: byScans && isTrusted && !seen, confirmed };
  const settled = confirmed.length + (verdict.before ? missedBefore : 0);
  const open = { ...left, again: complete && !addresses.told, asked: addresses.asked };
  const undecided = missing > settled ? open : null;
  return { verdict, blocked: undefined, undecided };
}

/** The deletion guard. It counts all that the scan missed, whatever may turn out to be gone. */
function blockedBy({ policy }: SyncContext, sight: MissedRows, complete: boolean): Block | undefined {
  const { mode, stream, diff, before, run } = sight;
  const { missing, missedBefore, live, distinct } = diff;
  if (mode.absence === "left" || policy.confirmDeletes) return undefined;
  // What a lookup asks for may have nothing.
  const isLookup = lookupOf(stream) !== undefined;
  if (distinct === 0 && !isLookup) return "empty";
  if (isTooMany(policy.deletes, missing, live)) return "share";
  if (isLookup || missing * 2 <= live) return undefined;
  const agrees = before?.doubted === true && before.run !== run && (!complete || missedBefore * 2 > live);
  return agrees ? undefined : "half";
}

function blockMessage({ stream, diff }: MissedRows, block: Block, { policy }: SyncContext): Message {
  const { missing, live } = diff;
  if (block === "empty") return deletesMessages.empty_list({ stream: stream.name, live });
  if (block === "half") return deletesMessages.half({ stream: stream.name, missing, live });
  const { maxShare, minRows } = policy.deletes;
  return deletesMessages.blocked({ stream: stream.name, missing, live, max_share: maxShare, min_rows: minRows });
}

async function keysAmong(
  { destination }: SyncContext,
  target: LoadTarget,
  unknown: MissedRows["unknown"],
): Promise<Record<string, string>[]> {
  const keys = await missingKeys(destination, target, MOST_PROVEN);
  return keys.filter(key =>
    unknown.some(values => Object.entries(values).every(([name, value]) => key[name] === value)),
  );
}
