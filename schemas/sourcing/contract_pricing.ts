import { flag, id, json, list, money, notGiven, percent, quantity, record, text } from "../fields.ts";

/** `GET /requisitions/contract-pricing`; its query parameters are not documented. */
export const contractPricing = record(
  "What a contract asks for an item, for each query that the configuration names.",
  {
    found: flag().describe("Whether the service found a contract price for what was asked."),
    contract_id: id().nullable().describe("Contract that the price comes from; assumed to be contracts.contract_id."),
    unit_price: money(notGiven).nullable().describe("Contract price of one unit; null where none was found."),
    tier_applied: text().nullable().describe("Volume tier that the price belongs to; null where no tier applies."),
    volume_tiers: list()
      .nullable()
      .describe("All volume tiers of the price, a list whose content is not documented, kept as JSON."),
    next_tier: json()
      .nullable()
      .describe("The tier that a larger volume reaches; content not documented, kept as JSON."),
    min_qty: quantity().nullable().describe("Smallest quantity that the contract allows; null without such a bound."),
    max_qty: quantity().nullable().describe("Largest quantity that the contract allows; null without such a bound."),
    min_qty_warning: text().nullable().describe("The service's warning about the smallest quantity; null without one."),
    max_qty_warning: text().nullable().describe("The service's warning about the largest quantity; null without one."),
    nte_warning: text()
      .nullable()
      .describe("The service's warning about the contract's not-to-exceed limit; null without one."),
    nte_utilization_pct: percent()
      .nullable()
      .describe("Share of the not-to-exceed limit that is used up, in the service's own percentage unit."),
    rebate_hint: text().nullable().describe("What the service says about a rebate within reach; null without one."),
  },
);
