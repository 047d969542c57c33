/** Live rows that may go at once without a word: a share (0–1) of them, and so many in any case. */
export interface DeletionLimits {
  readonly maxShare: number;
  readonly minRows: number;
}

/** The deletion guard: whether so many of the live rows are too many to be soft-deleted unasked. */
export const isTooMany = ({ maxShare, minRows }: DeletionLimits, leaving: number, live: number): boolean =>
  leaving > minRows && leaving > maxShare * live;

/** The guard of a stream of details. It counts over the whole run: many small publishes could take as much as a large one. */
export interface DetailGuard {
  readonly limits: DeletionLimits;
  /** Rows that were deleted in this run. */
  readonly deleted: number;
  /** Too many would have gone: from then on none goes. */
  readonly isBlocked: boolean;
}

/** Whether so many rows of details may go too; without a guard they may. */
export const mayLeave = (guard: DetailGuard | undefined, leaving: number, live: number): boolean =>
  guard === undefined || (!guard.isBlocked && !isTooMany(guard.limits, guard.deleted + leaving, guard.deleted + live));

/** Details that answered 404: how many did, and how many of the parents with live rows these are. */
interface Absences {
  readonly absent: number;
  readonly answered: number;
  readonly withRows: { readonly absent: number; readonly all: number };
}

/** One order that is gone answers 404; hundreds at once whose rows would go, or nothing but 404s, are a service that lost its way. */
export function areDoubtful({ absent, answered, withRows }: Absences, limits: DeletionLimits): boolean {
  if (absent <= limits.minRows) return false;
  if (withRows.all === 0) return answered === 0;
  return isTooMany(limits, withRows.absent, withRows.all);
}
