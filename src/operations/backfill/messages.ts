import { catalog, template } from "../../message.ts";
import { datesInWords } from "../../sync/run/messages.ts";

export const backfillMessages = catalog("backfill", {
  nothing_unfinished:
    "--resume: no backfill is unfinished. `tributary backfill --from 2023-01-01` begins one, `tributary backfill --help` says more.",
  no_history: "backfill: {names[]=items_summary} has no history to load, only the figures of the day.",
  from_in_future: "--from: expected a day that has come, got {from=2027-01-01}; today is {today=2026-03-29}.",
  from_before_start: "--from {from?=2020-01-01} lies before streams.start: {start?=2023-01-01} is where it begins",
  to_too_early: template(
    { from: "2023-01-01", from_start: true, to: "2022-06-01" },
    ({ from, from_start, to }) =>
      `--to: expected a day after ${from}${from_start ? " (streams.start)" : ""}, got ${to}. Name a later day, or leave --to out.`,
  ),
  loading: template(
    {
      streams: ["items", "orders"] as readonly string[],
      range: { from: "2023-01-01", to: undefined } as Parameters<typeof datesInWords>[0] | undefined,
      continued: false,
    },
    ({ streams, range, continued }) =>
      `loading ${streams.join(", ")} ${range === undefined ? "where it was left" : `${datesInWords(range)}${continued ? ", where it was left" : ""}`}`,
  ),
  gives_way: "another run waits: what was read is published, it goes first",
});
