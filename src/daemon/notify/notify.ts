import { type Clock, isWithin } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import { isFailure } from "../../errors.ts";
import type { Log } from "../../logging.ts";
import type { Status, StreamStatus } from "../../operations/status.ts";
import type { Redactor } from "../../secrets.ts";
import { ageOf, isLate } from "../../warehouse/state/freshness.ts";
import type { DaemonEvent } from "../schedule/events.ts";
import type { Past, PastRun } from "../schedule/past_runs.ts";
import { createAlertStates } from "./alert_state.ts";
import { type RunCommand, runCommand } from "./command.ts";
import { createDelivery } from "./delivery.ts";
import {
  type AgedStream,
  type Finished,
  failedStreams,
  failureMessage,
  lateMessage,
  type Notification,
  nameOf,
  recoveryMessage,
  upToDateMessage,
  withSuppressed,
} from "./message.ts";
import { type Post, postJson } from "./post.ts";

/** What a notifier is given; `post` and `runCommand` stand in for the network and for child processes. */
export interface NotifyTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly redact: Redactor;
  /** The commands' programs are found by it; they get hardly any of it. */
  readonly env: NodeJS.ProcessEnv;
  /** Aborted when the daemon ends: what is under way is given up. */
  readonly signal: AbortSignal;
  readonly post?: Post;
  readonly runCommand?: RunCommand;
}

/** Tells people of failures, of recoveries and of late data. Nothing here throws or is waited for. */
export interface Notifier {
  /** At the start, before the first run: what was told before, as far as the warehouse remembers it. */
  recall(past: Past | undefined, status: Status | undefined): void;
  observe(event: DaemonEvent): void;
  /** To be called every minute or so, and after a run; undefined while the warehouse cannot be read, and what is known ages on. */
  checkLate(status: Status | undefined): void;
  /** Resolves when every notification has reached its target or was given up. */
  settle(): Promise<void>;
}

/** A time of failing: since when, and which streams, by `company/stream`. */
interface Episode {
  readonly since: string;
  readonly streams: Set<string>;
  /** A failure that was not told, as another try was planned. */
  untold: Notification | undefined;
}

/**
 * A failure is told when no further try is planned, a recovery at the first success after a told failure, late data once until it
 * is up to date. Across a restart the warehouse remembers: a schedule whose last run failed owes a recovery. No file of our own
 * has to agree with it.
 * `settings` is asked each time, so that a reloaded configuration holds and episodes go on.
 */
export function createNotifier(settings: () => Pick<Config, "notify" | "freshness">, tools: NotifyTools): Notifier {
  const { clock, log } = tools;
  const delivery = createDelivery({
    ...tools,
    post: tools.post ?? postJson,
    runCommand: tools.runCommand ?? runCommand,
  });
  const atMostEveryMs = () => settings().notify.atMostEveryMs;
  const failing = createAlertStates(clock, atMostEveryMs);
  const late = createAlertStates(clock, atMostEveryMs);
  const episodes = new Map<string, Episode>();
  /** Told too recently; told later unless it is no longer true by then. */
  const waiting = new Map<string, { readonly state: "bad" | "good"; readonly notification: Notification }>();
  const startedAt = clock.now();
  const lateAtStart = new Set<string>();
  let streams: readonly StreamStatus[] = [];

  const send = (notification: Notification, suppressed: number): void =>
    delivery.send(withSuppressed(notification, suppressed), settings().notify.targets);

  function tell(schedule: string, state: "bad" | "good", notification: Notification): void {
    waiting.delete(schedule);
    if (failing.happened(schedule, state)) send(notification, failing.suppressed(schedule));
    else if (state === "bad" || failing.bad().includes(schedule)) waiting.set(schedule, { state, notification });
  }

  function reportWaiting(): void {
    for (const [schedule, { state, notification }] of waiting) {
      if (!failing.seen(schedule, state)) continue;
      waiting.delete(schedule);
      send(notification, failing.suppressed(schedule));
    }
  }

  function failed(finished: Finished): void {
    const { schedule } = finished.run;
    const known = episodes.get(schedule);
    const episode = known ?? { since: finished.finishedAt, streams: new Set(), untold: undefined };
    episodes.set(schedule, episode);
    for (const stream of failedStreams(finished.outcome)) episode.streams.add(nameOf(stream));
    episode.untold = failureMessage(finished);
    if (finished.retryAt === undefined) reportEpisode(schedule, episode);
  }

  function reportEpisode(schedule: string, episode: Episode): void {
    if (episode.untold !== undefined) tell(schedule, "bad", episode.untold);
    episode.untold = undefined;
  }

  function succeeded(finished: Finished): void {
    const { schedule } = finished.run;
    const episode = episodes.get(schedule);
    if (episode === undefined) return;
    episodes.delete(schedule);
    tell(schedule, "good", recoveryMessage(finished, episode.since, episode.streams));
  }

  /** Neither a failure nor a success. Where it was the last try, the failure before it stands. */
  function gaveUp({ run: { schedule }, retryAt }: Finished): void {
    const episode = episodes.get(schedule);
    if (episode !== undefined && retryAt === undefined) reportEpisode(schedule, episode);
  }

  function look(): void {
    const { lateAfterMs } = settings().freshness;
    const now = clock.now();
    const told: { readonly [state in "bad" | "good"]: AgedStream[] } = { bad: [], good: [] };
    const suppressed = { bad: 0, good: 0 };
    const on = streams.filter(stream => stream.on);
    for (const stream of on) {
      const name = nameOf(stream);
      const state = isLate(stream, lateAfterMs, now) ? "bad" : "good";
      if (state === "good") lateAtStart.delete(name);
      // A daemon that starts again and again must not tell again and again, and a missed run may just be catching up.
      else if (lateAtStart.has(name) && isWithin(clock, startedAt, atMostEveryMs())) continue;
      if (!late.seen(name, state)) continue;
      told[state].push(aged(stream, now));
      suppressed[state] += late.suppressed(name);
    }
    const known = new Set(on.map(nameOf));
    for (const name of late.bad()) if (!known.has(name)) late.forget(name);
    const at = new Date(now).toISOString();
    if (told.bad.length > 0) send(lateMessage(told.bad, lateAfterMs, at), suppressed.bad);
    if (told.good.length > 0) send(upToDateMessage(told.good, at), suppressed.good);
  }

  /** A notification that cannot be made must not end the daemon. */
  function safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      log.warn({ err: error }, "A notification could not be made.");
    }
  }

  return {
    recall: (past, status) =>
      safely(() => {
        streams = status?.streams ?? [];
        const { lateAfterMs } = settings().freshness;
        for (const stream of streams) if (isLate(stream, lateAfterMs, startedAt)) lateAtStart.add(nameOf(stream));
        for (const [schedule, runs] of past ?? []) {
          const since = failingSince(runs);
          if (since === undefined) continue;
          episodes.set(schedule, { since: new Date(since).toISOString(), streams: new Set(), untold: undefined });
          failing.assume(schedule, "bad");
        }
      }),
    observe: event =>
      safely(() => {
        if (event.kind !== "finished") return;
        if (isFailure(event.outcome.exit_code)) failed(event);
        else if (event.outcome.exit_code === 0) succeeded(event);
        else if (event.outcome.exit_code < 128) gaveUp(event);
        reportWaiting();
      }),
    checkLate: status =>
      safely(() => {
        if (status?.warehouse.loaded && status.warehouse.note === null) streams = status.streams;
        look();
        reportWaiting();
      }),
    settle: () => delivery.settle(),
  };
}

/** Since when a schedule's runs, newest first, have been failing; undefined where the last end was a good one. */
function failingSince(runs: readonly PastRun[]): number | undefined {
  // A killed run told nobody; neither did one that was held or stopped.
  const ends = runs.filter(({ exitCode }) => exitCode === 0 || (exitCode !== undefined && isFailure(exitCode)));
  const good = ends.findIndex(({ exitCode }) => exitCode === 0);
  const first = ends.slice(0, good === -1 ? undefined : good).at(-1);
  return first && (first.finishedAt ?? first.startedAt);
}

function aged(stream: StreamStatus, now: number): AgedStream {
  const { company, stream: name, complete_to } = stream;
  return { company, stream: name, completeTo: complete_to ?? "", ageMs: ageOf(stream, now) ?? 0 };
}
