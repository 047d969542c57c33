import { count, quantity, record } from "../fields.ts";

/** `GET /communications/stats`. */
export const communicationStats = record("How many messages there are and where they stand, day by day.", {
  total: count().describe("How many messages the service counts in all."),
  open: quantity().describe("How many messages are still open."),
  resolved: quantity().describe("How many messages have been resolved."),
  snoozed: quantity().describe("How many messages are put off until later."),
  action_required: quantity().describe("How many messages require an action."),
  urgent: quantity().describe("How many messages are marked as urgent."),
  high: quantity().describe("How many messages the service counts as high, presumably in urgency."),
  inbound: quantity().describe("How many messages came in from outside."),
  outbound: quantity().describe("How many messages went out to others."),
  unlinked: quantity().describe("How many messages are linked to nothing."),
  awaiting_response: quantity().describe("How many messages wait for an answer."),
});
