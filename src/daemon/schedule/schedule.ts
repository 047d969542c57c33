import { type Clock, withTimeLimit } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { StoppedError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { detailsOfRows, type NamedRows } from "../../operations/refresh.ts";
import { redactMessage } from "../../secrets.ts";
import { exitCodeOf, messageFor, type RunView } from "../../sync/run/report.ts";
import type { RunReport } from "../../sync/run/run.ts";
import type { RunDefaults, RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { Daemon, DaemonEvent, FinishedRun, LiveRun } from "./events.ts";
import { scheduleMessages } from "./messages.ts";
import { hintedStreams, orderOf, type Turn } from "./order.ts";
import type { Past } from "./past_runs.ts";
import { Plan } from "./plan.ts";
import { catchUp } from "./plan_missed_runs.ts";
import { RunningTurn } from "./running_turn.ts";
import type { ConfigSource } from "./source.ts";

export interface DaemonTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly redact: (text: string) => string;
  readonly run: (order: RunOrder, tools: RunTools, turn: Turn) => Promise<RunReport>;
  /** What earlier daemons ran; undefined for a warehouse that was never loaded. */
  readonly past: (config: Config) => Promise<Past | undefined>;
  readonly source: ConfigSource;
  readonly defaults: RunDefaults;
  /** The longest it sleeps without a look at the clock and the configuration. Default: 5 seconds. */
  readonly wakeMs?: number;
}

/** How late a busy machine may notice an occurrence; later than that counts as missed. */
const BUSY_MS = 60_000;
/** How long a stopped run may take to save, of the ten seconds that a stop may last. */
const GRACE_MS = 9_000;

/** Runs the schedules of a valid configuration, one run at a time. Nothing happens before `serve`. */
export class ScheduleDaemon implements Daemon {
  readonly startedAt: string;
  readonly #tools: DaemonTools & { readonly wakeMs: number };
  readonly #plan: Plan;
  readonly #listeners = new Set<(event: DaemonEvent) => void>();
  /** Schedules whose last run by an earlier daemon is not known yet. */
  readonly #unread: Set<string>;
  #config: Config;
  #running: RunningTurn | undefined;
  #last: FinishedRun | undefined;
  #refusal: ReturnType<Daemon["refusal"]>;
  #reloadAsked = false;
  #stopped = false;
  #rest = new AbortController();

  constructor(config: Config, tools: DaemonTools) {
    this.#tools = { wakeMs: 5_000, ...tools };
    this.#config = config;
    this.startedAt = this.#now();
    this.#plan = new Plan(tools.clock.now(), this.#tools.wakeMs + BUSY_MS);
    this.#replan();
    this.#unread = new Set(config.schedules.map(schedule => schedule.name));
  }

  config(): Config {
    return this.#config;
  }

  nextRuns(): ReturnType<Daemon["nextRuns"]> {
    return this.#plan
      .upcoming()
      .map(({ schedule, at, cause }) => ({ schedule, at: new Date(at).toISOString(), cause }));
  }

  live(): LiveRun | undefined {
    return this.#running?.live();
  }

  last(): FinishedRun | undefined {
    return this.#last;
  }

  refusal(): ReturnType<Daemon["refusal"]> {
    return this.#refusal;
  }

  hint(): boolean {
    const planned = !this.#stopped && this.#plan.hint(this.#tools.clock.now());
    if (planned) this.#wake();
    return planned;
  }

  refresh(rows: NamedRows): string | undefined {
    const { clock, defaults } = this.#tools;
    detailsOfRows(defaults.catalogue, this.#config, rows);
    if (this.#stopped) return "tributary is ending.";
    if (!this.#plan.refresh(rows, clock.now())) return "Too many rows wait already.";
    this.#wake();
    return undefined;
  }

  listen(listener: (event: DaemonEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Looks at the configuration again now, whether its file changed or not. */
  reload(): void {
    this.#reloadAsked = true;
    this.#wake();
  }

  /** Runs by the clock until the signal, whose reason the run under way is stopped with; false if that one had to be left behind. */
  async serve(signal: AbortSignal): Promise<boolean> {
    const end = () => {
      this.#stopped = true;
      this.#wake();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const past = () => this.#tools.past(this.#config);
    const planned = () => this.#wake();
    catchUp({ ...this.#tools, plan: this.#plan, past, unread: this.#unread, planned }, signal).catch(this.#bug);
    while (!this.#stopped) {
      await this.#look().catch(this.#bug);
      await this.#pause();
    }
    for (const rows of this.#plan.unrefreshed()) this.#giveUp(rows);
    return this.#stop(signal.reason);
  }

  #now(): string {
    return new Date(this.#tools.clock.now()).toISOString();
  }

  #replan(): void {
    const hinted = hintedStreams(this.#config, this.#tools.defaults.catalogue);
    this.#plan.replace(this.#config, hinted, this.#tools.clock.now());
  }

  #tell(event: DaemonEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#bug(error);
      }
    }
  }

  #wake(): void {
    this.#rest.abort();
  }

  /** An unexpected failure is logged: it must not end the daemon. */
  readonly #bug = (error: unknown): void => {
    this.#tools.log.warn(redactMessage(messageFor(error), this.#tools.redact), { err: error });
  };

  /** Sleeps until the next start, at most `wakeMs`, or until something happens. */
  async #pause(): Promise<void> {
    const { clock, wakeMs } = this.#tools;
    const { signal } = this.#rest;
    const next = this.#running === undefined ? this.#plan.upcoming()[0]?.at : undefined;
    const ms = Math.max(1, Math.min(wakeMs, (next ?? Number.POSITIVE_INFINITY) - clock.now()));
    try {
      await clock.sleep(ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted && !this.#stopped) this.#rest = new AbortController();
  }

  async #look(): Promise<void> {
    await this.#lookAtConfig();
    if (this.#stopped) return;
    const now = this.#tools.clock.now();
    if (this.#running !== undefined) return this.#plan.look(now);
    const turn = this.#plan.take(now);
    if (turn === undefined) return;
    this.#unread.delete(turn.schedule);
    const current = new RunningTurn(turn, this.#tools);
    this.#running = current;
    this.#tell({ kind: "started", run: current.live() });
    current.done = this.#run(current)
      .then(outcome => this.#conclude(current, outcome))
      .catch(this.#bug);
  }

  async #lookAtConfig(): Promise<void> {
    const { source, log, redact } = this.#tools;
    const changed = await source.changed();
    if (!changed && !this.#reloadAsked) return;
    this.#reloadAsked = false;
    try {
      const loaded = await source.load();
      this.#config = loaded.config;
      this.#replan();
      this.#refusal = undefined;
      this.#tell({ kind: "reloaded", changed: loaded.changed });
    } catch (error) {
      log.debug("where the configuration was refused", { err: error });
      this.#refusal = { error: redactMessage(messageFor(error), redact), at: this.#now() };
      this.#tell({ kind: "refused", error: this.#refusal.error });
    }
  }

  async #run(current: RunningTurn): Promise<FinishedRun["outcome"]> {
    const { clock, random, log, redact, run, defaults } = this.#tools;
    try {
      const tools = {
        ...{ clock, random, log, redact, signal: current.ending.signal },
        waits: (what: string) => {
          current.waits = what;
        },
        watch: (view: RunView) => current.began(view),
      };
      return await run(orderOf(current.turn, this.#config, defaults), tools, current.turn);
    } catch (error) {
      log.debug("where the run failed", { schedule: current.turn.schedule, err: error });
      return { exit_code: exitCodeOf([error]), error: redactMessage(messageFor(error), redact) };
    }
  }

  #giveUp({ list, keys }: NamedRows): void {
    this.#tools.log.warn(scheduleMessages.rows_not_refreshed({ list, rows: keys.length }), { list, keys });
  }

  #conclude(current: RunningTurn, outcome: FinishedRun["outcome"]): void {
    this.#running = undefined;
    current.ended();
    const at = this.#plan.ended(current.turn, outcome, this.#tools.clock.now());
    const { rows } = current.turn;
    if (rows !== undefined && outcome.exit_code !== 0 && at === undefined) this.#giveUp(rows);
    const retryAt = at === undefined ? undefined : new Date(at).toISOString();
    this.#last = { kind: "finished", run: current.live(), finishedAt: this.#now(), outcome, retryAt };
    this.#tell(this.#last);
    this.#wake();
  }

  /** Stops the run under way; whether it saved and ended in time. */
  async #stop(reason: unknown): Promise<boolean> {
    if (this.#running === undefined) return true;
    const { done, ending } = this.#running;
    ending.abort(reason instanceof StoppedError ? reason : new StoppedError(scheduleMessages.stopped(), 143));
    const ended = done.then(() => true);
    return withTimeLimit(this.#tools.clock, GRACE_MS, ended, false);
  }
}
