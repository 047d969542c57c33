import type { Message } from "../../message.ts";
import type { Proof } from "../../source/evidence.ts";
import type { Verdict } from "../../warehouse/merge/deletion.ts";
import { type DeletionLimits, isTooMany } from "../../warehouse/merge/deletion_limits.ts";
import type { Diff } from "../../warehouse/merge/load_target.ts";
import type { ScanRecord, StreamState } from "../../warehouse/state/stream_state.ts";
import { deletesMessages } from "./messages.ts";

/** A scan that took longer cannot say what is missing: rows moved too far meanwhile. */
export const OLDEST_SCAN_MS = 6 * 3_600_000;
/** From the scan that first missed a row without an address to the start of one that may settle it: an index may lag for minutes. */
export const SETTLES_AFTER_MS = 15 * 60_000;

/** A row by its key columns. */
export type Key = Readonly<Record<string, string>>;

/** A scan that missed rows, and what is known of it. */
export interface Missed {
  readonly stream: string;
  /** A listed row's own address; undefined: its stream has none. */
  readonly address: string | undefined;
  /** A row that leaves a working list is gone; one of a lookup may be gone with its value. */
  readonly list: "usual" | "working" | "lookup";
  readonly record: Pick<ScanRecord, "rejected" | "capped" | "lastTotal" | "oneAnswer">;
  readonly diff: Pick<Diff, "missing" | "missedBefore" | "live" | "distinct">;
  readonly before: StreamState["undecided"];
  readonly run: string;
  /** It was published before: missing a row once more proves nothing. */
  readonly seen: boolean;
  /** It began more than OLDEST_SCAN_MS ago. */
  readonly isOld: boolean;
  /** Undefined: the user confirmed the deletions. */
  readonly limits: DeletionLimits | undefined;
}

/** What an answer proved of a missing row, or of a listed one at the same path; `lookup`: of the value that it is looked up by. */
export interface Evidence {
  readonly key: Key;
  readonly of: "missing" | "listed" | "lookup";
  readonly proof: Proof;
}

/** Which missing rows are gone, and what is remembered of those that stay. */
export interface DeleteDecision {
  /** Undefined: nothing is deleted, nothing remembered. */
  readonly verdict: Verdict | undefined;
  /** Why the deletion guard blocked deletions until they are confirmed: the stream fails with it. */
  readonly blocked: Message | undefined;
  /** What is remembered of the rows that stay; null: none do. */
  readonly undecided: StreamState["undecided"];
  readonly warnings: readonly Message[];
  readonly notes: readonly Message[];
}

/**
 * Why nothing is soft-deleted: an empty list and too large a share (deletes.max_share) wait for --confirm-deletes, more than
 * half for the next run. `half` matters for small tables: of 40 live rows 25 may be missing, for deletes.min_rows allows 50.
 */
type Block = "empty" | "share" | "half";

const nothing = { verdict: undefined, blocked: undefined, undecided: null, warnings: [], notes: [] };

/** The requests that a decision needs: for the addresses of a listed row and of missing ones, those behind the row `after` first. */
export interface Needed {
  /** Undefined: the rows have none. What lookups ran into counts all the same. */
  readonly address: string | undefined;
  readonly after: readonly string[];
}

/** What the missing rows are judged by, beside earlier scans; undefined: the scan alone decides. */
export const needs = (missed: Missed): Needed | undefined =>
  byScan(missed) === undefined ? { address: missed.address, after: missed.before?.asked ?? [] } : undefined;

/**
 * Soft deletes: decides which missing rows are gone. What comes before it: only a full scan whose questions were all answered
 * looks for missing rows (stream/listing.ts), and rows before `start` are not among them (diff_load.ts). What follows: merge/deletion.ts marks them in the publishing transaction.
 * merge/deletion_limits.ts judges details that answer 404.
 *
 * On proof, never on doubt. Equal totals are none: one deletion before an offset cursor and
 * one arrival behind it keep them and hide a live row. Proof is one answer that holds the whole list, a working list, a row's
 * own 404, or, where rows have no address, that an earlier run's complete scan, at least SETTLES_AFTER_MS before,
 * missed it too.
 */
export const decideDeletes = (missed: Missed, answers: readonly Evidence[]): DeleteDecision =>
  byScan(missed) ?? byAnswers(missed, answers);

/** What the scan alone decides. */
function byScan(missed: Missed): DeleteDecision | undefined {
  const { record, diff, isOld, list, limits } = missed;
  if (diff.missing === 0) return nothing;
  if (isOld) return { ...nothing, undecided: stillOpen(missed) };
  const complete = isComplete(missed);
  const block = blockedBy(missed, complete);
  if (block !== undefined) {
    // An empty answer counts as no scan that missed a row: whatever else it misses would be gone with the next.
    const verdict = { remember: complete && block !== "empty", all: false, before: false, confirmed: [] };
    const message = blockMessage(missed, block);
    // Rows that an incomplete scan lacks prove nothing, and the run has named why it is incomplete.
    const isSilent = block === "half" || (block === "share" && !complete);
    return {
      verdict,
      blocked: isSilent ? undefined : message,
      undecided: { ...stillOpen(missed), doubted: true, again: complete },
      warnings: block === "half" ? [message] : [],
      notes: [],
    };
  }
  if (!complete || (!record.oneAnswer && list !== "working" && limits !== undefined)) return undefined;
  return { ...nothing, verdict: { remember: true, all: true, before: false, confirmed: [] } };
}

/** A missing row's 404 counts only where the same path answers for a listed row. */
function byAnswers(missed: Missed, answers: readonly Evidence[]): DeleteDecision {
  const { stream, address, diff, before, seen } = missed;
  const { missing, missedBefore, live } = diff;
  const complete = isComplete(missed);
  const proofsOf = (of: Evidence["of"]) => answers.filter(answer => answer.of === of);
  const requested = proofsOf("missing");
  const control = proofsOf("listed").at(-1)?.proof ?? "nothing";
  const isUsable = control === "presence";
  const gone = isUsable ? requested.filter(({ proof }) => proof === "absence") : [];
  const there = requested.filter(({ proof }) => proof === "presence").length;
  const confirmed = [...proofsOf("lookup"), ...gone].map(({ key }) => key);
  // Where the scan before was blocked and this one finds most of its rows again, being missed there counts for nothing.
  const isTrusted = before?.doubted !== true || missing * 2 > live;
  const isWithoutAddress = address === undefined || control === "refusal";
  const verdict = {
    remember: complete,
    all: false,
    before: complete && isWithoutAddress && isTrusted && !seen,
    confirmed,
  };
  const settled = confirmed.length + (verdict.before ? missedBefore : 0);
  const isTold = isUsable && gone.length + there === missing;
  const asked = address === undefined ? [] : isUsable ? Object.values(requested.at(-1)?.key ?? {}) : before?.asked;
  const open = { ...stillOpen(missed), again: complete && !isTold, asked: asked ?? [] };
  const undecided = missing > settled ? open : null;
  const notes =
    address === undefined
      ? []
      : isUsable
        ? [deletesMessages.addresses_asked({ stream, address, asked: requested.length, gone: gone.length })]
        : [deletesMessages.addresses_unusable({ stream, address, forbidden: control === "refusal" })];
  return { verdict, blocked: undefined, undecided, warnings: [], notes };
}

const stillOpen = ({ run, before }: Missed) => ({ run, doubted: false, again: false, asked: before?.asked ?? [] });

const isComplete = ({ record, diff }: Missed): boolean =>
  record.rejected === 0 && !record.capped && (record.lastTotal === null || diff.distinct >= record.lastTotal);

/** The deletion guard. It counts all that the scan missed, whatever may turn out to be gone. */
function blockedBy({ list, diff, before, run, limits }: Missed, complete: boolean): Block | undefined {
  const { missing, missedBefore, live, distinct } = diff;
  if (list === "working" || limits === undefined) return undefined;
  // What a lookup asks for may have nothing.
  if (distinct === 0 && list !== "lookup") return "empty";
  if (isTooMany(limits, missing, live)) return "share";
  if (list === "lookup" || missing * 2 <= live) return undefined;
  const agrees = before?.doubted === true && before.run !== run && (!complete || missedBefore * 2 > live);
  return agrees ? undefined : "half";
}

function blockMessage({ stream, diff, limits }: Missed, block: Block): Message {
  const { missing, live } = diff;
  if (block === "empty") return deletesMessages.empty_list({ stream, live });
  if (block === "half") return deletesMessages.half({ stream, missing, live });
  const { maxShare: max_share = 0, minRows: min_rows = 0 } = limits ?? {};
  return deletesMessages.blocked({ stream, missing, live, max_share, min_rows });
}
