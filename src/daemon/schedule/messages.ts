import { counted } from "../../counted.ts";
import { timespan } from "../../duration.ts";
import { catalog, template } from "../../message.ts";

const andRetried = (retried: boolean): string => (retried ? ", and is tried again" : "");

export const scheduleMessages = catalog("schedule", {
  run_begins: "a run begins",
  run_succeeded: "the run ended well",
  run_failed: template({ is_retried: true }, ({ is_retried }) => `the run failed${andRetried(is_retried)}`),
  run_stopped: template({ is_retried: false }, ({ is_retried }) => `the run was stopped${andRetried(is_retried)}`),
  run_not_begun: template(
    { is_retried: true, reason: "The warehouse does not answer." },
    ({ is_retried, reason }) => `the run could not begin${andRetried(is_retried)}: ${reason}`,
  ),
  run_overdue: template(
    { schedule: "nightly", overdue_ms: 600_000 },
    ({ schedule, overdue_ms }) =>
      `${schedule}: expected the run to have ended by its max_time, but ${timespan(overdue_ms)} later it still goes on, and no other one starts before it ends. Restart the daemon: nothing is lost, and the next run goes on from there.`,
  ),
  next_run: "next run",
  no_next_run: "No schedule has a next time: only what is asked for from outside runs.",
  config_unchanged: "The configuration was read again: it does not differ from the one in use.",
  config_changed: template({ changed: ["api.timeout"] as readonly string[] }, ({ changed }) => {
    const listen = changed.includes("server.listen")
      ? " server.listen holds from the next start of this process on."
      : "";
    return `The new configuration is in use; changed: ${changed.join(", ")}. A run under way ends with the one it began with.${listen}`;
  }),
  config_refused: "The configuration is kept as it was. {reason=schedules: expected a list.}",
  past_unreadable:
    "What earlier runs did can't be read yet, so none that was missed is made up for. {reason=The warehouse does not answer.}",
  never_ran: template(
    { is_loaded: false },
    ({ is_loaded }) =>
      `This schedule has never run: it begins with its next time.${is_loaded ? "" : " Nothing has been loaded yet: `tributary sync` would load it now."}`,
  ),
  missed: "A time of this schedule was missed while no daemon was up: one run makes up for it.",
  unfinished: "The last run of this schedule was cut short or failed: one run makes up for it.",
  rows_not_refreshed: template(
    { list: "items", rows: 3 },
    ({ list, rows }) =>
      `${list}: not all details of the ${counted(rows, "row")} that hints named were fetched, and no run asks for them again by itself. Send the hints again, or \`tributary refresh ${list}\` with these keys.`,
  ),
  stopped: "Stopped: what was read is stored.",
});
