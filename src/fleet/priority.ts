/*
 * Which job a worker takes first. What is due goes before backfills. Runs take turns: the n-th company of each has the same
 * priority. One place of each worker is kept for what is due, so that a night does not wait for large first loads.
 */

const TURNS = 100_000;

/** What a job is for, as far as it says who goes first. */
interface Purpose {
  /** Absent: what is due. */
  readonly backfill?: object | undefined;
}

/** Of a run, for who conducts it. */
export const runPriority = ({ backfill }: Purpose): number => (backfill === undefined ? 1 : 0);

/** Of the n-th company of a run, counted from 0. */
export const companyPriority = (turn: number, { backfill }: Purpose): number =>
  (backfill === undefined ? 2 : 1) * TURNS - Math.min(turn, TURNS - 1);

/** What the place that is kept for what is due takes. */
export const LEAST_OF_DUE = TURNS + 1;
