import type { Clock } from "../../clock.ts";
import type { Log } from "../../logging.ts";
import type { RunView } from "../../sync/run/report.ts";
import type { LiveRun } from "./events.ts";
import { scheduleMessages } from "./messages.ts";
import type { Turn } from "./order.ts";

/** What a run may take, once its max_time is over, to the next safe point: the publish of a large list takes minutes. */
const STOPPING_MS = 10 * 60_000;

/** A turn that is being run, watched for whether it ends by its max_time. */
export class RunningTurn {
  readonly turn: Turn;
  /** Aborted to stop the run. */
  readonly ending = new AbortController();
  /** What the run waits for, before it knows its streams. */
  waits: string | undefined;
  done: Promise<void> = Promise.resolve();
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #startedAt: string;
  #view: RunView | undefined;
  #overdueSince: string | undefined;
  #timing = new AbortController();

  constructor(turn: Turn, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.turn = turn;
    this.#clock = clock;
    this.#log = log;
    this.#startedAt = new Date(clock.now()).toISOString();
    // max_time begins when the run no longer waits for another one.
    this.#expectEnd(turn.waitMs);
  }

  live(): LiveRun {
    const { schedule, cause } = this.turn;
    const [startedAt, view, overdueSince] = [this.#startedAt, this.#view, this.#overdueSince];
    return { schedule, cause, startedAt, view, waits: this.waits, overdueSince };
  }

  /** The run knows its streams: its max_time begins. */
  began(view: RunView): void {
    this.#view = view;
    this.#expectEnd(0);
  }

  ended(): void {
    this.#timing.abort();
  }

  #expectEnd(waitMs: number): void {
    const { schedule, maxTimeMs } = this.turn;
    this.#timing.abort();
    this.#overdueSince = undefined;
    if (maxTimeMs === undefined) return;
    this.#timing = new AbortController();
    const late = () => {
      this.#overdueSince = new Date(this.#clock.now()).toISOString();
      const overdue = scheduleMessages.run_overdue({ schedule, overdue_ms: STOPPING_MS });
      this.#log.warn(overdue, { schedule, started_at: this.#startedAt });
    };
    this.#clock.sleep(waitMs + maxTimeMs + STOPPING_MS, this.#timing.signal).then(late, () => undefined);
  }
}
