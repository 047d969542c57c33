import { type Clock, isWithin } from "../../clock.ts";

/** How something stands: late or failed, or not. */
export type State = "bad" | "good";

interface AlertState {
  told: State;
  readonly toldAt: { [S in State]?: number };
  /** What would have been told, had it been allowed. */
  waiting: State | undefined;
  suppressed: number;
}

/** Remembers of every subject what people were told last, and lets nothing be told more often than allowed. */
export class AlertStates {
  readonly #clock: Clock;
  readonly #atMostEveryMs: () => number;
  readonly #alerts = new Map<string, AlertState>();

  constructor(clock: Clock, atMostEveryMs: () => number) {
    this.#clock = clock;
    this.#atMostEveryMs = atMostEveryMs;
  }

  /** An event: whether to tell of it now. Bad after bad is told again, good only after bad. */
  happened(subject: string, state: State): boolean {
    const alert = this.#of(subject);
    if (state === "bad" || alert.told === "bad") return this.#tell(alert, state, true);
    alert.waiting = undefined;
    return false;
  }

  /** An observation, as often as one likes: whether to tell of it now, because people were told the opposite. */
  seen(subject: string, state: State): boolean {
    const alert = this.#of(subject);
    if (alert.told !== state) return this.#tell(alert, state, alert.waiting !== state);
    alert.waiting = undefined;
    return false;
  }

  /** Takes for granted that people know of it. */
  assume(subject: string, state: State): void {
    this.#of(subject).told = state;
  }

  /** Subjects of which people were told that they are bad. */
  bad(): readonly string[] {
    return [...this.#alerts].filter(([, { told }]) => told === "bad").map(([subject]) => subject);
  }

  forget(subject: string): void {
    this.#alerts.delete(subject);
  }

  /** How many alerts were held back since the last one; counts from zero afterwards. */
  takeSuppressed(subject: string): number {
    const alert = this.#of(subject);
    const count = alert.suppressed;
    alert.suppressed = 0;
    return count;
  }

  #of(subject: string): AlertState {
    const alert = this.#alerts.get(subject) ?? { told: "good", toldAt: {}, waiting: undefined, suppressed: 0 };
    this.#alerts.set(subject, alert);
    return alert;
  }

  #tell(alert: AlertState, state: State, counts: boolean): boolean {
    const at = alert.toldAt[state];
    if (at !== undefined && isWithin(this.#clock, at, this.#atMostEveryMs())) {
      if (counts) alert.suppressed += 1;
      alert.waiting = state;
      return false;
    }
    // This alert also tells what waited.
    if (!counts && alert.waiting === state) alert.suppressed -= 1;
    alert.waiting = undefined;
    alert.told = state;
    alert.toldAt[state] = this.#clock.now();
    return true;
  }
}
