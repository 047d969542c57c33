/** How far a piece of work was at an instant. */
interface Mark {
  readonly at: number;
  readonly done: number;
}

/** Estimates the time that pieces of work still need, each from its own speed of the last minute. */
export interface Pace {
  /** Milliseconds until `done` is `total`; undefined while there is no speed to tell from, or nothing left. */
  remaining(name: string, done: number, total: number, now: number): number | undefined;
}

/** Long enough to even out batches and pauses, short enough to notice a service that has become slow. */
const WINDOW_MS = 60_000;
/** Several displays may look as often as they like. */
const MARK_EVERY_MS = 1_000;
/** Less says nothing about the speed of the next hour. */
const LEAST_MS = 3_000;

export function createPace(): Pace {
  const marks = new Map<string, Mark[]>();
  return {
    remaining(name, done, total, now) {
      const seen = marks.get(name) ?? [];
      marks.set(name, seen);
      const last = seen.at(-1);
      // Work that began anew, and a clock that was set back, are measured afresh.
      if (last !== undefined && (done < last.done || now < last.at)) seen.length = 0;
      if (seen.length === 0 || now - seen.at(-1)!.at >= MARK_EVERY_MS) seen.push({ at: now, done });
      // One mark older than the window stays, as what the window is measured from.
      while (seen.length > 2 && now - seen[1]!.at >= WINDOW_MS) seen.shift();
      const first = seen[0]!;
      const elapsed = now - first.at;
      const left = total - done;
      if (left <= 0 || elapsed < LEAST_MS || done <= first.done) return undefined;
      return Math.round((left * elapsed) / (done - first.done));
    },
  };
}
