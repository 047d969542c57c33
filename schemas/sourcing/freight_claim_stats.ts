import { count, flag, inRow, lineId, money, percent, quantity, record, table, text } from "../fields.ts";

const byStatus = table(
  "freight_claim_stats_by_status",
  "How many freight claims have each status, one set of rows a day.",
  {
    status: lineId(text()).describe("Status that is counted, the same names as in freight_claims.status."),
    count: count().describe("How many claims have the status."),
  },
);

/** `GET /freight-claims/stats`. */
export const freightClaimStats = record("How freight claims stand and what they brought back, measured once a day.", {
  by_status: byStatus,
  total_claims: quantity().describe("How many claims there are in all."),
  open_claims: quantity().describe("How many claims are still open."),
  resolved_claims: quantity().describe("How many claims are settled."),
  recovered_claims: quantity().describe("How many claims brought money back."),
  denied_claims: quantity().describe("How many claims the carriers turned down."),
  recovery_rate_pct: percent()
    .nullable()
    .describe("Share that was recovered, in the service's own percentage unit; null where it cannot be told."),
  total_claimed: money(inRow("currency_code"))
    .nullable()
    .describe("Sum of what is claimed; null where it is not known."),
  total_recovered: money(inRow("currency_code"))
    .nullable()
    .describe("Sum of what came back; null where it is not known."),
  total_approved: money(inRow("currency_code"))
    .nullable()
    .describe("Sum of what the carriers agreed to; null where it is not known."),
  currency_code: text().nullable().describe("Currency of the sums; null where the service gives none."),
  mixed_currency: flag().describe("Whether the claims behind the sums are in more than one currency."),
});
