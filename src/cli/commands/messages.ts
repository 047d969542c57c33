import { counted } from "../../counted.ts";
import { catalog, template } from "../../message.ts";

const helpOfFaults = "`tributary simulate --help` shows examples.";

/** Messages of single commands, whose names they begin with. */
export const commandMessages = catalog("command", {
  backfill_refused: "Stopped: nothing was loaded.",
  backfill_resume_and_restart: "--resume goes on, --restart begins again: give one of them.",
  backfill_resume_with_dates:
    "--resume goes on with the dates of what was begun: leave --from and --to out, or give them with --restart.",
  backfill_unconfirmed:
    "This backfill needs about {requests=24000} requests, more than backfill.confirm_above ({confirm_above=10000}), and there is no terminal to ask on: say --yes, raise backfill.confirm_above, or load less at a time with --from and --to. --dry-run shows what it needs.",
  check_config_understood: "{file=config.yaml} is understood, and all its variables are set",
  docs_company_without_config:
    "--company needs a configuration, and there is none here. Name one with --config, or leave --company out.",
  export_stopped: "Stopped by {signal=SIGTERM}: {out=lake} is as it was, and the next export begins anew.",
  export_stopping: "stopping, and removing what is unfinished; once more leaves at once",
  init_config_exists: "{file=config.yaml} exists already and stays as it is: remove it, or name another with --config.",
  init_config_not_written:
    "{file=config.yaml} could not be written ({reason?=EACCES}): check that its folder exists and may be written.",
  init_off_terminal:
    "init asks for a few values, and there is no terminal to ask on: run it in a terminal, or `tributary init --yes` to take the example as it is.",
  init_refused: "Stopped: nothing was written.",
  meanings_unknown: template(
    { known: ["credit", "paid"], name: "credits", near: "credit" as string | undefined },
    ({ known, name, near }) =>
      `Expected one of the meanings ${known.join(", ")}, got ${name}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
  ),
  meanings_without_views: "Meanings are read by the views for analysts, and the configuration has `views: false`.",
  move_stopped: "Stopped by {signal=SIGTERM}: nothing was copied. The same command begins anew.",
  move_stopping: "stopping, and rolling the copy back; once more leaves at once",
  query_cancelled: "The query was cancelled.",
  query_empty: "Expected a query such as 'select * from invoices', got nothing.",
  query_file_unreadable:
    "{file=/srv/question.sql} could not be read ({reason?=ENOENT}): expected a file with one query.",
  query_given_twice:
    "Expected one query, got several: give it as the argument, with -c or with --file, and without --tables.",
  query_out_without_query: "Expected with --out a query such as 'select * from invoices', got none.",
  query_parquet_or_out: "Expected --format parquet together with --out and a file, got one without the other.",
  query_prompt: "A query ends with ; and may have several lines. \\tables lists tables and views, \\q leaves.",
  query_stopped: "Stopped by {signal=SIGINT}: the query was cancelled.",
  query_stopping: "cancelling; once more leaves at once",
  refresh_too_many_keys:
    "refresh: expected at most {most=1000} keys, got {keys=1200}. Give them in several calls, or fetch all details with `tributary sync --details`.",
  replay_rejects_with_dates: "--rejects tries all rows that could not be stored: leave --from and --to out.",
  replay_span:
    "--from and --to: expected a beginning before the end, but {from=2024-02-01T00:00:00.000Z} is not before {to=2024-01-02T00:00:00.000Z}. Swap them, or leave one out.",
  reset_off_terminal:
    "reset asks before it forgets anything, and there is no terminal to ask on: run it in a terminal, or say --yes. --dry-run shows what it would do.",
  reset_refused: "Stopped: nothing was forgotten.",
  schedule_json_without_once: "--json prints the report of one run: name it with --once NAME.",
  schedule_run_left_behind:
    "The run under way reached no safe point in time and is left behind; the next one goes on from there.",
  schedule_stopped: "stopped",
  schedule_stopping: "stopping",
  schedule_unknown: template(
    { known: ["nightly"], name: "weekly" },
    ({ known, name }) =>
      `--once: expected the name of a schedule (${known.join(", ") || "none in this configuration"}), got ${name}. Name one that there is.`,
  ),
  simulate_fault_value: template(
    { fault: "error500", value: "often" as unknown, reason: "Invalid input: expected number, received string" },
    ({ fault, value, reason }) =>
      `--fault ${fault}: expected a value that this fault takes, got ${JSON.stringify(value)} (${reason}). ${helpOfFaults}`,
  ),
  simulate_fault_without_value: template(
    { given: "error500" },
    ({ given }) => `--fault expects name=value such as error500=0.05, got ${JSON.stringify(given)}. ${helpOfFaults}`,
  ),
  simulate_not_listening:
    "The simulator can't listen on {host=127.0.0.1}:{port=8099} ({reason?=EADDRINUSE}): choose another --port or --host.",
  simulate_unknown_fault: template(
    { name: "eror500", suggestion: "error500" as string | undefined, known: ["error500", "hang"] },
    ({ name, suggestion, known }) =>
      `--fault: unknown fault ${name}. ${suggestion === undefined ? `There are ${known.join(", ")}.` : `Did you mean ${suggestion}?`} ${helpOfFaults}`,
  ),
  upload_files_or_watch: "upload: expected files, or --watch with a folder, got none of them or both.",
  upload_moved: "sent and moved",
  upload_off_terminal:
    "upload sends {what=24 files} only after a confirmation, and there is no terminal to ask on. Add --yes to send; --dry-run shows what would be sent.",
  upload_refused: "Stopped: nothing was sent.",
  upload_watching: template(
    { folder: "/srv/inbox", files: 3 },
    ({ folder, files }) => `watching ${folder} (${counted(files, "file")})`,
  ),
  upload_watch_with_wait:
    "--watch waits for no document: leave --wait out, and let a sync or the daemon's hook load them.",
  work_drain_unknown: "--drain: expected a worker that is up. `tributary status` shows them.",
  work_left: "left",
  work_restarted: "a worker ended, and is started again",
  work_served: "health and metrics are served",
  work_started: "working",
  work_stopped: "Stopped by {signal=SIGTERM}: other workers go on with it.",
  work_stopping: "stopping: others go on with what is under way; once more leaves at once, and loses nothing either",
});
