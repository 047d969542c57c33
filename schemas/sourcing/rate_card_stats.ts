import { count, quantity, record } from "../fields.ts";

/** `GET /rate-cards/stats`. */
export const rateCardStats = record("How many rate cards there are and how they stand, measured once a day.", {
  total: count().describe("How many rate cards there are in all."),
  active: quantity().describe("How many rate cards the service counts as active."),
  expired: quantity().describe("How many rate cards the service counts as expired."),
  expiring_soon: quantity().describe(
    "How many rate cards the service counts as expiring soon; how soon is not documented.",
  ),
  archived: quantity().describe("How many rate cards the service counts as archived."),
});
