/*
 * Orders of three years and what changes their details, day by day. Days count from 0, the night before
 * the first that is planned; a change of day t happens before the night t.
 */

export interface Mix {
  readonly name: string;
  /** Share of the changes that an invoice brings which the run reads itself. */
  readonly caused: number;
  /** Whether vendors' rates are other ones every 45 days, and old orders begin to change twice as often. */
  readonly drifts: boolean;
  /** The most details that may be wrong, of a hundred. */
  readonly wrongPercent: number;
}

export const mixes: readonly Mix[] = [
  { name: "cause-driven", caused: 0.9, drifts: false, wrongPercent: 0.88 },
  { name: "mixed", caused: 0.5, drifts: false, wrongPercent: 1.46 },
  { name: "drifting", caused: 0.5, drifts: true, wrongPercent: 1.41 },
  { name: "spontaneous", caused: 0.1, drifts: false, wrongPercent: 2.35 },
];

export interface World {
  readonly size: number;
  /** Days on which orders come and are closed. */
  readonly born: Int32Array;
  readonly closed: Int32Array;
  readonly vendor: Int32Array;
  /** By day from `FIRST` on: orders that change with and without a cause, and those with a cause that changes nothing. */
  readonly days: readonly Day[];
}

export interface Day {
  readonly caused: readonly number[];
  readonly silent: number[];
  readonly idle: readonly number[];
}

export const FIRST = -200;
export const LAST = 120;
const YEARS_DAYS = 1095;
const VENDORS = 300;
const OPEN_DAYS = 150;
/** Changes a day of an order that is open, closed for less than 60 days, older. */
const RATES = { open: 0.01, recent: 0.01, old: 0.0001 } as const;
/** A change brings another one so often, within days. */
const ECHO = 0.3;
const ECHO_DAYS = 7;
/** Invoices that change nothing in their order's details, to those that do. */
const IDLE = 0.3;

/** Numbers from 0 to 1 that a seed repeats. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function makeWorld(size: number, mix: Mix, seed: number): World {
  const random = chance(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const exponential = (mean: number) => Math.ceil(-mean * Math.log(1 - random()));
  const spread = (sigma: number) => Math.exp(sigma * normal() - (sigma * sigma) / 2);
  const born = Int32Array.from({ length: size }, () => Math.ceil(random() * (YEARS_DAYS + LAST)) - YEARS_DAYS);
  const closed = born.map(day => day + exponential(OPEN_DAYS));
  const vendor = Int32Array.from({ length: size }, () => Math.floor(VENDORS * random() ** 2));
  const own = Float64Array.from({ length: size }, () => spread(0.5));
  const days = Array.from({ length: LAST - FIRST + 1 }, () => ({
    caused: [] as number[],
    silent: [] as number[],
    idle: [] as number[],
  }));
  let factors = Float64Array.from({ length: VENDORS }, () => spread(0.8));
  let old: number = RATES.old;
  const happen = (order: number, day: number) => {
    const of = days[day - FIRST];
    if (of === undefined) return;
    const isCaused = random() < mix.caused;
    of[isCaused ? "caused" : "silent"].push(order);
    if (isCaused && random() < IDLE) of.idle.push(Math.floor(random() * size));
    if (random() < ECHO) happen(order, day + exponential(ECHO_DAYS));
  };
  for (let day = FIRST; day <= LAST; day++) {
    if (mix.drifts && day % 45 === 0) factors = factors.map(() => spread(0.8));
    if (mix.drifts && day === 60) old *= 2;
    for (let order = 0; order < size; order++) {
      if (born[order]! >= day) continue;
      const since = day - closed[order]!;
      const rate = since <= 0 ? RATES.open : since < 60 ? RATES.recent : old;
      if (random() < rate * own[order]! * factors[vendor[order]!]!) happen(order, day);
    }
  }
  return { size, born, closed, vendor, days };
}
