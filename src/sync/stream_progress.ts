import { ApiError, StoppedError } from "../errors.ts";
import type { Message } from "../message.ts";
import type { Page } from "../source/pages.ts";
import { beginStreamRun, type StreamRun } from "../warehouse/state/run_log.ts";
import type { ScanRecord } from "../warehouse/state/stream_state.ts";

/** What a stream is doing right now, for the progress display. */
export interface Activity {
  state: "waiting" | "reading" | "publishing" | "done" | "failed" | "stopped";
  pages: number;
  rows: number;
  /** Rows or details expected in all, where that is known. */
  total: number | undefined;
  waitingFor: string | undefined;
  /** Requests that it has asked for and that have no answer yet, where they are counted, and those of them that were sent. */
  asked: number | undefined;
  sent: number;
}

/** What became of a stream in another process that took part in the run, as JSON. */
export type StreamOutcome = Pick<
  StreamProgress,
  "run" | "published" | "isForbidden" | "warnings" | "announced" | "notes"
>;

/** Counts a stream's work of this run: its `stream_runs` row, and what the progress display shows. */
export class StreamProgress {
  readonly run: StreamRun;
  /** Its tables have been brought up to date by this run; what failed came after. */
  published = false;
  /** This key may not read it, and nobody asked for it by name: no failure. */
  isForbidden = false;
  /** What was published is a part of a list that was not read to its end. */
  isPartial = false;
  /** What the user should know though nothing failed, about several streams where they are equal: none names its own first. */
  readonly warnings: Message[] = [];
  /** Those of the warnings that were logged when they arose. */
  readonly announced: Message[] = [];
  /** What is worth knowing and no warning. */
  readonly notes: Message[] = [];
  readonly activity: Activity = {
    state: "waiting",
    pages: 0,
    rows: 0,
    total: undefined,
    waitingFor: undefined,
    asked: undefined,
    sent: 0,
  };

  /** True while `stream_runs` has no row of it; undefined where that is not known. */
  isNew: boolean | undefined;
  /** Its row as the last publish wrote it, as if nothing were left to do; undefined: something was. */
  ended: StreamRun | undefined;

  constructor(startedAt: string, isNew?: boolean) {
    this.run = beginStreamRun(startedAt);
    this.isNew = isNew;
  }

  /** Its row at the end of its work, when nothing comes of it any more but what the warnings say. */
  end(now: number): StreamRun {
    const status = this.warnings.length > 0 ? "warning" : "succeeded";
    return { ...this.run, status, finished_at: new Date(now).toISOString() };
  }

  /** An answer that came: a page, a detail, a snapshot. */
  page(answer: Pick<Page, "requests" | "retries" | "bytes">): void {
    this.run.requests += answer.requests;
    this.run.retries += answer.retries;
    this.run.bytes += answer.bytes;
    this.run.pages++;
    this.activity.pages++;
  }

  rows(count: number, record?: ScanRecord): void {
    this.run.rows_read += count;
    this.activity.rows += count;
    if (record?.lastTotal !== undefined && record.lastTotal !== null) this.activity.total = record.lastTotal;
  }

  outcome(): StreamOutcome {
    const { run, published, isForbidden, warnings, announced, notes } = this;
    return { run, published, isForbidden, warnings, announced, notes };
  }

  /** Takes over what another process did. */
  takeOver({ run, published, isForbidden, ...said }: StreamOutcome): void {
    Object.assign(this.run, run);
    this.published = published;
    this.isForbidden = isForbidden;
    for (const name of ["warnings", "announced", "notes"] as const) this[name].push(...said[name]);
    const ended = run.status === "stopped" ? "stopped" : "failed";
    this.activity.state = run.error === null || isForbidden ? "done" : ended;
    this.activity.pages = run.pages;
    this.activity.rows = run.rows_read;
  }

  /** Its work ended by an error; a stop is no failure. */
  endBy(error: unknown): void {
    this.activity.state = error instanceof StoppedError ? "stopped" : "failed";
  }

  /** Requests that ended in an error count too. */
  failedRequest(error: unknown): void {
    if (!(error instanceof ApiError)) return;
    this.run.requests += error.attempts;
    this.run.retries += Math.max(0, error.attempts - 1);
  }
}
