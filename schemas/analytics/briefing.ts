import { z } from "zod";
import { count, inRow, inTable, lineId, moment, money, quantity, record, table, text } from "../fields.ts";

const actionBuckets = table(
  "briefing_action_buckets",
  "What there is to do, by kind, as the briefing of a day had it.",
  {
    label: lineId(text()).describe("Name of the kind of task for display."),
    count: count().describe("How many tasks of the kind wait."),
    link: text().describe("Where the service's own pages show the tasks."),
  },
);

const highlights = table("briefing_highlights", "What the briefing of a day singled out.", {
  source: text().nullable().describe("Where the highlight comes from, as the service names it; values not documented."),
  severity: text().nullable().describe("How grave it is, as the service names it; values not documented."),
  title: text().describe("Headline of the highlight for display."),
  subtitle: text().nullable().describe("Second line of the highlight; null where it has none."),
  link: text().nullable().describe("Where the service's own pages show it; null where they don't."),
  amount: money(inTable("briefing", "currency_code", "observed_on"))
    .nullable()
    .describe("Money that the highlight is about; null where it is about none."),
  created_at: moment().nullable().describe("When the highlight came up; null where not known."),
});

/** `GET /briefing`. */
export const briefing = record("The service's briefing for the day, one row a day.", {
  currency_code: text().nullable().describe("Currency of the briefing's amounts; null where the service names none."),
  hero: z.object({
    open_issues: quantity().describe("How many issues are open."),
    dollars_caught: money(inRow("currency_code")).describe("Money that the service caught, as the briefing shows it."),
    emails_processed: quantity().describe("How many e-mails the service processed."),
    action_items: quantity().describe("How many tasks are still open."),
  }),
  action_buckets: actionBuckets,
  highlights,
  email: z.object({
    total: count().describe("How many e-mails there are."),
    action_required: quantity().describe("How many e-mails ask for an action."),
    urgent: quantity().describe("How many e-mails are urgent."),
    inbound: quantity().describe("How many e-mails came in."),
    outbound: quantity().describe("How many e-mails went out."),
  }),
  generated_at: moment().nullable().describe("When the service wrote the briefing; null where it does not say."),
});
