import { lookupOf } from "../../catalog/lookup.ts";
import type { Stream } from "../../catalog/stream.ts";
import type { Message } from "../../message.ts";
import { OLDEST_SCAN_MS } from "../../sync/load/soft_delete_decision.ts";
import type { StreamState } from "../../warehouse/state/stream_state.ts";
import { type ArchivedScan, partsOf } from "./archive_contents.ts";
import { replayMessages } from "./messages.ts";

/** A range of time, ms since 1970, half-open. */
export interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export interface ScanGroup {
  readonly scans: readonly ArchivedScan[];
  /** It is one scan, and whole: what it doesn't hold is missing. */
  readonly full: boolean;
  /** It was published before: that it misses a row once more proves nothing. */
  readonly seen: boolean;
  readonly stale: boolean;
}

export interface ScanChoice {
  readonly known: ScanGroup | undefined;
  readonly later: readonly ScanGroup[];
  readonly refused: Message | undefined;
}

export interface Knowledge {
  readonly state: StreamState;
  readonly completeTo: string | null;
  /** Whether they hold rows, or once were complete without one. */
  readonly loaded: boolean;
  readonly runs: readonly LoggedRun[];
}

export interface LoggedRun {
  readonly run: string;
  readonly startedAt: string;
  /** It asked the service, and the tables may hold what came. */
  readonly hasPublished: boolean;
}

/** Chooses among the scans that the archive holds of a stream; `scans` in the order in which they ended. */
export function chooseScans(
  stream: Stream,
  scans: readonly ArchivedScan[],
  knowledge: Knowledge,
  span: Span,
): ScanChoice {
  const { state, completeTo, loaded } = knowledge;
  const isLookup = lookupOf(stream) !== undefined;
  const usable = scans.filter(scan => isIn(span, scan.endedAt) && (isLookup || scan.windows || isComplete(scan)));
  const alone = (scan: ArchivedScan): ScanGroup => ({ scans: [scan], full: isWhole(scan), seen: false, stale: false });
  if (state.publishedScan === null && !loaded)
    return { known: undefined, later: usable.map(alone), refused: undefined };
  // Rows that a reset left have no scan of theirs any more, and are not taken through their earlier states once more either.
  const published = state.publishedScan === null ? -1 : scans.findLastIndex(({ ids }) => ids.has(state.publishedScan!));
  // Nor does the archive name the last publish of windows that had several. A backfill leaves open how far the stream is complete.
  const publishers = new Set(knowledge.runs.filter(run => run.hasPublished).map(({ run }) => run));
  const isKnown = (scan: ArchivedScan): boolean =>
    published >= 0
      ? scans.indexOf(scan) <= published
      : completeTo === null || scan.date <= completeTo || publishers.has(scan.run);
  const before = usable.filter(isKnown);
  const later = usable.filter(scan => !isKnown(scan)).map(alone);
  const chosen = merged(stream, before, span);
  const newest = chosen.at(-1);
  if (newest === undefined) return { known: undefined, later, refused: undefined };
  const behind = published >= 0 ? newest !== scans[published] : completeTo !== null && newest.date < completeTo;
  const held = usable.flatMap(({ run, confirmedBy }) => [run, ...confirmedBy]);
  const gap = behind ? undefined : gapsIn(held, knowledge)(chosen[0]!.run);
  const stale = behind || gap !== undefined;
  if (stale && span.from === undefined && span.to === undefined)
    return { known: undefined, later: [], refused: whyRefused(stream, newest.date, knowledge, gap) };
  // Published last, but not as the last whole one: an older state was asked for, and what came since is not missing.
  const isOlder = published >= 0 && state.lastFullAt === null;
  const full = chosen.length === 1 && !stale && !isOlder && isWhole(newest);
  const seen = published < 0 || (state.lastFullAt !== null && newest.date <= state.lastFullAt);
  return { known: { scans: chosen, full, seen, stale }, later, refused: undefined };
}

export function isIn({ from, to }: Span, at: string): boolean {
  const moment = Date.parse(at);
  return (from === undefined || moment >= from) && (to === undefined || moment < to);
}

const isComplete = (scan: ArchivedScan): boolean => partsOf(scan) !== undefined;

function isWhole(scan: ArchivedScan): boolean {
  const took = Date.parse(scan.endedAt) - Date.parse(scan.begunAt);
  return scan.full && !scan.windows && took <= OLDEST_SCAN_MS && isComplete(scan);
}

/** From the last scan on that holds all there was; rows that no list holds any more are kept only where lists forget. */
function merged(stream: Stream, before: readonly ArchivedScan[], span: Span): readonly ArchivedScan[] {
  const { mode } = stream;
  const forgets = mode.kind !== "detail" && mode.kind !== "snapshot" && mode.absence === "kept";
  const last = before.findLastIndex(scan => scan.full && !scan.windows && isComplete(scan));
  return last < 0 || (forgets && span.from !== undefined) ? before : before.slice(last);
}

/**
 * Of each run of the archive when one began that read the stream after it and is not in the archive: what that one brought
 * would be taken back. Where the log does not tell which of the two came first, it is a gap too.
 */
export function gapsIn(held: readonly string[], { runs }: Knowledge): (run: string) => string | undefined {
  const inArchive = new Set(held);
  const lost = runs.filter(({ run, hasPublished }) => hasPublished && !inArchive.has(run));
  const last = lost.map(({ startedAt }) => startedAt).reduce((a, b) => (a > b ? a : b), "");
  const begun = new Map(runs.map(({ run, startedAt }) => [run, startedAt]));
  return run => (lost.length > 0 && last >= (begun.get(run) ?? "") ? last : undefined);
}

export function whyRefused(
  { name, mode }: Stream,
  newest: string,
  { completeTo }: Knowledge,
  gap: string | undefined,
): Message {
  const option = mode.kind === "detail" ? "--details" : "--full";
  const known = { complete_to: completeTo, unarchived_run_at: gap };
  return replayMessages.archive_behind({ stream: name, ...known, newest, option });
}
