import type { Clock } from "../clock.ts";
import type { ApiListeners, Unanswered } from "./api.ts";

const SLOW_MS = 10_000;

interface SentRequest extends Pick<Unanswered, "method" | "path" | "attempt"> {
  readonly since: number;
}

/** The requests that have no answer yet, in the order in which they were sent; says so when one waits long. */
export class SentRequests {
  readonly #clock: Clock;
  readonly #slowMs: number;
  readonly #onSlow: ApiListeners["onSlow"];
  readonly #waiting = new Set<SentRequest>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, { slowMs = SLOW_MS, onSlow }: ApiListeners = {}) {
    this.#clock = clock;
    this.#slowMs = slowMs;
    this.#onSlow = onSlow;
  }

  add(request: SentRequest): void {
    this.#waiting.add(request);
    // A real timer, not the injected clock: a hanging service has to be reported while it hangs.
    this.#timer ??= setInterval(() => this.#look(), this.#slowMs).unref();
  }

  delete(request: SentRequest): void {
    this.#waiting.delete(request);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  unanswered(): Unanswered | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const sinceMs = this.#clock.now() - first.since;
    if (sinceMs < this.#slowMs) return undefined;
    return { method: first.method, path: first.path, attempt: first.attempt, sinceMs, others: this.#waiting.size - 1 };
  }

  #look(): void {
    const slow = this.unanswered();
    if (slow !== undefined) this.#onSlow?.(slow);
  }
}
