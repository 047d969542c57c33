import { count, record } from "../fields.ts";

/** `GET /rate-cards/stats`. */
export const rateCardStats = record("How many rate cards there are and how they stand, measured once a day.", {
  total: count().describe("How many rate cards there are in all."),
  active: count().describe("How many rate cards the service counts as active."),
  expired: count().describe("How many rate cards the service counts as expired."),
  expiring_soon: count().describe(
    "How many rate cards the service counts as expiring soon; how soon is not documented.",
  ),
  archived: count().describe("How many rate cards the service counts as archived."),
});
