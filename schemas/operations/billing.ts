import { count, flag, id, json, moment, money, notGiven, percent, quantity, record, text } from "../fields.ts";

/** `GET /billing/usage`. */
export const billingUsage = record("The company's plan with the service and how much of it is used, measured daily.", {
  plan: text().describe("Name of the plan, as the service calls it; values not documented."),
  current_usage: quantity().describe("How much was used in the period that is running, in the plan's own unit."),
  limit: quantity().nullable().describe("How much the plan allows in a period; null where it sets no limit."),
  within_limit: flag().describe("Whether the usage stays within the limit."),
  percentage_used: percent().describe("Share of the limit that is used, as the service calculates it."),
  is_grandfathered: flag().describe("Whether the company keeps older terms than new ones get."),
  subscription_status: text().nullable().describe("Where the subscription stands, as the service names it."),
  company_id: id().describe("The service's identifier of the company."),
  lifetime_usage: quantity().describe("How much has been used since the company began, in the plan's own unit."),
  is_overage: flag().describe("Whether more is used than the plan includes."),
  overage_count: count().describe("How much is used beyond what the plan includes."),
  overage_price_cents: money(notGiven).describe("Price of usage beyond the plan, in cents going by the name."),
  per_doc_price_cents: money(notGiven)
    .nullable()
    .describe("Price of a document, in cents going by the name; null where the plan has none."),
  trial_ends_at: moment()
    .nullable()
    .describe("Until when the company may use the service on trial; null where there is no trial."),
  pilot_active: flag().describe("Whether the company is in a pilot."),
  pilot_ends_at: moment()
    .nullable()
    .describe("Until when the company may use the service as a pilot; null where there is no pilot."),
  pilot_days_remaining: quantity().describe("How many days of the pilot are left."),
  cancel_at_period_end: flag().describe("Whether the subscription ends with its current period."),
  current_period_end: moment()
    .nullable()
    .describe("When the subscription's running period is over; null where that is not known."),
  company_created_at: moment().nullable().describe("When the company was set up with the service."),
  dollars_caught: money(notGiven).describe("Money that the service says it has caught, in dollars going by the name."),
  is_demo: flag().describe("Whether the company is only for demonstration."),
  org_usage: json().nullable().describe("Usage of the organisation as a whole; content not documented, kept as JSON."),
});

/** A row of `GET /billing/usage-history`. */
export const billingUsageItem = record(
  "What was counted towards the plan's usage, one row an item; the service may cut its list short.",
  {
    id: id().describe("Identifier of the counted item, unique within the company."),
    counted_at: moment().nullable().describe("When the item was counted; null where that is not known."),
    item_name: text().nullable().describe("What was counted, as a label; null where it has no name."),
    kind: text().describe("Kind of item, as the service names it; values not documented."),
    doc_type: text().nullable().describe("Kind of document; null for items that are no documents."),
  },
);
