import type { Clock } from "../clock.ts";
import type { JobQueue, JobState, Kind } from "./queue.ts";

const POLL_MS = 250;

/** Waits for the ends of many jobs with one look at the queue for all. */
export class Awaiting {
  readonly #queue: JobQueue;
  readonly #clock: Clock;
  readonly #kind: Kind;
  readonly #waiting = new Map<string, { resolve(state: JobState): void; reject(error: unknown): void }>();
  #looking = false;

  constructor(queue: JobQueue, clock: Clock, kind: Kind) {
    this.#queue = queue;
    this.#clock = clock;
    this.#kind = kind;
  }

  /** How the job ended. One that was withdrawn has ended. @throws DestinationError when the queue is lost */
  endOf(id: string): Promise<JobState> {
    const { promise, resolve, reject } = Promise.withResolvers<JobState>();
    this.#waiting.set(id, { resolve, reject });
    if (!this.#looking) void this.#look();
    return promise;
  }

  async #look(): Promise<void> {
    this.#looking = true;
    try {
      while (this.#waiting.size > 0) {
        for (const job of await this.#queue.ended(this.#kind, [...this.#waiting.keys()])) {
          this.#waiting.get(job.id)?.resolve(job);
          this.#waiting.delete(job.id);
        }
        if (this.#waiting.size > 0) await this.#clock.sleep(POLL_MS);
      }
    } catch (error) {
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    } finally {
      this.#looking = false;
    }
  }
}
