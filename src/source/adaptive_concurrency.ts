/** How one request went; `kind` names requests of like cost, because a list's answer takes longer than a detail's. */
export interface Outcome {
  readonly ok: boolean;
  readonly limited: boolean;
  readonly latencyMs: number;
  readonly kind?: string;
}

/** How many requests may be in flight now, and what brought it there. */
export interface Ceiling {
  readonly now: number;
  readonly cause: "start" | "slow" | "429";
  observe(outcome: Outcome): void;
  /** The pause after a 429 is over: the next 429 counts again. */
  resume(): void;
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

/**
 * Additive up, multiplicative down: one more after as many quick answers as are allowed now, half after a 429 (once a pause), a quarter less while
 * answers take twice their best (a minimum that decays, kept by kind).
 */
export function createCeiling(maximum: number): Ceiling {
  const best = new Map<string, number>();
  let allowed = Math.min(start, maximum);
  let cause: Ceiling["cause"] = "start";
  let starting = true;
  let slowness = 1;
  let streak = 0;
  let sinceChange = 0;
  let halved = false;

  function change(to: number, why: Ceiling["cause"]): void {
    allowed = Math.max(1, Math.min(maximum, to));
    cause = allowed === maximum ? "start" : why;
    streak = 0;
    sinceChange = 0;
  }

  function measure({ ok, latencyMs, kind = "" }: Outcome): void {
    const before = best.get(kind) ?? latencyMs;
    const floor = Math.max(quickestMs, Math.min(latencyMs, before * decay));
    const ratio = Math.max(0, latencyMs) / floor;
    // A quick 500 says nothing about speed; a time-out does.
    if (ok) best.set(kind, floor);
    if (ok || ratio > slowness) slowness += smoothing * (ratio - slowness);
  }

  return {
    get now() {
      return allowed;
    },
    get cause() {
      return cause;
    },
    observe(outcome) {
      if (!outcome.ok || outcome.limited || slowness >= slow || allowed >= startEnds) starting = false;
      if (outcome.limited) {
        streak = 0;
        if (!halved) change(Math.floor(allowed / 2), "429");
        halved = true;
        return;
      }
      measure(outcome);
      sinceChange += 1;
      streak = outcome.ok ? streak + 1 : 0;
      if (slowness >= slow) {
        if (sinceChange >= allowed && allowed > 1) change(Math.min(allowed - 1, Math.floor(allowed * 0.75)), "slow");
      } else if (streak >= (starting ? 1 : allowed) && allowed < maximum) change(allowed + 1, cause);
    },
    resume() {
      halved = false;
    },
  };
}
