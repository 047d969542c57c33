import { hostname } from "node:os";
import { ByteBudget } from "../byte_budget.ts";
import { type Clock, isWithin } from "../clock.ts";
import { ConfigError, DestinationError, StoppedError, TributaryError } from "../errors.ts";
import type { Message } from "../message.ts";
import { redactMessage } from "../secrets.ts";
import { messageFor, type RunView } from "../sync/run/report.ts";
import type { Attempt, RunTools } from "../sync/run/run_order.ts";
import { createSharedClients } from "../sync/run/service.ts";
import type { CompanyOutcome } from "../sync/run/streams.ts";
import { looking } from "../warehouse/connect/reading.ts";
import { compareIdentity } from "../warehouse/state/identity.ts";
import { type JobTools, PostponedError, workOnCompanyJob } from "./company_job.ts";
import { openStops, stopFor } from "./conducting.ts";
import { type CompanyData, companyData, type RunData, runData } from "./job_data.ts";
import { workersMessages } from "./messages.ts";
import { LEAST_OF_DUE } from "./priority.ts";
import { type Claim, HEARTBEAT_S } from "./queue.ts";
import { type RunOutput, workOnRunJob } from "./run_job.ts";
import { seenOf, type WorkerDoing, type WorkerRow } from "./worker_row.ts";

export interface WorkerTools
  extends Pick<RunTools, "clock" | "random" | "log" | "redact">,
    Pick<JobTools, "queue" | "config" | "defaults"> {
  readonly id: string;
  /** Writes the worker's row. Answers whether it is asked to leave when it is done with what it has, and the server's clock, in ms since the epoch. */
  readonly beat: (row: WorkerRow) => Promise<{ readonly draining: boolean; readonly now: number }>;
}

interface Active {
  readonly claim: Claim;
  readonly data: RunData | CompanyData;
  readonly since: string;
  /** Ends the work at its next safe point, as somebody wants it. */
  readonly ending: AbortController;
  /** The same, but others go on with it. */
  readonly leaving: AbortController;
  view: RunView | undefined;
  done: Promise<void>;
}

const TICK_MS = 500;
const BEAT_MS = 2_000;
/** A machine whose clock differs more than this from the server's has its jobs go by the server's. */
const WRONG_MS = 30_000;
/** How long a worker that is not fit for the warehouse waits before it looks again. */
const REFUSED_MS = 30_000;
/** Companies that it works on at once: one takes a fifth of a processor where its key allows 150 requests a second. */
export const COMPANIES = 4;
/** Runs that it conducts at once: a conductor mostly waits. */
const RUNS = 8;

/** Takes jobs from the queue and works on them, until it is told to leave. */
export class Worker {
  readonly #tools: WorkerTools;
  readonly #active = new Map<string, Active>();
  #refusal: string | undefined;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #draining = false;
  /** When the queue last knew of this worker's jobs, by its own clock. */
  #heardAt: number;
  #beatAt = Number.NEGATIVE_INFINITY;
  #isLost = false;
  #rest = new AbortController();
  /** What all jobs of this process have together. */
  readonly #memory: ByteBudget;
  /** From this machine's clock to the server's. */
  #offset = 0;
  /** What runs are recorded by: several machines work on one, and their clocks may differ. */
  readonly #clock: Clock;

  constructor(tools: WorkerTools) {
    this.#tools = tools;
    this.#memory = new ByteBudget(tools.config.api.memoryBytes);
    this.#heardAt = tools.clock.now();
    const { clock } = tools;
    this.#clock = { now: () => clock.now() + this.#offset, sleep: (ms, signal) => clock.sleep(ms, signal) };
  }

  /** Why it takes no jobs; undefined: it does. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Whether the queue has heard of it within the heartbeat: if not, its jobs may be others' by now. */
  get isConnected(): boolean {
    return isWithin(this.#tools.clock, this.#heardAt, HEARTBEAT_S * 1_000);
  }

  /** Whether it leaves once it is done with what it has. */
  get isDraining(): boolean {
    return this.#draining;
  }

  get doing(): WorkerDoing {
    const jobs = [...this.#active.values()].map(({ claim, data, since, view }) => ({
      ...{ kind: claim.kind, runId: data.runId, since },
      ...("company" in data ? { company: data.company } : {}),
      ...seenOf(view),
    }));
    return { ...(this.#refusal === undefined ? {} : { refusal: this.#refusal }), jobs };
  }

  /** Works until the signal, which gives back what is under way, or until it was asked to leave and is done with what it had. */
  async serve(signal: AbortSignal): Promise<void> {
    const { clock } = this.#tools;
    signal.addEventListener("abort", () => this.#rest.abort(), { once: true });
    while (!signal.aborted && !(this.#draining && this.#free() === COMPANIES)) {
      await this.#look().catch(error => this.#lost(error));
      const { signal: woken } = this.#rest;
      await clock.sleep(TICK_MS, woken).catch(() => undefined);
      if (woken.aborted) this.#rest = new AbortController();
    }
    // What is left when it was asked to leave waits for other workers, who may be leaving too.
    const reason = signal.reason ?? new StoppedError(workersMessages.leaving(), 143);
    for (const { leaving } of this.#active.values()) leaving.abort(reason);
    await Promise.all([...this.#active.values()].map(({ done }) => done));
  }

  async #look(): Promise<void> {
    const { clock } = this.#tools;
    // Also when the clock was set back: a worker that says nothing loses its jobs.
    if (!isWithin(clock, this.#beatAt, BEAT_MS)) await this.#beat();
    if (this.#draining) return;
    await this.#lookAtWarehouse();
    if (this.#refusal !== undefined) return;
    // One at a look, so that other workers get theirs.
    await this.#take();
  }

  #free(): number {
    const busy = [...this.#active.values()].filter(({ claim }) => claim.kind === "companies");
    return COMPANIES - busy.length;
  }

  async #take(): Promise<void> {
    const { queue } = this.#tools;
    const runs = [...this.#active.values()].filter(({ claim }) => claim.kind === "runs");
    const run = runs.length < RUNS ? await queue.take("runs") : undefined;
    const free = this.#free();
    const least = free === 1 ? LEAST_OF_DUE : undefined;
    const claim = run ?? (free === 0 ? undefined : await queue.take("companies", least));
    if (claim === undefined) return;
    const data = readData(claim);
    if (data === undefined) {
      this.#refuse(new ConfigError(workersMessages.unknown_job()));
      await queue.giveBack(claim, "unknown to this version");
      return;
    }
    const active: Active = {
      ...{ claim, data, since: new Date(this.#clock.now()).toISOString() },
      ...{ ending: new AbortController(), leaving: new AbortController() },
      ...{ view: undefined, done: Promise.resolve() },
    };
    this.#active.set(claim.id, active);
    active.done = this.#work(active).finally(() => {
      this.#active.delete(claim.id);
      this.#rest.abort();
    });
  }

  /** Says what it does, and hears what others have decided of that. */
  async #beat(): Promise<void> {
    const { queue, clock, beat, id, defaults } = this.#tools;
    const begun = clock.now();
    const active = [...this.#active.values()];
    for (const kind of ["runs", "companies"] as const) {
      const claims = active.filter(({ claim }) => claim.kind === kind).map(({ claim }) => claim);
      const own = await queue.touch(kind, claims);
      for (const each of active)
        if (each.claim.kind === kind && !own.has(each.claim.id) && this.#active.has(each.claim.id))
          each.leaving.abort(new DestinationError(workersMessages.job_taken(), undefined, true));
    }
    if (active.length > 0) {
      const stops = await openStops(queue);
      for (const { data, ending } of active) {
        const stop = stopFor(stops, data.runId);
        if (stop !== undefined) ending.abort(stop);
      }
    }
    const row = {
      id,
      host: hostname(),
      pid: process.pid,
      version: defaults.version,
      draining: this.#draining,
      isStopped: false,
      doing: this.doing,
    };
    const { draining, now } = await beat(row);
    this.#draining ||= draining;
    const offset = now - (begun + clock.now()) / 2;
    if (Math.abs(offset - this.#offset) > WRONG_MS) this.#offset = Math.abs(offset) > WRONG_MS ? offset : 0;
    this.#beatAt = begun;
    this.#heardAt = begun;
    if (this.#isLost) this.#tools.log.info(workersMessages.queue_back());
    this.#isLost = false;
  }

  /** Who is silent for too long has lost its jobs to others by then. */
  #lost(error: unknown): void {
    const { log, redact } = this.#tools;
    if (!this.#isLost)
      log.warn(workersMessages.queue_unreachable({ reason: redact(messageFor(error).message) }), { err: error });
    this.#isLost = true;
    if (this.isConnected) return;
    for (const { leaving } of this.#active.values())
      leaving.abort(new DestinationError(workersMessages.queue_lost(), error, true));
  }

  /** A worker that is older than what wrote the warehouse does not know all of it. */
  async #lookAtWarehouse(): Promise<void> {
    const { config, clock, defaults } = this.#tools;
    if (isWithin(clock, this.#refusedAt, REFUSED_MS)) return;
    this.#refusedAt = clock.now();
    const { destination } = config;
    const identity = { schema: destination.schema, program: defaults.version, companies: [] };
    try {
      await looking(destination, ({ db }) => compareIdentity(db, identity));
      this.#refusal = undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#refuse(error);
    }
  }

  #refuse(error: ConfigError): void {
    const message = this.#tools.redact(error.message);
    if (message !== this.#refusal) this.#tools.log.warn(workersMessages.takes_no_jobs({ reason: message }));
    this.#refusal = message;
    this.#refusedAt = this.#tools.clock.now();
  }

  async #work(active: Active): Promise<void> {
    const { queue, log, redact } = this.#tools;
    const { claim, data } = active;
    const about = "company" in data ? { run: data.runId, company: data.company } : { run: data.runId };
    log.debug("begins", about);
    let end = () => queue.giveBack(claim, "the worker left");
    try {
      const output = "company" in data ? await this.#workOnCompany(active, data) : await this.#conduct(active, data);
      if (!active.leaving.signal.aborted) end = () => queue.complete(claim, output);
      log.debug("done", about);
    } catch (error) {
      const message = redactMessage(messageFor(error), redact);
      log.debug("where it failed", { ...about, err: error });
      if (error instanceof ConfigError) this.#refuse(error);
      const isPostponed = error instanceof PostponedError;
      const isLeft = active.leaving.signal.aborted;
      end = () => queue.giveBack(claim, message.message, isPostponed ? error.blockedSince : undefined);
      // Another try would meet the same: it has to be told, and mended.
      if (!(error instanceof TributaryError || isPostponed) && "company" in data && !isLeft)
        end = () => queue.complete(claim, failureOf(message));
      else if (!isLeft && !isPostponed) log.warn(workersMessages.retried({ reason: message.message }), about);
    }
    await this.#settle(end).catch(error =>
      log.debug("the queue does not know how this job ended: it is tried again", { ...about, err: error }),
    );
  }

  /** Tells the queue how a job ended, for as long as it may think that this worker has it. */
  async #settle(tell: () => Promise<void>): Promise<void> {
    const { clock } = this.#tools;
    const until = clock.now() + HEARTBEAT_S * 1_000;
    for (;;)
      try {
        return await tell();
      } catch (error) {
        if (!(error instanceof DestinationError) || clock.now() >= until) throw error;
        await clock.sleep(TICK_MS);
      }
  }

  #workOnCompany(active: Active, data: CompanyData): Promise<CompanyOutcome> {
    const signal = AbortSignal.any([active.ending.signal, active.leaving.signal]);
    return workOnCompanyJob(data, this.#attempt(), this.#jobTools(active, signal));
  }

  #conduct(active: Active, data: RunData): Promise<RunOutput> {
    const { ending, leaving } = active;
    const attempt = (end: Attempt["end"]) => this.#attempt(end);
    return workOnRunJob(data, { ...this.#jobTools(active, ending.signal), attempt, leaving: leaving.signal });
  }

  #jobTools(active: Active, signal: AbortSignal): JobTools {
    const { queue, config, defaults } = this.#tools;
    return { queue, config, defaults, run: this.#runTools(active, signal), claim: active.claim };
  }

  #runTools(active: Active, signal: AbortSignal): RunTools {
    const { random, log, redact } = this.#tools;
    return {
      ...{ clock: this.#clock, random, log, redact, signal },
      watch: view => {
        active.view = view;
      },
    };
  }

  #attempt(end: Attempt["end"] = () => undefined): Attempt {
    return {
      sharedClients: createSharedClients(this.#tools.config.api, this.#clock, this.#memory),
      start: () => undefined,
      begin: async () => undefined,
      isDone: () => false,
      end,
    };
  }
}

/** Undefined for what a worker of another version has put there. */
function readData({ kind, data }: Claim): RunData | CompanyData | undefined {
  try {
    return kind === "runs" ? runData.parse(data) : companyData.parse(data);
  } catch {
    return undefined;
  }
}

/** What a company's job came to that met a bug: the run reports it. */
const failureOf = (message: Message): CompanyOutcome => ({
  warnings: [],
  streams: [],
  failures: [{ ...message, exitCode: 70, ends: "company" }],
});
