import type { Stream } from "../../catalog/stream.ts";
import type { Diff } from "../../warehouse/merge/load_target.ts";
import type { Proven } from "../../warehouse/state/run_log.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";
import type { TableCounts } from "../../warehouse/state/table_counts.ts";

/** All that `difference_reason` can say. Several are joined by "; ". */
export const reasons = {
  equal: "equal",
  counted: "equal; the service gives no total, the rows of its pages were counted",
  rejected: "rows rejected: `tributary rejects` shows them",
  missing: "missing, undecided",
  kept: "rows that the list no longer shows are kept",
  older: "rows from before `start` are not asked for",
  arrived: "rows came or went while the list was read",
  hidden: "its pages showed fewer rows than its total says",
  surplus: "its pages showed more rows than its total says",
  repeated: "the list shows rows twice",
  conflicting: "different rows have one key",
  capped: "the list ends at the most rows that one answer gives",
  pending: "details still to be fetched",
  absent: "the service has no detail for some rows",
  unexplained: "not explained: `tributary verify` compares row by row",
  part: "not compared: only a part of the rows was asked for",
  incomplete: "not compared: the scan is incomplete",
  unpublished: "not compared: nothing was published",
  again: "not compared: loaded again from what was read before",
  noTotal: "not compared: the service gives no total",
  measured: "not compared: figures of a day, not a list",
} as const;

/** What a publish knew, and how many rows its table has with it. */
export interface Published {
  readonly stream: Stream;
  readonly record: ScanRecord;
  readonly diff: Diff;
  /** Live rows that a complete scan did not see, and that stay. */
  readonly missing: number;
  readonly counts: TableCounts;
  /** Nothing from before a day is asked for. */
  readonly bounded: boolean;
  /** Rows were loaded that an earlier run had read. */
  readonly again: boolean;
}

/** Rows at the service and rows in the table, the difference, and why there is one. */
export function proofOf(published: Published): Proven {
  const { stream, record, counts, again } = published;
  const { mode } = stream;
  const told = (reason: string): Proven => without(counts.live, reason);
  if (again) return told(reasons.again);
  if (mode.kind === "snapshot") return told(reasons.measured);
  if (mode.kind === "detail") return proofOfDetails(published, mode.rows !== undefined);
  if (!record.full) return told(reasons.part);
  if (record.phase !== "read" || record.unread.length > 0) return told(reasons.incomplete);
  return proofOfList(published, mode.absence === "kept");
}

/** What is known of a stream that ended without a publish; `rows` are those that earlier runs left. */
export const unproven = (rows: number | null): Proven => without(rows, reasons.unpublished);

const without = (rows: number | null, reason: string): Proven => ({
  service_rows: null,
  table_rows: rows,
  difference: null,
  difference_reason: reason,
});

function compared(service: number, table: number, equal: string, why: readonly string[]): Proven {
  const difference = table - service;
  const reason = difference === 0 ? equal : why.length === 0 ? reasons.unexplained : why.join("; ");
  return { service_rows: service, table_rows: table, difference, difference_reason: reason };
}

function proofOfList({ record, diff, missing, counts, bounded }: Published, kept: boolean): Proven {
  const { firstTotal, lastTotal, rejected, capped } = record;
  // What it shows is no count of what there is.
  if (capped && lastTotal === null) return without(counts.live, reasons.capped);
  const { staged, distinct } = diff;
  const service = lastTotal ?? distinct + rejected;
  const open = kept || bounded;
  const adrift = open ? counts.live < distinct : counts.live !== distinct + missing;
  const shown = distinct + rejected;
  const undecided = `${missing} ${reasons.missing}`;
  const why = [
    [rejected > 0, reasons.rejected],
    [missing > 0, undecided],
    [kept && counts.live > distinct, reasons.kept],
    [bounded && counts.live > distinct + missing, reasons.older],
    [firstTotal !== lastTotal, reasons.arrived],
    [capped, reasons.capped],
    [lastTotal !== null && staged > distinct && shown < lastTotal, reasons.repeated],
    [diff.conflicting !== undefined, reasons.conflicting],
    [lastTotal !== null && firstTotal === lastTotal && shown < lastTotal, reasons.hidden],
    [lastTotal !== null && firstTotal === lastTotal && shown > lastTotal, reasons.surplus],
    [adrift, reasons.unexplained],
  ] as const;
  const said = why.filter(([holds]) => holds).map(([, reason]) => reason);
  // A row that is missing and one that came balance, and the rows are not the same.
  const same = lastTotal === null ? reasons.counted : reasons.equal;
  const equal = missing > 0 ? undecided : diff.conflicting === undefined ? same : reasons.conflicting;
  return compared(service, counts.live, equal, said);
}

/** Of details that are one row each there are as many as there are rows to ask for. */
function proofOfDetails({ counts, bounded }: Published, many: boolean): Proven {
  const { live, parents } = counts;
  if (many || parents === undefined) return without(live, reasons.noTotal);
  const why = [
    [parents.pending > 0, reasons.pending],
    [parents.absent > 0, reasons.absent],
    [bounded, reasons.older],
  ] as const;
  const said = why.filter(([holds]) => holds).map(([, reason]) => reason);
  return compared(parents.all, live, reasons.equal, live > parents.all ? [] : said);
}
