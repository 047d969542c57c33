import { type Clock, isWithin } from "../../clock.ts";

/** How something stands: late or failed, or not. */
export type State = "bad" | "good";

/** Remembers of every subject what people were told last, and lets nothing be told more often than allowed. */
export interface Standings {
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
  heldBack(subject: string): number;
}

interface Standing {
  told: State;
  readonly toldAt: { [S in State]?: number };
  /** What would have been told, had it been allowed. */
  waiting: State | undefined;
  heldBack: number;
}

export function createStandings(clock: Clock, atMostEveryMs: () => number): Standings {
  const standings = new Map<string, Standing>();

  const of = (subject: string): Standing => {
    const known = standings.get(subject);
    if (known !== undefined) return known;
    const standing: Standing = { told: "good", toldAt: {}, waiting: undefined, heldBack: 0 };
    standings.set(subject, standing);
    return standing;
  };

  const tell = (standing: Standing, state: State, counts: boolean): boolean => {
    const at = standing.toldAt[state];
    if (at !== undefined && isWithin(clock, at, atMostEveryMs())) {
      if (counts) standing.heldBack += 1;
      standing.waiting = state;
      return false;
    }
    // What waited is told by this very telling.
    if (!counts && standing.waiting === state) standing.heldBack -= 1;
    standing.waiting = undefined;
    standing.told = state;
    standing.toldAt[state] = clock.now();
    return true;
  };

  return {
    happened(subject, state) {
      const standing = of(subject);
      if (state === "good" && standing.told === "good") {
        standing.waiting = undefined;
        return false;
      }
      return tell(standing, state, true);
    },
    seen(subject, state) {
      const standing = of(subject);
      if (standing.told === state) {
        standing.waiting = undefined;
        return false;
      }
      return tell(standing, state, standing.waiting !== state);
    },
    assume(subject, state) {
      of(subject).told = state;
    },
    bad: () => [...standings].filter(([, { told }]) => told === "bad").map(([subject]) => subject),
    forget: subject => void standings.delete(subject),
    heldBack(subject) {
      const standing = of(subject);
      const count = standing.heldBack;
      standing.heldBack = 0;
      return count;
    },
  };
}
