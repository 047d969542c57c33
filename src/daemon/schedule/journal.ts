import type { Log } from "../../logging.ts";
import type { RunReport } from "../../sync/run/report.ts";
import type { Daemon, FinishedRun } from "./events.ts";
import { scheduleMessages } from "./messages.ts";

export function keepJournal(daemon: Daemon, log: Log): () => void {
  announce(daemon, log);
  return daemon.listen(event => {
    if (event.kind === "started")
      log.info(scheduleMessages.run_begins(), { schedule: event.run.schedule, cause: event.run.cause });
    else if (event.kind === "finished") logEnd(event, log);
    else if (event.kind === "refused") log.warn(scheduleMessages.config_refused({ reason: event.error.message }));
    else logReload(event.changed, daemon, log);
  });
}

function logReload(changed: readonly string[], daemon: Daemon, log: Log): void {
  if (changed.length === 0) return log.info(scheduleMessages.config_unchanged());
  log.info(scheduleMessages.config_changed({ changed }), { changed });
  if (changed.includes("schedules")) announce(daemon, log);
}

function announce(daemon: Daemon, log: Log): void {
  const next = daemon.nextRuns();
  if (next.length === 0) log.warn(scheduleMessages.no_next_run());
  const firsts = next.filter((run, index) => next.findIndex(other => other.schedule === run.schedule) === index);
  for (const { schedule, at } of firsts) log.info(scheduleMessages.next_run(), { schedule, at });
}

function logEnd({ run, outcome, retryAt }: FinishedRun, log: Log): void {
  const { schedule, cause } = run;
  const retry = retryAt === undefined ? {} : { retry_at: retryAt };
  const facts = { schedule, cause, exit_code: outcome.exit_code, ...retry };
  const is_retried = retryAt !== undefined;
  if (!("run_id" in outcome))
    return log.warn(scheduleMessages.run_not_begun({ is_retried, reason: outcome.error.message }), facts);
  const whole = { ...facts, run_id: outcome.run_id, status: outcome.status, ...sumOf(outcome), ...failedIn(outcome) };
  if (outcome.exit_code === 0) log.info(scheduleMessages.run_succeeded(), whole);
  else log.warn(scheduleMessages[outcome.status === "stopped" ? "run_stopped" : "run_failed"]({ is_retried }), whole);
}

/** Names only: the run has logged the errors already. */
function failedIn({ streams }: RunReport): { readonly failed?: readonly string[] } {
  const failed = streams.filter(({ status }) => status === "failed" || status === "incomplete");
  return failed.length === 0 ? {} : { failed: failed.map(({ stream }) => stream) };
}

const summed = ["requests", "rows_read", "inserted", "updated", "deleted"] as const;

function sumOf({ streams, started_at, finished_at }: RunReport): Readonly<Record<string, number>> {
  const sums = summed.map(key => [key, streams.reduce((total, stream) => total + stream[key], 0)]);
  const seconds = Math.round((Date.parse(finished_at) - Date.parse(started_at)) / 1000);
  return { seconds, ...Object.fromEntries(sums) };
}
