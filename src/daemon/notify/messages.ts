import { counted } from "../../counted.ts";
import { roughly } from "../../duration.ts";
import { catalog, template } from "../../message.ts";

export const shown = (moment: string): string => `${moment.slice(0, 16).replace("T", " ")} UTC`;

export const notifyMessages = catalog("notify", {
  delivered: "sent to {target=notify.targets[0] (hooks.example.com)}: {title=nightly works again}",
  not_delivered:
    '"{title=nightly works again}" could not be sent to {target=notify.targets[0] (hooks.example.com)}: {reason=it answered 500}',
  not_sent: "Nothing could be sent to {target=notify.targets[0] (command)}: {reason=no answer (EPIPE)}",
  left_out:
    "{target=notify.targets[0] (hooks.example.com)} has {waiting=20} notifications waiting; one more is left out",
  not_made: "A notification could not be made.",
  no_longer_watching: "Late data is no longer looked for.",
  data_late: template(
    { complete_to: "2026-03-01T04:00:00.000Z", age_ms: 93_600_000, late_after_ms: 90_000_000 },
    ({ complete_to, age_ms, late_after_ms }) =>
      `The data is complete to ${shown(complete_to)}, ${roughly(age_ms)} ago; expected at most ${roughly(late_after_ms)} (freshness.late_after).`,
  ),
  report_not_made: "{report=reports[0]} could not be made: {reason=There are no views.}",
  report_delivered: "the report went to {to=reports[0] (mail)}",
  report_not_delivered: template(
    { to: "reports[0] (mail)", reason: "it answered 500", tries: 3 },
    ({ to, reason, tries }) => `the report could not go to ${to}: ${reason} (${counted(tries, "try", "tries")})`,
  ),
});
