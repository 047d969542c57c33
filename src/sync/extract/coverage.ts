import type { Window } from "../../warehouse/state/stream_state.ts";

const FEW_ROWS = 500;

/** How much of a range of time has been read: what tells how long the rest takes, where a list has no total. */
export interface Coverage {
  /** A page of a window was read, with rows of these times, in the order of the rows (microseconds since 1970). */
  page(index: number, window: Window, times: readonly number[]): void;
  /** Rows still to come, by those that `rows` of this reading covered; undefined while that says too little. */
  rowsLeft(rows: number): number | undefined;
}

/** The windows of a reading, each as long as its dates say; the open one ends at `now` (ms). */
export function createCoverage(windows: readonly Window[], now: number): Coverage {
  const spans = windows.map(({ from, to }) => {
    const begin = Date.parse(from);
    return { begin, length: Math.max(1, (to === null ? now : Date.parse(to)) - begin) };
  });
  const shares: number[] = windows.map(window => (window.done ? 1 : 0));
  const whole = spans.reduce((sum, span) => sum + span.length, 0);
  const covered = () => shares.reduce((sum, share, index) => sum + share * spans[index]!.length, 0) / whole;
  const before = covered();
  return {
    page(index, { done }, times) {
      const { begin, length } = spans[index]!;
      if (done) shares[index] = 1;
      if (done || times.length === 0) return;
      // Read from its newer end or from its older one: the page itself tells.
      const last = times.at(-1)! / 1000;
      const share = times[0]! >= times.at(-1)! ? (begin + length - last) / length : (last - begin) / length;
      shares[index] = Math.max(shares[index]!, Math.min(1, share));
    },
    rowsLeft(rows) {
      const share = covered();
      if (rows < FEW_ROWS || share <= before) return undefined;
      return Math.round((rows * (1 - share)) / (share - before));
    },
  };
}
