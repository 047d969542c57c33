import PQueue from "p-queue";
import type { ByteBudget } from "../../byte_budget.ts";
import type { Clock } from "../../clock.ts";
import { DestinationError } from "../../errors.ts";
import { newCeiling, type Outcome } from "../adaptive_concurrency.ts";
import { BudgetSpentError } from "../fault.ts";
import type { Limiter, LimiterState } from "../limit.ts";
import { sourceMessages } from "../messages.ts";
import {
  type BudgetLimits,
  type BudgetRequest,
  budgetState,
  type Grant,
  grant,
  LEASE_MS,
  MARGIN_MS,
  RENEWAL_MS,
} from "./budget.ts";
import { StartTimes } from "./start_times.ts";

/** One key's state, in a database that all workers reach. Both reject with a DestinationError while it is not reached. */
export interface BudgetStore {
  /** `now`: ms since the epoch by the database's clock. `version` and `state` are undefined before the first `swap`. `sending` is called when the statement leaves, which may have to wait for others. */
  read(
    sending?: () => void,
  ): Promise<{ readonly now: number; readonly version: number | undefined; readonly state: unknown }>;
  /** Stores JSON, unless there is another version by now: false then. */
  swap(version: number | undefined, state: unknown): Promise<boolean>;
}

export interface SharedLimiterSettings extends BudgetLimits {
  readonly store: BudgetStore;
  /** Which worker this is: no two at a time have the same. */
  readonly worker: string;
  readonly clock: Clock;
  /** ms of a clock that nobody sets, such as `performance.now`. */
  readonly uptime: () => number;
  readonly memory: ByteBudget;
}

/** The limiter of a key that other processes use as well. */
export interface SharedLimiter extends Limiter {
  /** Aborted, with a DestinationError, once others may use what this process had: what is in flight has to end. */
  readonly lost: AbortSignal;
  /** Gives back what it has. Requests that wait are refused. */
  close(): Promise<void>;
}

/** Between two exchanges of who waits for permits; where answers may have raised the ceiling. */
const POLL_MS = 250;
const QUICK_POLL_MS = 50;
const RETRY_MS = 250;
/** What an exchange took is expected of the next ones, less and less: a start time that is over when it is granted is of no use. */
const SWAP_DECAY = 0.9;
const LONGEST_LEAD_MS = 1_000;

/** When the state was asked for and there, by `uptime`. */
interface Reading {
  readonly sent: number;
  readonly received: number;
}

export const createSharedLimiter = (settings: SharedLimiterSettings): SharedLimiter => new Shared(settings);

class Shared implements SharedLimiter {
  readonly memory: ByteBudget;
  readonly #settings: SharedLimiterSettings;
  // It is paused but for the moment in which one request starts.
  readonly #queue = new PQueue({ autoStart: false });
  readonly #lost = new AbortController();
  /** Why requests that wait are refused. */
  #refusal: Error | undefined;
  #isOver = false;
  #inFlight = 0;
  #limited = 0;
  #told: { started: number; outcomes: Outcome[]; pause: BudgetRequest["pause"] } = {
    started: 0,
    outcomes: [],
    pause: undefined,
  };
  // What was granted. Times are by `uptime`.
  #isLeased = false;
  #leaseEnds = Number.POSITIVE_INFINITY;
  #ceiling: Grant["ceiling"];
  #permits = 0;
  /** What the others take for in flight here, and what was wanted. */
  #holds = 0;
  #asked = 0;
  readonly #starts = new StartTimes();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauseReason: string | undefined;
  #day = { starts: 0, ends: Number.POSITIVE_INFINITY, isShort: false };
  // Exchanges.
  #exchanging: Promise<void> | undefined;
  #last: Reading | undefined;
  /** How long it lately took from a reading to its grant. */
  #swapMs = 0;
  #failure: { readonly error: Error; readonly until: number } | undefined;
  #timer: { readonly at: number; readonly over: AbortController } | undefined;

  constructor(settings: SharedLimiterSettings) {
    this.#settings = settings;
    this.memory = settings.memory;
    this.#ceiling = newCeiling(settings.maxConcurrency);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  run<T>(task: () => Promise<T>, priority = 0, signal?: AbortSignal): Promise<T> {
    const begun = async () => {
      if (this.#refusal !== undefined) throw this.#refusal;
      this.#queue.pause();
      this.#inFlight += 1;
      this.#starts.use(this.#queue.size > 0 && this.#inFlight < this.#permits);
      this.#told.started += 1;
      this.#day.starts -= 1;
      try {
        return await task();
      } finally {
        this.#inFlight -= 1;
        this.#look();
      }
    };
    const result = this.#queue.add(begun, signal === undefined ? { priority } : { priority, signal });
    if (signal !== undefined) result.catch(() => this.#look());
    this.#look();
    return result as Promise<T>;
  }

  pause(ms: number, reason: string): void {
    this.#hold(this.#now() + ms, reason);
    this.#told.pause = { ms: Math.max(ms, this.#told.pause?.ms ?? 0), reason };
    this.#look();
  }

  observe(outcome: Outcome): void {
    if (outcome.limited) this.#limited += 1;
    this.#told.outcomes.push(outcome);
  }

  get state(): LimiterState {
    const { maxConcurrency, clock } = this.#settings;
    const leftMs = this.#pausedUntil - this.#now();
    const paused = leftMs > 0;
    const waiting = this.#queue.size;
    const limitedBy = (): LimiterState["limitedBy"] => {
      if (paused) return "429";
      if (waiting === 0) return "latency";
      if (this.#inFlight < this.#permits) return "ceiling";
      if (this.#ceiling.cause === "429") return "429";
      return this.#ceiling.cause === "slow" ? "latency" : "in flight";
    };
    return {
      inFlight: this.#inFlight,
      ceiling: this.#ceiling.allowed,
      maximum: maxConcurrency,
      waiting,
      pausedUntil: paused ? clock.now() + leftMs : undefined,
      pauseReason: paused ? this.#pauseReason : undefined,
      limitedBy: limitedBy(),
      limited: this.#limited,
    };
  }

  async close(): Promise<void> {
    this.#end(new Error("the limiter was closed"));
    await this.#exchanging;
    if (this.#isLeased && !this.#lost.signal.aborted) await this.#exchange();
  }

  #now(): number {
    return this.#settings.uptime();
  }

  get #demand(): number {
    return this.#inFlight + this.#queue.size;
  }

  /** Starts what may start, and sees to what has to be done next. */
  #look(): void {
    if (this.#isOver) return;
    const now = this.#now();
    this.#starts.drop(now, this.#pausedUntil, this.#inFlight >= this.#permits);
    while (this.#queue.size > 0 && this.#mayStart(now)) if (!this.#startNext()) break;
    if (this.#demand === 0) {
      if (!this.#isLeased) this.#leaseEnds = Number.POSITIVE_INFINITY;
    } else this.#leaseEnds = Math.min(this.#leaseEnds, now + LEASE_MS - MARGIN_MS);
    if (this.#demand > 0 && now >= this.#leaseEnds) return this.#lose(this.#failure?.error);
    const due = this.#exchangeAt(now);
    if (due <= now)
      this.#exchanging = this.#exchange().finally(() => {
        this.#exchanging = undefined;
        this.#look();
      });
    this.#wakeAt(Math.min(due <= now ? Number.POSITIVE_INFINITY : due, this.#nextChange(now)));
  }

  /** When something ends or begins without an exchange. */
  #nextChange(now: number): number {
    if (this.#demand === 0) return Number.POSITIVE_INFINITY;
    if (this.#queue.size === 0) return this.#leaseEnds;
    if (this.#pausedUntil > now) return Math.min(this.#pausedUntil, this.#leaseEnds);
    return Math.min(
      this.#starts.nextChange(now),
      this.#leaseEnds,
      this.#day.ends > now ? this.#day.ends : this.#leaseEnds,
    );
  }

  #mayStart(now: number): boolean {
    const { requestsPerSecond, requestsPerDay } = this.#settings;
    if (this.#inFlight >= this.#permits || now >= this.#leaseEnds || now < this.#pausedUntil) return false;
    if (requestsPerDay !== undefined && (this.#day.starts <= 0 || now >= this.#day.ends)) return false;
    return requestsPerSecond === undefined || this.#starts.isDue(now);
  }

  #startNext(): boolean {
    const before = this.#told.started;
    this.#queue.start().pause();
    return this.#told.started > before;
  }

  /** When the next exchange is due. */
  #exchangeAt(now: number): number {
    const waiting = this.#queue.size;
    const { pause, outcomes } = this.#told;
    if (this.#exchanging !== undefined || (this.#demand === 0 && !this.#isLeased && pause === undefined))
      return Number.POSITIVE_INFINITY;
    if (this.#failure !== undefined) return this.#failure.until;
    if (pause !== undefined || this.#last === undefined || (this.#demand > 0 && !this.#isLeased)) return now;
    const { received } = this.#last;
    const polled = received + POLL_MS;
    if (this.#demand === 0) return polled;
    const due = [received + RENEWAL_MS];
    // More is held than the share: others wait for what has ended.
    if (this.#holds > this.#permits && this.#inFlight < this.#holds) due.push(received + QUICK_POLL_MS);
    if (waiting > 0 && now >= this.#pausedUntil) {
      if (this.#inFlight >= this.#permits) {
        const isUnasked = this.#permits >= this.#asked && this.#demand > this.#asked;
        const mayRise = outcomes.length > 0 && this.#ceiling.allowed < this.#settings.maxConcurrency;
        due.push(isUnasked ? now : mayRise ? received + QUICK_POLL_MS : polled);
      } else if (this.#needsDay(now)) due.push(this.#day.isShort ? polled : now);
      const free = this.#permits - this.#inFlight;
      const isPaced = this.#settings.requestsPerSecond !== undefined && this.#permits > 0;
      if (isPaced && this.#starts.isRunningOut(now, waiting, free)) due.push(now);
    }
    return Math.min(...due);
  }

  #needsDay(now: number): boolean {
    return this.#settings.requestsPerDay !== undefined && (this.#day.starts <= 0 || now >= this.#day.ends);
  }

  #wakeAt(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at && at < Number.POSITIVE_INFINITY) return;
    this.#timer?.over.abort();
    this.#timer = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const timer = { at, over: new AbortController() };
    this.#timer = timer;
    this.#settings.clock.sleep(Math.max(0, Math.ceil(at - this.#now())), timer.over.signal).then(
      () => {
        this.#timer = undefined;
        this.#look();
      },
      () => undefined,
    );
  }

  /** One exchange at a time; what fails is tried again, until the lease ends. */
  async #exchange(): Promise<void> {
    try {
      while (!(await this.#attempt()));
      this.#failure = undefined;
    } catch (error) {
      if (!(error instanceof DestinationError)) this.#lose(error);
      else this.#failure = { error, until: this.#now() + RETRY_MS };
      // The lease that nobody needs any more ends by itself.
      if (this.#demand > 0) return;
      this.#forget();
      this.#told.pause = undefined;
    }
  }

  async #attempt(): Promise<boolean> {
    const { store } = this.#settings;
    let sent = this.#now();
    const { now, version, state } = await store.read(() => {
      sent = this.#now();
    });
    const received = this.#now();
    const reading = { sent, received };
    const request = this.#request();
    const before = version === undefined ? undefined : budgetState.parse(state);
    const after = grant(before, request, this.#settings, now);
    const isStored = await store.swap(version, after.state);
    this.#swapMs = Math.max(this.#now() - received, this.#swapMs * SWAP_DECAY);
    if (!isStored) return false;
    if (!this.#lost.signal.aborted) this.#take(request, after.grant, reading);
    return true;
  }

  #request(): BudgetRequest {
    const { started, outcomes, pause } = this.#told;
    const waiting = this.#isOver ? 0 : this.#queue.size;
    // Until the grant is there no more may start than the others are told of.
    this.#permits = Math.min(this.#permits, this.#inFlight + waiting);
    return {
      worker: this.#settings.worker,
      inFlight: this.#inFlight,
      waiting,
      holds: Math.max(this.#inFlight, this.#permits),
      ...this.#starts.wanted,
      leadMs: Math.min(this.#swapMs, LONGEST_LEAD_MS),
      started,
      outcomes: [...outcomes],
      pause,
    };
  }

  #take(request: BudgetRequest, granted: Grant, reading: Reading): void {
    const { sent, received } = reading;
    if (granted.isNew && this.#isLeased) {
      if (this.#inFlight > 0) return this.#lose(undefined);
      this.#forget();
    }
    this.#last = reading;
    this.#told.outcomes.splice(0, request.outcomes.length);
    this.#told.started -= request.started;
    if (this.#told.pause === request.pause) this.#told.pause = undefined;
    this.#asked = request.inFlight + request.waiting;
    this.#isLeased = this.#asked > 0;
    this.#leaseEnds = sent + LEASE_MS - MARGIN_MS;
    this.#ceiling = granted.ceiling;
    this.#permits = granted.permits;
    this.#holds = Math.max(request.holds, granted.permits);
    if (granted.pause !== undefined) this.#hold(received + granted.pause.ms, granted.pause.reason);
    this.#starts.add(granted.delays, reading);
    if (granted.day === undefined) return;
    const { starts, endsMs, isSpent } = granted.day;
    const left = this.#now() >= this.#day.ends ? 0 : Math.max(0, this.#day.starts);
    this.#day = { starts: left + starts, ends: sent + endsMs, isShort: starts === 0 };
    if (isSpent) this.#refuse();
  }

  #hold(until: number, reason: string): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
    this.#pauseReason = reason;
  }

  #forget(): void {
    this.#isLeased = false;
    this.#permits = 0;
    this.#starts.clear();
    this.#day.starts = 0;
  }

  /** Those that wait, not those that come later. */
  #refuse(): void {
    const { requestsPerDay } = this.#settings;
    this.#refusal = new BudgetSpentError(
      `as many requests were sent today as api.requests_per_day allows (${requestsPerDay}, a UTC day, of all workers together)`,
    );
    this.#queue.start().pause();
    this.#refusal = undefined;
  }

  #lose(cause: unknown): void {
    if (this.#isOver) return;
    const error = new DestinationError(sourceMessages.lost_lease({ within_ms: LEASE_MS - MARGIN_MS }), cause, true);
    this.#end(error);
    this.#lost.abort(error);
  }

  #end(reason: Error): void {
    this.#isOver = true;
    this.#refusal = reason;
    this.#queue.start();
    this.#timer?.over.abort();
    this.#timer = undefined;
  }
}
