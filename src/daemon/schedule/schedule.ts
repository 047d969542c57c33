import type { Clock } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { timespan } from "../../duration.ts";
import { StoppedError } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import { exitCodeOf, messageOf, type RunView } from "../../sync/run/report.ts";
import type { RunReport } from "../../sync/run/run.ts";
import type { RunOrder, RunTools } from "../../sync/run/run_order.ts";
import type { Daemon, DaemonEvent, LiveRun } from "./events.ts";
import { hintedStreams, orderOf, type RunDefaults } from "./order.ts";
import type { Past } from "./past_runs.ts";
import { createPlan, type Intentions } from "./plan.ts";
import { catchUp } from "./plan_missed_runs.ts";
import type { ConfigSource } from "./source.ts";
import type { Turn } from "./turn.ts";

/** What the daemon is given. */
export interface DaemonTools {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly redact: (text: string) => string;
  /** Makes a run; what is to follow in it is bound by the caller. */
  readonly run: (order: RunOrder, tools: Omit<RunTools, "renewExports">) => Promise<RunReport>;
  /** What earlier daemons ran; undefined for a warehouse that was never loaded. */
  readonly past: (config: Config) => Promise<Past | undefined>;
  readonly source: ConfigSource;
  readonly defaults: RunDefaults;
  /** The longest it sleeps without a look at the clock and the configuration. Default: 5 seconds. */
  readonly wakeMs?: number;
  /** How long a stopped run may take to save. Default: 9 seconds, of the 10 that a stop may last. */
  readonly graceMs?: number;
}

/** The daemon, as the command line handles it. */
export interface ScheduleDaemon extends Daemon {
  /** The configuration of the runs to come. */
  config(): Config;
  /** Looks at the configuration again now, whether its file changed or not. */
  reload(): void;
  /** Runs by the clock until the signal, whose reason the run under way is stopped with; false if that one had to be left behind. */
  serve(signal: AbortSignal): Promise<boolean>;
}

type Finished = Extract<DaemonEvent, { kind: "finished" }>;

/** A turn that is being run. */
interface Performance {
  readonly turn: Turn;
  readonly startedAt: string;
  readonly ending: AbortController;
  /** Aborted when the run is over, or is given its time anew. */
  timing: AbortController;
  view: RunView | undefined;
  waits: string | undefined;
  overdueSince: string | undefined;
  done: Promise<void>;
}

/** How late an occurrence is noticed by a machine that was awake and busy. */
const BUSY_MS = 60_000;
/** What a run may take, once its max_time is over, to the next safe point: the publish of a large list takes minutes. */
const STOPPING_MS = 10 * 60_000;

/** A daemon over a configuration that has been found good. Nothing happens before `serve`. */
export function createDaemon(first: Config, tools: DaemonTools): ScheduleDaemon {
  const { clock, log, redact, source, defaults, wakeMs = 5_000, graceMs = 9_000 } = tools;
  const startedAt = moment();
  let config = first;
  const plan = createPlan(intentions(), clock.now(), { random: tools.random, lateMs: wakeMs + BUSY_MS });
  const listeners = new Set<(event: DaemonEvent) => void>();
  /** Schedules whose last run by an earlier daemon is not known yet. */
  const unread = new Set(config.schedules.map(schedule => schedule.name));
  let performance: Performance | undefined;
  let last: Finished | undefined;
  let refusal: ReturnType<Daemon["refusal"]>;
  let reloadAsked = false;
  let stopped = false;
  let rest = new AbortController();

  function moment(): string {
    return new Date(clock.now()).toISOString();
  }

  function intentions(): Intentions {
    const { schedules, hooks } = config;
    return { schedules, hooks, hinted: hintedStreams(config, defaults.catalogue) };
  }

  function tell(event: DaemonEvent): void {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        bug(error);
      }
    }
  }

  const wake = (): void => rest.abort();

  /** Nothing that goes wrong here is worth the runs to come. */
  function bug(error: unknown): void {
    log.warn({ err: error }, redact(messageOf(error)));
  }

  /** Sleeps until the next start, at most `wakeMs`, or until something happens. */
  async function pause(): Promise<void> {
    const next = performance === undefined ? plan.upcoming()[0]?.at : undefined;
    const ms = Math.max(1, Math.min(wakeMs, (next ?? Number.POSITIVE_INFINITY) - clock.now()));
    try {
      await clock.sleep(ms, rest.signal);
    } catch (error) {
      if (!rest.signal.aborted) throw error;
    }
    if (rest.signal.aborted && !stopped) rest = new AbortController();
  }

  /** One look at the configuration, the clock and the plan. */
  async function look(): Promise<void> {
    await lookAtConfig();
    if (stopped) return;
    const now = clock.now();
    if (performance !== undefined) return plan.look(now);
    const turn = plan.take(now);
    if (turn !== undefined) begin(turn);
  }

  async function lookAtConfig(): Promise<void> {
    const changed = await source.changed();
    if (!changed && !reloadAsked) return;
    reloadAsked = false;
    try {
      const { config: next, changed: keys } = await source.load();
      config = next;
      plan.replace(intentions(), clock.now());
      refusal = undefined;
      tell({ kind: "reloaded", changed: keys });
    } catch (error) {
      log.debug({ err: error }, "where the configuration was refused");
      refusal = { error: redact(messageOf(error)), at: moment() };
      tell({ kind: "refused", error: refusal.error });
    }
  }

  function liveRun({ turn, startedAt: since, view, waits, overdueSince }: Performance): LiveRun {
    return { schedule: turn.schedule, cause: turn.cause, startedAt: since, view, waits, overdueSince };
  }

  /** Watches from outside that a run ends by its max_time, which begins after a wait of at most `waitMs`. */
  function time(current: Performance, waitMs: number): void {
    const { schedule, maxTimeMs } = current.turn;
    current.timing.abort();
    current.overdueSince = undefined;
    if (maxTimeMs === undefined) return;
    current.timing = new AbortController();
    const late = () => {
      current.overdueSince = moment();
      const text = `${schedule}: expected the run to have ended by its max_time, but ${timespan(STOPPING_MS)} later it still goes on, and no other one starts before it ends. Restart the daemon: nothing is lost, and the next run goes on from there.`;
      log.warn({ schedule, started_at: current.startedAt }, text);
    };
    clock.sleep(waitMs + maxTimeMs + STOPPING_MS, current.timing.signal).then(late, () => undefined);
  }

  function begin(turn: Turn): void {
    unread.delete(turn.schedule);
    const current: Performance = {
      ...{ turn, startedAt: moment(), ending: new AbortController(), timing: new AbortController() },
      ...{ view: undefined, waits: undefined, overdueSince: undefined, done: Promise.resolve() },
    };
    performance = current;
    time(current, turn.waitMs);
    tell({ kind: "started", run: liveRun(current) });
    current.done = perform(current)
      .then(outcome => conclude(current, outcome))
      .catch(bug);
  }

  async function perform(current: Performance): Promise<Finished["outcome"]> {
    try {
      return await tools.run(orderOf(current.turn, config, defaults), {
        clock,
        random: tools.random,
        log,
        redact,
        signal: current.ending.signal,
        waits: what => {
          current.waits = what;
        },
        watch: view => {
          current.view = view;
          time(current, 0);
        },
      });
    } catch (error) {
      log.debug({ schedule: current.turn.schedule, err: error }, "where the run failed");
      return { exit_code: exitCodeOf([error]), error: redact(messageOf(error)) };
    }
  }

  function conclude(current: Performance, outcome: Finished["outcome"]): void {
    performance = undefined;
    current.timing.abort();
    const at = plan.ended(current.turn, outcome, clock.now());
    const retryAt = at === undefined ? undefined : new Date(at).toISOString();
    last = { kind: "finished", run: liveRun(current), finishedAt: moment(), outcome, retryAt };
    tell(last);
    wake();
  }

  /** Stops the run under way; whether it saved and ended in time. */
  async function stop(reason: unknown): Promise<boolean> {
    if (performance === undefined) return true;
    const { done, ending } = performance;
    const whistle = new AbortController();
    ending.abort(reason instanceof StoppedError ? reason : new StoppedError("Stopped: what was read is stored.", 143));
    const tooLate = clock.sleep(graceMs, whistle.signal).then(
      () => false,
      () => true,
    );
    const ended = await Promise.race([done.then(() => true), tooLate]);
    whistle.abort();
    return ended;
  }

  return {
    startedAt,
    config: () => config,
    nextRuns: () =>
      plan.upcoming().map(({ schedule, at, cause }) => ({ schedule, at: new Date(at).toISOString(), cause })),
    live: () => performance && liveRun(performance),
    last: () => last,
    refusal: () => refusal,
    hint() {
      const planned = !stopped && plan.hint(clock.now());
      if (planned) wake();
      return planned;
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    reload() {
      reloadAsked = true;
      wake();
    },
    async serve(signal) {
      const end = () => {
        stopped = true;
        wake();
      };
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      const past = () => tools.past(config);
      catchUp({ clock, log, redact, plan, past, unread, planned: wake }, signal).catch(bug);
      while (!stopped) {
        await look().catch(bug);
        await pause();
      }
      return stop(signal.reason);
    },
  };
}
