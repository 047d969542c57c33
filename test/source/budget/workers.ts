import { ByteBudget } from "../../../src/byte_budget.ts";
import { DestinationError } from "../../../src/errors.ts";
import { type BudgetLimits, type BudgetState, budgetState } from "../../../src/source/budget/budget.ts";
import {
  type BudgetStore,
  createSharedLimiter,
  type SharedLimiter,
} from "../../../src/source/budget/shared_limiter.ts";
import { sentence } from "../../support/log.ts";
import { type ManualClock, manualClock } from "../clocks.ts";

/** Numbers from 0 to below 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** When the world begins, by the database's clock. */
export const BEGUN = 1_790_000_000_000;

const never = new Promise<never>(() => undefined);

interface Settings extends BudgetLimits {
  readonly seed: number;
  /** A statement takes up to so long, there and back. */
  readonly tripMs: number;
  /** The share of writes whose answer is lost. */
  readonly lostShare?: number;
  readonly latencyMs: readonly [number, number];
  /** Requests reach the service up to so long after their start. */
  readonly delayMs: number;
}

export interface Worker {
  readonly id: string;
  readonly limiter: SharedLimiter;
  /** Requests that it sent and that have no answer yet. */
  inFlight: number;
  starts: number;
  isDead: boolean;
  isCut: boolean;
  readonly failures: Set<unknown>;
}

/** Several workers, the database that they share and the service, in a time that is moved by `advance`. What must never be is noted in `wrongs`. */
export class World {
  readonly clock: ManualClock = manualClock(0);
  readonly wrongs: string[] = [];
  readonly workers: Worker[] = [];
  /** When requests were started and when they reached the service, in ms. */
  readonly starts: number[] = [];
  readonly arrivals: number[] = [];
  exchanges = 0;
  state: BudgetState | undefined;
  #version = 0;
  readonly #settings: Settings;
  readonly #random: () => number;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#random = randomOf(settings.seed);
  }

  get inFlight(): number {
    return this.workers.reduce((sum, { inFlight, isDead }) => sum + (isDead ? 0 : inFlight), 0);
  }

  /** A worker whose clocks show another time than everybody's. */
  join(): Worker {
    const id = `w${this.workers.length}`;
    const [wrongBy, up] = [(this.#random() - 0.5) * 20_000_000, this.#random() * 1_000_000];
    const told = { until: 0 };
    const worker: Worker = {
      id,
      ...{ inFlight: 0, starts: 0, isDead: false, isCut: false, failures: new Set() },
      limiter: createSharedLimiter({
        ...this.#settings,
        worker: id,
        store: this.#storeOf(() => worker, told),
        clock: {
          now: () => this.clock.now() + wrongBy,
          sleep: (ms, signal) => this.clock.sleep(ms, signal).then(() => (worker.isDead ? never : undefined)),
        },
        uptime: () => this.clock.now() + up,
        memory: new ByteBudget(Number.POSITIVE_INFINITY),
      }),
    };
    this.#toldOf.set(worker, told);
    this.workers.push(worker);
    return worker;
  }

  readonly #toldOf = new Map<Worker, { until: number }>();

  /** Sends a request after another, `width` at a time, until `until`. */
  keepBusy(worker: Worker, width: number, until = Number.POSITIVE_INFINITY): void {
    const send = async () => {
      while (this.clock.now() < until && !worker.isDead) await worker.limiter.run(() => this.#request(worker));
    };
    for (let nth = 0; nth < width; nth++) send().catch(error => worker.failures.add(error));
  }

  async #request(worker: Worker): Promise<void> {
    const now = this.clock.now();
    worker.inFlight += 1;
    worker.starts += 1;
    this.starts.push(now);
    this.arrivals.push(now + this.#random() * this.#settings.delayMs);
    if (this.inFlight > this.#settings.maxConcurrency) this.#wrong(`${this.inFlight} in flight`);
    const { until } = this.#toldOf.get(worker)!;
    if (now < until - 0.001) this.#wrong(`${worker.id} started ${until - now} ms before the end of a pause`);
    const [least, most] = this.#settings.latencyMs;
    const latencyMs = least + this.#random() * (most - least);
    const over = worker.limiter.lost;
    await this.clock.sleep(latencyMs, over).catch(() => undefined);
    worker.inFlight -= 1;
    if (worker.isDead) await never;
    worker.limiter.observe({ ok: true, limited: false, latencyMs });
  }

  #wrong(what: string): void {
    this.wrongs.push(`${this.clock.now()}: ${what}`);
  }

  #storeOf(workerOf: () => Worker, told: { until: number }): BudgetStore {
    const trip = async () => {
      await this.clock.sleep((this.#random() * this.#settings.tripMs) / 2);
      const worker = workerOf();
      if (worker.isDead) await never;
      if (worker.isCut) throw new DestinationError(sentence("cut off"), undefined, true);
    };
    let read = { at: 0, now: 0 };
    return {
      read: async () => {
        await trip();
        read = { at: this.clock.now(), now: this.clock.now() + BEGUN };
        const version = this.#version === 0 ? undefined : this.#version;
        const answer = { now: read.now, version, state: JSON.parse(JSON.stringify(this.state ?? null)) as unknown };
        await trip();
        return answer;
      },
      swap: async (version, state) => {
        await trip();
        const isFirst = (version ?? 0) === this.#version;
        if (isFirst) this.#store(budgetState.parse(JSON.parse(JSON.stringify(state))));
        const { at, now } = read;
        await trip();
        if (this.#random() < (this.#settings.lostShare ?? 0))
          throw new DestinationError(sentence("lost"), undefined, true);
        const left = (state as BudgetState).pause;
        if (isFirst && left !== undefined) told.until = Math.max(told.until, at + left.until - now);
        return isFirst;
      },
    };
  }

  #store(state: BudgetState): void {
    const holds = Object.values(state.leases).reduce((sum, lease) => sum + lease.holds, 0);
    if (holds > this.#settings.maxConcurrency) this.#wrong(`leases hold ${holds}`);
    this.#version += 1;
    this.exchanges += 1;
    this.state = state;
  }

  /** The most requests that reached the service in a second. */
  mostInASecond(): number {
    const sorted = this.arrivals.toSorted((a, b) => a - b);
    let most = 0;
    for (let first = 0, last = 0; last < sorted.length; last++) {
      while (sorted[last]! - sorted[first]! >= 1_000) first += 1;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }
}
