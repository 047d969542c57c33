import { z } from "zod";
import { count, id, inRow, json, moment, money, percent, quantity, record, text } from "../fields.ts";

/** A row of `GET /analytics/savings-tracker`, entries. */
export const savingsEntry = record(
  "Entries of the savings tracker with what was identified and what was recovered, one row an entry.",
  {
    id: id().describe("Identifier of the entry."),
    contract_review_id: id()
      .nullable()
      .describe("Contract review that the entry names; assumed to be contract_reviews.id, null without one."),
    contract_id: id()
      .nullable()
      .describe("Contract it is about; assumed to be contracts.contract_id, null without one."),
    finding_type: text().nullable().describe("What was found, by the service's own labels, which are not documented."),
    finding_title: text().describe("Headline of the finding for display."),
    vendor_name: text().nullable().describe("Vendor's name as a label, never to be joined on."),
    identified_amount: money(inRow("list_currency_code"))
      .nullable()
      .describe("Money that was identified, as the service counts it."),
    recovered_amount: money(inRow("list_currency_code"))
      .nullable()
      .describe("Money that was recovered, as the service counts it."),
    status: text().describe("Where the entry stands, as the service names it; values not documented."),
    notes: text().nullable().describe("What somebody noted about the entry; null without a note."),
    recovered_at: moment().nullable().describe("When the money was recovered; null where that is not known."),
    created_at: moment().nullable().describe("When the entry was made; null where not known."),
    updated_at: moment().nullable().describe("When the entry was last changed; null where not known."),
    contract_number: text().nullable().describe("Contract's number as printed; null without a contract."),
    metric_backing: json().nullable().describe("What the amounts rest on; content not documented, kept as JSON."),
  },
);

/** What `GET /analytics/savings-tracker` says of all entries together. */
export const savingsRollup = record("Totals of the savings tracker, one row a day.", {
  currency_code: text().nullable().describe("Currency of the totals; null where the service names none."),
  rollup: z.object({
    total_identified: money(inRow("currency_code")).nullable().describe("Money that was identified, over all entries."),
    total_recovered: money(inRow("currency_code")).nullable().describe("Money that was recovered, over all entries."),
    recovery_rate: percent()
      .nullable()
      .describe("Recovered share of the identified money; the unit is not documented."),
    total_entries: quantity().nullable().describe("How many entries the tracker has."),
    recovered_count: count().nullable().describe("How many entries were recovered."),
  }),
});
