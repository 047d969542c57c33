import type { Message } from "../../message.ts";
import type { NamedRows } from "../../operations/refresh.ts";
import type { RunReport, RunView } from "../../sync/run/report.ts";

export type Cause = "schedule" | "missed" | "retry" | "hint";

export interface LiveRun {
  /** The schedule's name; of a hint's run `hook`, or `refresh` where it named rows. */
  readonly schedule: string;
  readonly cause: Cause;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Undefined until the run knows its streams. */
  readonly view: RunView | undefined;
  /** What it waits for before it knows its streams, in a sentence. */
  readonly waits?: string | undefined;
  /** Since when it goes on though its max_time is long over (ISO 8601); undefined: all is well. */
  readonly overdueSince?: string | undefined;
}

export interface FinishedRun {
  readonly kind: "finished";
  readonly run: LiveRun;
  readonly finishedAt: string;
  /** A report, or what kept the run from beginning, and its exit code. */
  readonly outcome: RunReport | { readonly exit_code: number; readonly error: Message };
  /** The next try, where the run failed and will be tried again. */
  readonly retryAt: string | undefined;
}

/** What happened in the daemon. Listeners must not throw, and are not waited for. */
export type DaemonEvent =
  | { readonly kind: "started"; readonly run: LiveRun }
  | FinishedRun
  /** `changed`: the keys of the configuration whose values are others than before. */
  | { readonly kind: "reloaded"; readonly changed: readonly string[] }
  | { readonly kind: "refused"; readonly error: Message };

/** The daemon, as its status page, metrics and hooks see it. */
export interface Daemon {
  readonly startedAt: string;
  /** Soonest first. */
  nextRuns(): readonly { readonly schedule: string; readonly at: string; readonly cause: Cause }[];
  live(): LiveRun | undefined;
  /** The last run that ended since the daemon began. */
  last(): FinishedRun | undefined;
  /** Why the configuration that was found last is not in use, since when (ISO 8601); undefined: it is. */
  refusal(): { readonly error: Message; readonly at: string } | undefined;
  /**
   * Asks for a run of the hook's streams soon; one that would come too soon after the last waits for its time, and several
   * hints until then are one. False when nothing is planned: no hooks, no feed that is on, or the daemon is ending.
   */
  hint(): boolean;
  /**
   * Has the details of these rows fetched, now or behind the run under way; hints of one list that wait are one run. Answers why
   * not; undefined: they will be. @throws ConfigError for rows that have no details
   */
  refresh(rows: NamedRows): string | undefined;
  listen(listener: (event: DaemonEvent) => void): () => void;
}
