/** A part of the budget, in bytes. */
export interface Share {
  /** Makes it larger or smaller at once: what is there already can't wait. */
  resize(bytes: number): void;
  /** Gives it back; more than once is once. */
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
}

/**
 * How many bytes of answers and of rows a run may hold in memory, for all streams together. A request for more waits until
 * other shares are released, first come first served. To rule out a deadlock, one request is always admitted, even one that
 * is larger than the budget, and a caller that waits must hold no share.
 */
export class ByteBudget {
  readonly bytes: number;
  #used = 0;
  /** Shares that were waited for and not given back yet. */
  #taken = 0;
  readonly #waiting: Waiting[] = [];

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** Whether a request waits: shares that can be released early should be. */
  get isShort(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when there is room. Rejects with the signal's reason. */
  take(bytes: number, signal?: AbortSignal): Promise<Share> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal?.reason);
        this.#admit();
      };
      const waiting: Waiting = {
        bytes,
        start: () => {
          signal?.removeEventListener("abort", leave);
          this.#taken++;
          resolve(this.#share(bytes, () => this.#taken--));
        },
      };
      this.#waiting.push(waiting);
      signal?.addEventListener("abort", leave, { once: true });
      this.#admit();
    });
  }

  /** The same for what is in memory already: it counts, and doesn't wait. */
  lend(bytes: number): Share {
    return this.#share(bytes, () => undefined);
  }

  #share(bytes: number, end: () => void): Share {
    let held = 0;
    let over = false;
    const resize = (size: number): void => {
      if (over) return;
      this.#used += size - held;
      held = size;
      this.#admit();
    };
    resize(bytes);
    return {
      resize,
      release() {
        if (over) return;
        end();
        resize(0);
        over = true;
      },
    };
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#taken > 0 && this.#used + next.bytes > this.bytes) return;
      // Before it starts, which looks for the next ones.
      this.#waiting.shift();
      next.start();
    }
  }
}
