import { type Clock, isWithin } from "../../clock.ts";
import type { Config } from "../../config/config.ts";
import type { Status, StreamStatus } from "../../operations/status.ts";
import { ageOf, isLate } from "../../warehouse/state/freshness.ts";
import type { DaemonEvent } from "../schedule/events.ts";
import type { Past } from "../schedule/past_runs.ts";
import { AlertStates } from "./alert_state.ts";
import { createDelivery, type Delivery, type NotifyTools } from "./delivery.ts";
import { FailureAlerts } from "./failure_alerts.ts";
import { notifyMessages } from "./messages.ts";
import type { EndedReport } from "./notification.ts";
import { type AgedStream, lateMessage, nameOf, type Send, upToDateMessage, withSuppressed } from "./notification.ts";

type Settings = () => Pick<Config, "notify" | "freshness">;

/**
 * Tells people of failures, of recoveries and of late data. Nothing here throws or is waited for. Across a restart the warehouse
 * remembers: a schedule whose last run failed owes a recovery. No file of our own has to agree with it.
 */
export class Notifier {
  readonly #log: NotifyTools["log"];
  readonly #clock: Clock;
  readonly #delivery: Delivery;
  readonly #failures: FailureAlerts;
  readonly #late: LateAlerts;

  /** `settings` is asked each time, so that a reloaded configuration holds. */
  constructor(settings: Settings, tools: NotifyTools) {
    this.#log = tools.log;
    this.#clock = tools.clock;
    this.#delivery = createDelivery(tools);
    const send: Send = (notification, suppressed) =>
      this.#delivery.send(withSuppressed(notification, suppressed), settings().notify.targets);
    this.#failures = new FailureAlerts(new AlertStates(tools.clock, () => settings().notify.atMostEveryMs), send);
    this.#late = new LateAlerts(settings, tools.clock, send);
  }

  /** At the start, before the first run: what was told before, as far as the warehouse remembers it. */
  recall(past: Past | undefined, status: Status | undefined): void {
    this.#safely(() => {
      this.#late.recall(status?.streams ?? []);
      this.#failures.recall(past);
    });
  }

  observe(event: DaemonEvent): void {
    this.#safely(() => {
      if (event.kind === "finished") this.#failures.observe(event);
    });
  }

  observeReport(ended: EndedReport): void {
    this.#safely(() => this.#failures.observeReport(ended, new Date(this.#clock.now()).toISOString()));
  }

  /** To be called every minute or so, and after a run; undefined while the warehouse cannot be read, and what is known ages on. */
  checkLate(status: Status | undefined): void {
    this.#safely(() => {
      this.#late.look(status?.warehouse.loaded && status.warehouse.note === null ? status.streams : undefined);
      this.#failures.reportWaiting();
    });
  }

  /** Resolves when every notification has reached its target or was given up. */
  settle(): Promise<void> {
    return this.#delivery.settle();
  }

  /** A notification that cannot be made must not end the daemon. */
  #safely(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.warn(notifyMessages.not_made(), { err: error });
    }
  }
}

/** Tells of late data once, and once more when it is up to date again. */
class LateAlerts {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #send: Send;
  readonly #alerts: AlertStates;
  readonly #startedAt: number;
  readonly #lateAtStart = new Set<string>();
  #streams: readonly StreamStatus[] = [];

  constructor(settings: Settings, clock: Clock, send: Send) {
    this.#settings = settings;
    this.#clock = clock;
    this.#send = send;
    this.#alerts = new AlertStates(clock, () => settings().notify.atMostEveryMs);
    this.#startedAt = clock.now();
  }

  recall(streams: readonly StreamStatus[]): void {
    this.#streams = streams;
    const { lateAfterMs } = this.#settings().freshness;
    for (const stream of streams)
      if (isLate(stream, lateAfterMs, this.#startedAt)) this.#lateAtStart.add(nameOf(stream));
  }

  /** `streams` as they are now; undefined: as they were at the last look. */
  look(streams: readonly StreamStatus[] = this.#streams): void {
    this.#streams = streams;
    const { freshness, notify } = this.#settings();
    const now = this.#clock.now();
    const told: { readonly [state in "bad" | "good"]: AgedStream[] } = { bad: [], good: [] };
    const suppressed = { bad: 0, good: 0 };
    const on = streams.filter(stream => stream.on);
    for (const stream of on) {
      const name = nameOf(stream);
      const state = isLate(stream, freshness.lateAfterMs, now) ? "bad" : "good";
      if (state === "good") this.#lateAtStart.delete(name);
      // A daemon that starts again and again must not tell again and again, and a missed run may just be catching up.
      else if (this.#lateAtStart.has(name) && isWithin(this.#clock, this.#startedAt, notify.atMostEveryMs)) continue;
      if (!this.#alerts.seen(name, state)) continue;
      told[state].push(aged(stream, now));
      suppressed[state] += this.#alerts.takeSuppressed(name);
    }
    const known = new Set(on.map(nameOf));
    for (const name of this.#alerts.bad()) if (!known.has(name)) this.#alerts.forget(name);
    const at = new Date(now).toISOString();
    if (told.bad.length > 0) this.#send(lateMessage(told.bad, freshness.lateAfterMs, at), suppressed.bad);
    if (told.good.length > 0) this.#send(upToDateMessage(told.good, at), suppressed.good);
  }
}

function aged(stream: StreamStatus, now: number): AgedStream {
  const { company, stream: name, complete_to } = stream;
  return { company, stream: name, completeTo: complete_to ?? "", ageMs: ageOf(stream, now) ?? 0 };
}
