/*
 * Which job a worker takes first. Companies take turns: the n-th job of each has the same priority. Lists go before shards of
 * details, which take long, and one place of each worker is kept for lists, so that a small company's night doesn't wait for a large
 * first load.
 */

const TURNS = 100_000;

/** Of the n-th list of a company, counted from 0. */
export const listPriority = (turn: number): number => 3 * TURNS - Math.min(turn, TURNS - 1);

/** Of the n-th shard of a stream's details. */
export const shardPriority = (turn: number): number => 2 * TURNS - Math.min(turn, TURNS - 1);

/** What the place that is kept for lists takes. */
export const LEAST_OF_LISTS = 2 * TURNS + 1;
