import { count, record } from "../fields.ts";

/** `GET /communications/stats`. */
export const communicationStats = record("How many messages there are and where they stand, day by day.", {
  total: count().describe("How many messages the service counts in all."),
  open: count().describe("How many messages are still open."),
  resolved: count().describe("How many messages have been resolved."),
  snoozed: count().describe("How many messages are put off until later."),
  action_required: count().describe("How many messages somebody has to act on."),
  urgent: count().describe("How many messages are marked as urgent."),
  high: count().describe("How many messages the service counts as high, presumably in urgency."),
  inbound: count().describe("How many messages came in from outside."),
  outbound: count().describe("How many messages went out to others."),
  unlinked: count().describe("How many messages are linked to nothing."),
  awaiting_response: count().describe("How many messages wait for an answer."),
});
