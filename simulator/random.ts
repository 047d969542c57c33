/** A 32-bit hash of up to four integers; equal input gives equal output on every machine. */
export function hash(seed: number, a: number, b = 0, c = 0): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  h = Math.imul((h ^ (h >>> 15)) + a, 0xc2b2ae35);
  h = Math.imul((h ^ (h >>> 13)) + b, 0x27d4eb2f);
  h = Math.imul((h ^ (h >>> 15)) + c, 0x165667b1);
  h ^= h >>> 16;
  h = Math.imul(h, 0x7feb352d);
  h ^= h >>> 15;
  return h >>> 0;
}

/** A repeatable stream of random draws; `reset` starts another one without making an object. */
export class Draw {
  #state = 0;

  constructor(seed = 0) {
    this.#state = seed | 0;
  }

  /** Starts the draws that belong to `seed`; returns itself. */
  reset(seed: number): this {
    this.#state = seed | 0;
    return this;
  }

  /** A whole number in [0, 2^32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), 1 | t);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** A whole number in [0, n). */
  below(n: number): number {
    return this.next() % n;
  }

  /** A whole number in [low, high], both included. */
  between(low: number, high: number): number {
    return low + (this.next() % (high - low + 1));
  }

  /** True in `share` (0..1) of the draws. */
  chance(share: number): boolean {
    return this.next() < share * 4294967296;
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.next() % list.length] ?? list[0];
  }
}
