import { z } from "zod";
import { count, date, flag, id, moment, money, notGiven, percent, quantity, record, score, text } from "../fields.ts";

/** A row of the contract list: `GET /contracts`. */
export const contract = record(
  "Contracts with vendors: one row a contract, its term, its limit and how far it is used.",
  {
    contract_id: id().describe("Identifier of the contract, which other tables name in their contract_id."),
    contract_number: text().nullable().describe("Number written on the contract; null where none was read."),
    contract_type: text().nullable().describe("Kind of contract, as the service names it; values not documented."),
    scope_category: text()
      .nullable()
      .describe("Category of goods or services that the contract covers, as the service names it."),
    vendor_id: id().nullable().describe("Vendor the service resolved the contract to; null where it resolved none."),
    vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
    effective_date: date().nullable().describe("First day of the contract's term; null where it is not known."),
    expiration_date: date().nullable().describe("Last day of the contract's term; null where it is not known."),
    total_value_limit: money(notGiven)
      .nullable()
      .describe("Most that may be bought under the contract; null where no limit is known."),
    cumulative_spend: money(notGiven)
      .nullable()
      .describe("Spend that the service counts against the contract so far; null where it counts none."),
    usage_complete: flag().describe("Whether the usage counted so far is complete, by the service's own account."),
    utilization_pct: percent()
      .nullable()
      .describe("Share of the contract that is used up, in the service's own percentage unit."),
    status: text()
      .nullable()
      .describe(
        "Where the contract stands; active, expiring, expired, over_nte and renewed are counted by the service.",
      ),
    auto_renewal: flag().nullable().describe("Whether the contract renews itself; null where that is not known."),
    health_score: score()
      .nullable()
      .describe("The service's score of how well the contract stands; the scale is not documented."),
    risk_level: text().nullable().describe("Level of risk that the service sees in it; values not documented."),
    successor_contract_id: id().nullable().describe("Contract that replaces this one; null where none does."),
    successor_contract_number: text()
      .nullable()
      .describe("Number of the contract that replaces this one; null where none does."),
    created_at: moment()
      .nullable()
      .describe("When the service first recorded the contract; null where it does not say."),
  },
);

/** What stands beside the rows of `GET /contracts`, taken from an unfiltered answer. */
export const contractsSummary = record("How many contracts there are in each state, measured once a day.", {
  stats: z.object({
    total: count().describe("How many contracts the company has."),
    active: quantity().describe("How many contracts run."),
    expiring: quantity().describe("How many contracts end soon, by the service's own measure."),
    expired: quantity().describe("How many contracts have ended."),
    over_nte: quantity().describe("How many contracts are used beyond their limit, the sum not to exceed."),
    renewed: quantity().describe("How many contracts have been prolonged."),
    is_renewal: quantity().describe("How many contracts prolong an earlier one."),
  }),
});
