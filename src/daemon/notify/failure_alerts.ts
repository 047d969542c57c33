import { isFailure } from "../../errors.ts";
import type { FinishedRun } from "../schedule/events.ts";
import type { Past, PastRun } from "../schedule/past_runs.ts";
import type { AlertStates, State } from "./alert_state.ts";
import type { EndedReport } from "./notification.ts";
import {
  failedStreams,
  failureMessage,
  type Notification,
  nameOf,
  recoveryMessage,
  reportMessage,
  type Send,
} from "./notification.ts";

/** A time of failing: since when, and which streams, by `company/stream`. */
interface Episode {
  readonly since: string;
  readonly streams: Set<string>;
  /** A failure that was not told, as another try was planned. */
  untold: Notification | undefined;
}

/** What a key may not read no further try reads: people hear of it at once. */
const REFUSALS: ReadonlySet<string> = new Set(["stream.no_longer_available", "run.nothing_available"]);

const isRefused = (outcome: FinishedRun["outcome"]): boolean =>
  "run_id" in outcome && outcome.errors.some(({ code }) => REFUSALS.has(code));

/** By schedule, and by report: tells of a failure when no further try is planned, or none would help, and of the first success after a failure that was told. */
export class FailureAlerts {
  readonly #alerts: AlertStates;
  readonly #send: Send;
  readonly #episodes = new Map<string, Episode>();
  /** Held back by notify.at_most_every; sent later unless it is no longer true by then. */
  readonly #waiting = new Map<string, { readonly state: State; readonly notification: Notification }>();

  constructor(alerts: AlertStates, send: Send) {
    this.#alerts = alerts;
    this.#send = send;
  }

  /** What earlier daemons told of: the schedules whose last run failed. */
  recall(past: Past = new Map()): void {
    for (const [schedule, runs] of past) {
      const since = failingSince(runs);
      if (since === undefined) continue;
      this.#episodes.set(schedule, { since: new Date(since).toISOString(), streams: new Set(), untold: undefined });
      this.#alerts.assume(schedule, "bad");
    }
  }

  observe(finished: FinishedRun): void {
    const code = finished.outcome.exit_code;
    if (isFailure(code)) this.#failed(finished);
    else if (code === 0) this.#succeeded(finished);
    // A run that another one kept from beginning, or that reached a limit: where no try follows, the failure before it stands.
    else if (code < 128 && finished.retryAt === undefined) this.#report(finished.run.schedule);
    this.reportWaiting();
  }

  /** Sends each failure of a report, and its first success after one. */
  observeReport(ended: EndedReport, at: string): void {
    this.#tell(ended.place, ended.failures.length > 0 ? "bad" : "good", reportMessage(ended, at));
    this.reportWaiting();
  }

  reportWaiting(): void {
    for (const [schedule, { state, notification }] of this.#waiting) {
      if (!this.#alerts.seen(schedule, state)) continue;
      this.#waiting.delete(schedule);
      this.#send(notification, this.#alerts.takeSuppressed(schedule));
    }
  }

  #failed(finished: FinishedRun): void {
    const { schedule } = finished.run;
    const known = this.#episodes.get(schedule);
    const episode = known ?? { since: finished.finishedAt, streams: new Set(), untold: undefined };
    this.#episodes.set(schedule, episode);
    for (const stream of failedStreams(finished.outcome)) episode.streams.add(nameOf(stream));
    episode.untold = failureMessage(finished);
    if (finished.retryAt === undefined || isRefused(finished.outcome)) this.#report(schedule);
  }

  #succeeded(finished: FinishedRun): void {
    const { schedule } = finished.run;
    const episode = this.#episodes.get(schedule);
    if (episode === undefined) return;
    this.#episodes.delete(schedule);
    this.#tell(schedule, "good", recoveryMessage(finished, episode.since, episode.streams));
  }

  #report(schedule: string): void {
    const episode = this.#episodes.get(schedule);
    if (episode?.untold === undefined) return;
    this.#tell(schedule, "bad", episode.untold);
    episode.untold = undefined;
  }

  #tell(schedule: string, state: State, notification: Notification): void {
    this.#waiting.delete(schedule);
    if (this.#alerts.happened(schedule, state)) this.#send(notification, this.#alerts.takeSuppressed(schedule));
    else if (state === "bad" || this.#alerts.bad().includes(schedule))
      this.#waiting.set(schedule, { state, notification });
  }
}

/** Since when a schedule's runs, newest first, have been failing; undefined where the last end was a good one. */
function failingSince(runs: readonly PastRun[]): number | undefined {
  // Nobody was told of a run that was killed, held or stopped.
  const ends = runs.filter(({ exitCode }) => exitCode === 0 || (exitCode !== undefined && isFailure(exitCode)));
  const good = ends.findIndex(({ exitCode }) => exitCode === 0);
  const first = ends.slice(0, good === -1 ? undefined : good).at(-1);
  return first && (first.finishedAt ?? first.startedAt);
}
