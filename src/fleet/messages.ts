import { catalog, template } from "../message.ts";

export const workersMessages = catalog("workers", {
  not_configured:
    "Workers share runs only where the configuration has `workers:`. Add it, for example as `workers: {}`.",
  one_writer:
    "workers: expected destination.type postgres or ducklake, got duckdb. A file has one writer: several workers can't share it.",
  long_state_schema:
    "destination.state_schema: expected at most {max_letters=45} letters where the configuration has workers, as the schema of their queue is named after it, got {letters=50}.",
  max_requests:
    "--max-requests: expected it without --workers, as it counts what one process sends. api.requests_per_day limits what is sent with a key.",
  unknown_run: template(
    { run_id: "01J", runs: ["01K"] },
    ({ run_id, runs }) =>
      `--stop: expected a run that the workers have (${runs.join(", ") || "none now"}), got ${run_id}. \`tributary status\` shows them.`,
  ),
  stopped: template({ reason: "Stopped by `tributary work --stop`: what was read is stored." }, ({ reason }) => reason),
  queue_unusable:
    'Expected to make and use the queue of jobs in schema {schema=_tributary_jobs}, but: {reason=permission denied for database warehouse}. As an administrator run: CREATE SCHEMA "{schema=_tributary_jobs}" AUTHORIZATION <role>.',
  queue_unreachable: "The queue of jobs can't be reached: {reason=The server closed the connection.}",
  queue_back: "the queue is there again",
  queue_lost: "The queue of jobs was out of reach for too long: others go on with this one.",
  job_taken: "This job was taken from this worker, which said nothing for too long.",
  unknown_job: "A job says what this version does not know: another one of tributary asked for it.",
  retried: "Tried again: {reason=The server closed the connection.}",
  takes_no_jobs: "This worker takes no jobs: {reason=A newer version has written the warehouse.}",
  leaving: "The worker was asked to leave: others go on with this job.",
  run_removed: "Run {run_id=01J} was taken out of the queue before it had ended.",
  not_followed:
    "No longer following run {run_id=01J}, which goes on. `tributary work --stop {run_id=01J}` ends it, `tributary status` shows it.",
  followed_again: "{reason=The server closed the connection.} The run is followed again once it is back.",
  not_taken: template({ run_id: "01J", reason: undefined as string | undefined }, ({ run_id, reason }) =>
    reason === undefined
      ? `No worker took run ${run_id} within workers.start_within, and it was withdrawn. Start workers with \`tributary work\`, or run it here without --workers.`
      : `No worker took run ${run_id} within workers.start_within, and it was withdrawn: ${reason}`,
  ),
  none_up: "No worker is up: the run waits in the queue. Start some with `tributary work`.",
  none_takes_jobs:
    "No worker takes jobs, the run waits in the queue. {reason=A newer version has written the warehouse.}",
});
