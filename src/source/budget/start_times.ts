/** A start time that is missed by more is not used. */
const LATE_MS = 10;
/** A reading of the state that took so much longer than the quickest says too little about when a start time is. */
const UNCERTAIN_MS = 40;
/** By so much the quickest grows with each reading, so that a way that has become longer is found out. */
const GROWTH_MS = 0.2;
/** The next start times are asked for so long before the last ones are used up. */
const AHEAD_MS = 50;
const MOST_BATCH = 256;
/** After one was not used for lack of a permit, so many starts with permits to spare have to come before the next ones are asked for ahead. */
const CAUTION = 8;

/** The start times that a worker was granted. Times are ms of one clock that nobody sets. */
export class StartTimes {
  #slots: number[] = [];
  #quickestMs = Number.POSITIVE_INFINITY;
  #batch = 0;

  /** How many there are, and how many are of use beside those for permits that are free: more while they are used, fewer when they are not. */
  get wanted(): { readonly slots: number; readonly batch: number } {
    return { slots: this.#slots.length, batch: this.#batch };
  }

  /** Takes those of a grant: delays from the moment of a reading that was asked for and there at these times. */
  add(delays: readonly number[], { sent, received }: { readonly sent: number; readonly received: number }): void {
    const took = received - sent;
    this.#quickestMs = Math.min(this.#quickestMs + GROWTH_MS, took);
    if (took <= this.#quickestMs + UNCERTAIN_MS) this.#slots.push(...delays.map(delay => received + delay));
  }

  clear(): void {
    this.#slots = [];
  }

  /** Drops those that were missed, or lie in a pause. `isFull`: no permit was free for them. */
  drop(now: number, pausedUntil: number, isFull: boolean): void {
    const from = Math.max(now - LATE_MS, pausedUntil);
    const dropped = this.#slots.filter(slot => slot < from).length;
    if (dropped === 0) return;
    this.#slots.splice(0, dropped);
    if (isFull) this.#batch = -CAUTION;
  }

  isDue(now: number): boolean {
    return this.#slots[0] !== undefined && this.#slots[0] <= now;
  }

  /** Uses the first one. `isShort`: more could be started, had they a start time. */
  use(isShort: boolean): void {
    this.#slots.shift();
    if (isShort) this.#batch = Math.min(MOST_BATCH, this.#batch + 1);
  }

  /** When the next one begins, or is missed. */
  nextChange(now: number): number {
    const [slot = Number.POSITIVE_INFINITY] = this.#slots;
    return slot > now ? slot : slot + LATE_MS + 1;
  }

  /** Whether more are of use, for so many requests that wait and so many free permits, and the last one is near. */
  isRunningOut(now: number, waiting: number, free: number): boolean {
    const usable = Math.min(waiting, Math.max(this.#batch, free));
    return (this.#slots.at(-1) ?? now) < now + AHEAD_MS && usable > this.#slots.length;
  }
}
