import { type Clock, isWithin } from "../../clock.ts";

/** How something stands: late or failed, or not. */
export type State = "bad" | "good";

/** Remembers of every subject what people were told last, and lets nothing be told more often than allowed. */
export interface AlertStates {
  /** Something happened: whether to tell now that the subject stands so. Bad after bad is told again, good only after bad. */
  happened(subject: string, state: State): boolean;
  /** A look, as often as one likes: whether people have to be told now because they believe the opposite. */
  seen(subject: string, state: State): boolean;
  /** Takes for granted that people know of it. */
  assume(subject: string, state: State): void;
  /** Subjects that people believe to stand badly. */
  bad(): readonly string[];
  forget(subject: string): void;
  /** How many tellings were held back since the last one; counts from zero afterwards. */
  suppressed(subject: string): number;
}

interface AlertState {
  told: State;
  readonly toldAt: { [S in State]?: number };
  /** What would have been told, had it been allowed. */
  waiting: State | undefined;
  suppressed: number;
}

export function createAlertStates(clock: Clock, atMostEveryMs: () => number): AlertStates {
  const alerts = new Map<string, AlertState>();

  const of = (subject: string): AlertState => {
    const known = alerts.get(subject);
    if (known !== undefined) return known;
    const alert: AlertState = { told: "good", toldAt: {}, waiting: undefined, suppressed: 0 };
    alerts.set(subject, alert);
    return alert;
  };

  const tell = (alert: AlertState, state: State, counts: boolean): boolean => {
    const at = alert.toldAt[state];
    if (at !== undefined && isWithin(clock, at, atMostEveryMs())) {
      if (counts) alert.suppressed += 1;
      alert.waiting = state;
      return false;
    }
    // What waited is told by this very telling.
    if (!counts && alert.waiting === state) alert.suppressed -= 1;
    alert.waiting = undefined;
    alert.told = state;
    alert.toldAt[state] = clock.now();
    return true;
  };

  return {
    happened(subject, state) {
      const alert = of(subject);
      if (state === "good" && alert.told === "good") {
        alert.waiting = undefined;
        return false;
      }
      return tell(alert, state, true);
    },
    seen(subject, state) {
      const alert = of(subject);
      if (alert.told === state) {
        alert.waiting = undefined;
        return false;
      }
      return tell(alert, state, alert.waiting !== state);
    },
    assume(subject, state) {
      of(subject).told = state;
    },
    bad: () => [...alerts].filter(([, { told }]) => told === "bad").map(([subject]) => subject),
    forget: subject => void alerts.delete(subject),
    suppressed(subject) {
      const alert = of(subject);
      const count = alert.suppressed;
      alert.suppressed = 0;
      return count;
    },
  };
}
