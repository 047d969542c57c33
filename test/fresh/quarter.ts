import type { Chosen, Fetch, Parent, Policy } from "./policies.ts";
import { ACTIVE_DAYS, SHARE, WITHIN_DAYS } from "./policies.ts";
import { chance, FIRST, type World } from "./world.ts";

/** What the truth says of a policy after one night. */
export interface Morning {
  readonly live: number;
  readonly wrong: number;
  /** Those of them that an adversary changed. */
  readonly adverse: number;
  readonly behind: number;
  /** Orders that are open or young, and those of them that are as fresh as promised. */
  readonly active: number;
  readonly fresh: number;
  readonly longestUnseen: number;
  readonly requests: number;
}

export interface Lived {
  readonly mornings: readonly Morning[];
  /** Days from a change to its fetch, of those fetched on each night. */
  readonly delays: readonly (readonly number[])[];
}

const BEHIND_DAYS = 7;
/** Turns of today's audit that go to open orders. */
const OPEN_TURNS = 0.75;

/** Nights of the turn before, roughly. */
const OPEN_CYCLE = 9;
const CLOSED_CYCLE = 170;

/** When each order was fetched last where today's audit has gone round for long: evenly back to its turn before, or when its list row changed. */
export function fetchedBefore(world: World, seed: number): Float64Array {
  const random = chance(seed ^ 0x5bd1e995);
  const isOpen = (order: number) => world.closed[order]! > 0;
  const live = [...world.born.keys()].filter(order => world.born[order]! <= 0);
  const open = live.filter(isOpen).length;
  const cycle = (count: number, turns: number) => count / (turns * SHARE * live.length);
  const cycles = { open: cycle(open, OPEN_TURNS), closed: cycle(live.length - open, 1 - OPEN_TURNS) };
  return Float64Array.from(world.born, (born, order) => {
    const turn = -Math.floor(random() * (isOpen(order) ? cycles.open : cycles.closed));
    return Math.max(turn, born, isOpen(order) ? born : world.closed[order]!);
  });
}

/** One policy's knowledge and the truth it does not know. */
export class Life {
  readonly policy: Policy;
  readonly #world: World;
  readonly #fetched: Float64Array;
  /** Days of the changes that were not fetched yet. */
  readonly #pending = new Map<number, number[]>();
  readonly #caused = new Set<number>();
  readonly #adverse = new Set<number>();
  readonly mornings: Morning[] = [];
  readonly delays: number[][] = [];

  constructor(policy: Policy, world: World, fetched: Float64Array) {
    this.policy = policy;
    this.#world = world;
    this.#fetched = fetched.slice();
  }

  async begin(): Promise<void> {
    const { born, closed } = this.#world;
    const live = [...born.keys()].filter(order => born[order]! <= 0);
    // What a fetch found before: that an order was closed, or what changed since the turn before its last one.
    const found = new Map(live.filter(order => closed[order]! <= 0).map(order => [order, closed[order]!]));
    for (let day = FIRST; day <= 0; day++) {
      const { caused, silent } = this.#world.days[day - FIRST]!;
      for (const order of [...caused, ...silent]) {
        const fetched = this.#fetched[order]!;
        if (born[order]! > 0 || day <= born[order]!) continue;
        if (day > fetched) this.#change(order, day);
        else if (day > fetched - (closed[order]! > 0 ? OPEN_CYCLE : CLOSED_CYCLE)) found.set(order, fetched);
      }
    }
    await this.policy.begin(live.map(order => ({ ...this.#parent(order, 0), changed: found.get(order) })));
  }

  /** A day and the night behind it; `adverse` are changes that the world does not have. */
  async spend(day: number, adverse: readonly number[] = []): Promise<readonly Chosen[]> {
    const { born, closed, days } = this.#world;
    const { caused, silent, idle } = days[day - FIRST]!;
    const delays: number[] = [];
    this.delays.push(delays);
    const isLive = (order: number) => born[order]! < day;
    for (const order of [...caused, ...silent, ...adverse]) if (isLive(order)) this.#change(order, day);
    for (const order of adverse) if (isLive(order)) this.#adverse.add(order);
    const come = [...born.keys()].filter(order => born[order]! === day);
    for (const order of come) this.#fetched[order] = day;
    const shut = [...closed.keys()]
      .filter(order => closed[order]! === day && isLive(order))
      .map(order => {
        this.#fetch(order, day, delays);
        // That it is closed is a change of its details too.
        return { order, found: true, caused: false };
      });
    const hinted = [...caused, ...idle].filter(isLive);
    await this.policy.listed(
      day,
      come.map(order => this.#parent(order, day)),
      shut,
      hinted,
    );
    for (const order of hinted) if (this.#fetched[order]! < day) this.#caused.add(order);
    const live = born.reduce((sum, on) => sum + (on <= day ? 1 : 0), 0);
    const chosen = await this.policy.choose(day, live);
    const fetches = chosen.map(({ order }): Fetch => {
      const caused = this.#caused.delete(order);
      return { order, found: this.#fetch(order, day, delays), caused };
    });
    await this.policy.fetched(day, fetches, live, come.length + shut.length);
    this.mornings.push(this.#morning(day, live, chosen.length));
    return chosen;
  }

  #parent(order: number, day: number): Parent {
    const { born, closed, vendor } = this.#world;
    return {
      order,
      open: closed[order]! > day,
      newest: born[order]!,
      fetched: this.#fetched[order]!,
      factor: vendor[order]!,
    };
  }

  #change(order: number, day: number): void {
    const pending = this.#pending.get(order);
    if (pending === undefined) this.#pending.set(order, [day]);
    else pending.push(day);
  }

  #fetch(order: number, day: number, delays: number[]): boolean {
    this.#fetched[order] = day;
    this.#adverse.delete(order);
    const pending = this.#pending.get(order);
    if (pending === undefined) return false;
    delays.push(...pending.map(changed => day - changed));
    return this.#pending.delete(order);
  }

  #morning(day: number, live: number, requests: number): Morning {
    const { born, closed } = this.#world;
    let behind = 0;
    for (const [first] of this.#pending.values()) if (day - first! > BEHIND_DAYS) behind++;
    let [active, late, longestUnseen] = [0, 0, 0];
    for (const order of born.keys()) {
      if (born[order]! > day) continue;
      longestUnseen = Math.max(longestUnseen, day - this.#fetched[order]!);
      if (closed[order]! <= day && born[order]! < day - ACTIVE_DAYS) continue;
      active++;
      if (day - (this.#pending.get(order)?.[0] ?? day) > WITHIN_DAYS) late++;
    }
    const fresh = active - late;
    const [wrong, adverse] = [this.#pending.size, this.#adverse.size];
    return { live, wrong, adverse, behind, active, fresh, longestUnseen, requests };
  }
}
