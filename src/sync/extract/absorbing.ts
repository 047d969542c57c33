import { mergeDrift, mergePresence } from "../../rows/drift.ts";
import type { ColumnProblems, Encoded } from "../../rows/encoder.ts";
import type { ScanRecord } from "../../warehouse/state/stream_state.ts";

/** The record of a scan once the rows of a batch are stored, with what their encoding told. */
export function absorb(record: ScanRecord, encoded: Encoded, sequence: number): ScanRecord {
  const later = (a: number | null, b: number | undefined) => (b === undefined ? a : a === null ? b : Math.max(a, b));
  const earlier = (a: number | null, b: number | undefined) => (b === undefined ? a : a === null ? b : Math.min(a, b));
  return {
    ...record,
    sequence,
    latest: later(record.latest, encoded.latest),
    earliest: earlier(record.earliest, encoded.earliest),
    rejected: record.rejected + encoded.rejected,
    rounded: record.rounded + encoded.rounded,
    problems: mergeProblems(record.problems, encoded.problems),
    drift: mergeDrift(record.drift, encoded.drift),
    presence: presenceWith(record.presence, encoded.presence),
  };
}

function presenceWith(known: ScanRecord["presence"], fresh: Encoded["presence"]): ScanRecord["presence"] {
  const merged = Object.entries(fresh).map(([table, presence]) => [table, mergePresence(known[table], presence)]);
  return { ...known, ...Object.fromEntries(merged) };
}

function mergeProblems(known: readonly ColumnProblems[], fresh: readonly ColumnProblems[]): ColumnProblems[] {
  const merged = known.map(problem => ({ ...problem }));
  for (const problem of fresh) {
    const same = merged.find(
      other => other.table === problem.table && other.column === problem.column && other.reason === problem.reason,
    );
    if (same === undefined) merged.push({ ...problem });
    else same.rows += problem.rows;
  }
  return merged;
}
