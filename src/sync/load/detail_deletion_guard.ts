import type { Stream } from "../../catalog/stream.ts";
import type { Parted } from "../../warehouse/merge/outcomes.ts";
import type { RunPolicy } from "../context.ts";

/** What became, in this run, of a detail's rows that answers or values no longer have. */
export interface Left {
  /** So many went. */
  left: number;
  /** Those that were too many: from then on none goes. */
  held: Parted["held"];
}

/** The guard counts over the whole run: many small publishes could take as much as a large one. */
export function mayLeave(
  { confirmDeletes, deletes }: RunPolicy,
  { left, held }: Left,
  leaving: number,
  live: number,
): boolean {
  if (confirmDeletes) return true;
  const all = left + leaving;
  return held === undefined && (all <= deletes.minRows || all <= deletes.maxShare * (left + live));
}

/** Why the guard held rows of details back: the stream fails with it. */
export function blockedDeletes(
  { deletes }: RunPolicy,
  { name }: Stream,
  { leaving, live }: NonNullable<Left["held"]>,
): string {
  const { maxShare, minRows } = deletes;
  return `${name}: ${leaving} of ${live} live rows are in no answer any more or belong to values that no row carries, more than deletes.max_share (${maxShare}) and deletes.min_rows (${minRows}) allow. None of these was marked deleted, and of the answers that lack them nothing was published; everything else was. If it is right, run \`tributary sync ${name} --confirm-deletes\`.`;
}
