/** How one request went; `kind` names requests of like cost, because a list's answer takes longer than a detail's. */
export interface Outcome {
  readonly ok: boolean;
  readonly limited: boolean;
  readonly latencyMs: number;
  readonly kind?: string;
}

/** How many requests may be in flight, and what brought it there. */
interface CeilingState {
  readonly allowed: number;
  readonly cause: "start" | "slow" | "429";
  readonly starting: boolean;
  readonly slowness: number;
  readonly streak: number;
  readonly sinceChange: number;
  /** By a 429 of the pause that lasts: further ones of the same pause count for nothing. */
  readonly halved: boolean;
  /** The least latency of each kind, in ms. */
  readonly best: Readonly<Record<string, number>>;
}

const start = 2;
/** Until something speaks against it each quick answer allows one more, up to here: twice as many a round trip. */
const startEnds = 8;
const smoothing = 0.2;
const slow = 2;
// Differences below this are our own event loop's and the machine's: on two busy processors answers that take 50 ms were
// seen to take 110, which read as a slow service, and the ceiling fell to 1 for nothing.
const quickestMs = 100;
const decay = 1.005;

export interface Ceiling {
  readonly now: number;
  readonly cause: CeilingState["cause"];
  observe(outcome: Outcome): void;
  resume(): void;
}

export function createCeiling(maximum: number): Ceiling {
  let state = newCeiling(maximum);
  return {
    get now() {
      return state.allowed;
    },
    get cause() {
      return state.cause;
    },
    observe(outcome) {
      state = observed(state, outcome, maximum);
    },
    resume() {
      state = resumed(state);
    },
  };
}

const newCeiling = (maximum: number): CeilingState => ({
  allowed: Math.min(start, maximum),
  cause: "start",
  starting: true,
  slowness: 1,
  streak: 0,
  sinceChange: 0,
  halved: false,
  best: {},
});

/**
 * The ceiling after one more outcome. Additive up, multiplicative down: one more after as many quick answers as are allowed now, half after a 429 (once a
 * pause), a quarter less while answers take twice their best (a minimum that decays, kept by kind).
 */
function observed(before: CeilingState, outcome: Outcome, maximum: number): CeilingState {
  const { allowed, slowness } = before;
  const starting = before.starting && outcome.ok && !outcome.limited && slowness < slow && allowed < startEnds;
  if (outcome.limited) {
    const state = { ...before, starting, streak: 0, halved: true };
    return before.halved ? state : changed(state, Math.floor(allowed / 2), maximum, "429");
  }
  const streak = outcome.ok ? before.streak + 1 : 0;
  const state = { ...before, ...measured(before, outcome), starting, streak, sinceChange: before.sinceChange + 1 };
  if (state.slowness >= slow)
    return state.sinceChange >= allowed && allowed > 1
      ? changed(state, Math.min(allowed - 1, Math.floor(allowed * 0.75)), maximum, "slow")
      : state;
  const isEarned = streak >= (starting ? 1 : allowed) && allowed < maximum;
  return isEarned ? changed(state, allowed + 1, maximum, state.cause) : state;
}

/** The pause after a 429 is over: the next 429 counts again. */
const resumed = (state: CeilingState): CeilingState => ({ ...state, halved: false });

function changed(state: CeilingState, to: number, maximum: number, why: CeilingState["cause"]): CeilingState {
  const allowed = Math.max(1, Math.min(maximum, to));
  return { ...state, allowed, cause: allowed === maximum ? "start" : why, streak: 0, sinceChange: 0 };
}

function measured(
  { best, slowness }: CeilingState,
  { ok, latencyMs, kind = "" }: Outcome,
): Pick<CeilingState, "best" | "slowness"> {
  const before = best[kind] ?? latencyMs;
  const floor = Math.max(quickestMs, Math.min(latencyMs, before * decay));
  const ratio = Math.max(0, latencyMs) / floor;
  // A quick 500 says nothing about speed; a time-out does.
  return {
    best: ok && floor !== best[kind] ? { ...best, [kind]: floor } : best,
    slowness: ok || ratio > slowness ? slowness + smoothing * (ratio - slowness) : slowness,
  };
}
