import type { SampleRow } from "../../src/warehouse/details/wrong_estimate.ts";
import { type Chosen, dateOf, type Fetch, type Planner } from "./planner.ts";
import { chance, FIRST, type World } from "./world.ts";

/** What the truth says after one night. */
export interface Morning {
  readonly live: number;
  readonly wrong: number;
  /** Those of them that an adversary changed. */
  readonly adverse: number;
  /** Orders that are open or young, and those of them that are as fresh as promised. */
  readonly active: number;
  readonly fresh: number;
  readonly longestUnseen: number;
}

/** What is promised of details of open or young orders. */
const WITHIN_DAYS = 2;
const ACTIVE_DAYS = 60;
/** Nights in which looks went round open orders, and round closed ones, before the first that is planned. */
const OPEN_CYCLE = 9;
const CLOSED_CYCLE = 170;
const cycleOf = ({ closed }: World, order: number): number => (closed[order]! > 0 ? OPEN_CYCLE : CLOSED_CYCLE);

/** When each order was fetched last where looks have gone round for long: evenly back to its turn before, or when its list row changed. */
function fetchedBefore(world: World, seed: number): Float64Array {
  const { born, closed } = world;
  const random = chance(seed ^ 0x5bd1e995);
  return Float64Array.from(born, (day, order) => {
    const turn = -Math.floor(random() * cycleOf(world, order));
    return Math.max(turn, day, closed[order]! > 0 ? day : closed[order]!);
  });
}

/** The planner's knowledge and the truth it does not know. */
export class Life {
  readonly #planner: Planner;
  readonly #world: World;
  readonly #fetched: Float64Array;
  /** Days of the changes that were not fetched yet. */
  readonly #pending = new Map<number, number[]>();
  readonly #adverse = new Set<number>();
  readonly mornings: Morning[] = [];
  /** What the warehouse notes of its nights. */
  readonly samples: SampleRow[] = [];
  /** Days from a change to its fetch, of those fetched on each night. */
  readonly delays: number[][] = [];

  constructor(planner: Planner, world: World, seed: number) {
    this.#planner = planner;
    this.#world = world;
    this.#fetched = fetchedBefore(world, seed);
  }

  async begin(): Promise<void> {
    const { born, closed, days } = this.#world;
    const live = [...born.keys()].filter(order => born[order]! <= 0);
    // When a fetch last found something: that an order came or was closed, or a change in the turn after it.
    const found = new Map(live.map(order => [order, closed[order]! <= 0 ? closed[order]! : born[order]!]));
    for (let day = FIRST; day <= 0; day++) {
      const { caused, silent } = days[day - FIRST]!;
      for (const order of [...caused, ...silent]) {
        const fetched = this.#fetched[order]!;
        if (born[order]! > 0 || day <= born[order]!) continue;
        if (day > fetched) this.#change(order, day);
        else {
          const cycle = cycleOf(this.#world, order);
          const seen =
            day <= closed[order]! && closed[order]! <= 0
              ? closed[order]!
              : fetched - cycle * Math.floor((fetched - day) / cycle);
          found.set(order, Math.max(found.get(order)!, seen));
        }
      }
    }
    await this.#planner.come(live.map(order => this.#parent(order, 0, found.get(order)!)));
  }

  /** A day and the night behind it; `adverse` are changes that the world does not have. */
  async spend(day: number, adverse: readonly number[] = []): Promise<void> {
    const { born, closed, days } = this.#world;
    const { caused, silent, idle } = days[day - FIRST]!;
    const delays: number[] = [];
    this.delays.push(delays);
    const isLive = (order: number) => born[order]! < day;
    for (const order of [...caused, ...silent, ...adverse]) if (isLive(order)) this.#change(order, day);
    for (const order of adverse) if (isLive(order)) this.#adverse.add(order);
    const come = [...born.keys()].filter(order => born[order]! === day);
    for (const order of come) this.#fetched[order] = day;
    await this.#planner.come(come.map(order => this.#parent(order, day, day)));
    const shut = [...closed.keys()].filter(order => closed[order]! === day && isLive(order));
    for (const order of shut) this.#fetch(order, day, delays);
    // That it is closed is a change of its details too.
    await this.#planner.shut(
      day,
      shut.map(order => ({ order, found: true })),
    );
    await this.#planner.hint(day, [...caused, ...idle].filter(isLive));
    const chosen = await this.#planner.choose(day);
    const unseen = chosen.map(({ order }) => day - this.#fetched[order]!);
    const fetches = chosen.map(({ order }): Fetch => ({ order, found: this.#fetch(order, day, delays) }));
    await this.#planner.fetched(day, fetches);
    const fetched = new Set([...come, ...shut, ...chosen.map(({ order }) => order)]);
    this.mornings.push(this.#morning(day));
    this.samples.push(this.#sample(day, fetched, chosen, unseen, fetches));
  }

  #parent(order: number, day: number, changed: number) {
    const { born, closed } = this.#world;
    return { order, open: closed[order]! > day, newest: born[order]!, fetched: this.#fetched[order]!, changed };
  }

  #change(order: number, day: number): void {
    const pending = this.#pending.get(order);
    if (pending === undefined) this.#pending.set(order, [day]);
    else pending.push(day);
  }

  #fetch(order: number, day: number, delays: number[]): boolean {
    this.#fetched[order] = day;
    this.#adverse.delete(order);
    delays.push(...(this.#pending.get(order) ?? []).map(changed => day - changed));
    return this.#pending.delete(order);
  }

  #isActive = (order: number, day: number): boolean =>
    this.#world.closed[order]! > day || this.#world.born[order]! >= day - ACTIVE_DAYS;

  #sample(
    day: number,
    fetched: ReadonlySet<number>,
    chosen: readonly Chosen[],
    unseen: readonly number[],
    fetches: readonly Fetch[],
  ): SampleRow {
    const { live, active } = this.mornings.at(-1)!;
    const isActive = ({ order }: Chosen) => this.#isActive(order, day);
    const found = (nth: number) => fetches[nth]!.found;
    const looks = [...chosen.keys()].filter(nth => chosen[nth]!.why !== "caused");
    const drawn = looks.filter(nth => chosen[nth]!.why === "sample");
    const drawnActive = drawn.filter(nth => isActive(chosen[nth]!));
    const late = drawnActive.filter(found).map(nth => Math.max(0, 1 - WITHIN_DAYS / unseen[nth]!));
    return {
      planned_at: dateOf(day),
      looks: looks.length,
      found: looks.filter(found).length,
      sampled: drawn.length,
      wrong: drawn.filter(found).length,
      live,
      fetched: fetched.size,
      active_live: active,
      active_fetched: [...fetched].filter(order => this.#isActive(order, day)).length,
      active_sampled: drawnActive.length,
      late: late.reduce((sum, share) => sum + share, 0),
    };
  }

  #morning(day: number): Morning {
    const { born } = this.#world;
    let [live, active, late, longestUnseen] = [0, 0, 0, 0];
    for (const order of born.keys()) {
      if (born[order]! > day) continue;
      live++;
      longestUnseen = Math.max(longestUnseen, day - this.#fetched[order]!);
      if (!this.#isActive(order, day)) continue;
      active++;
      if (day - (this.#pending.get(order)?.[0] ?? day) > WITHIN_DAYS) late++;
    }
    const [wrong, adverse] = [this.#pending.size, this.#adverse.size];
    return { live, wrong, adverse, active, fresh: active - late, longestUnseen };
  }
}
