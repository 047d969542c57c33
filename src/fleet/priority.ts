/*
 * Which job a worker takes first. What is due goes before backfills. Companies take turns: the n-th job of each has the same
 * priority. Lists go before shards of details, which take long, and one place of each worker is kept for lists that are due, so that a
 * small company's night doesn't wait for a large first load.
 */

const TURNS = 100_000;

/** Of the n-th job of a tier, counted from 0: those of higher tiers go first. */
const priority = (tier: number, turn: number): number => tier * TURNS - Math.min(turn, TURNS - 1);

/** What a job is for, as far as it says who goes first. */
interface Purpose {
  /** Absent: what is due. */
  readonly backfill?: object | undefined;
}

/** Of a run, for who conducts it. */
export const runPriority = ({ backfill }: Purpose): number => (backfill === undefined ? 1 : 0);

/** Of the n-th list of a company. */
export const listPriority = (turn: number, { backfill }: Purpose = {}): number =>
  priority(backfill === undefined ? 4 : 2, turn);

/** Of the n-th shard of a stream. */
export const shardPriority = (turn: number, { backfill }: Purpose = {}): number =>
  priority(backfill === undefined ? 3 : 1, turn);

/** What the place that is kept for lists takes. */
export const LEAST_OF_LISTS = 3 * TURNS + 1;
