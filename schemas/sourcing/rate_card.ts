import { count, date, id, inRow, moment, money, percent, record, text } from "../fields.ts";

/** What the rate card list and a rate card's own endpoint have in common. */
export const rateCardFields = {
  rate_card_id: id().describe("Identifier of the rate card."),
  company_id: id().nullable().describe("The service's identifier of the company whose rate card it is."),
  carrier_vendor_id: id()
    .nullable()
    .describe("Vendor that the carrier is, by which carrier_profiles is read; null where it was not resolved."),
  carrier_name: text().describe("Carrier's name as a label, never to be joined on."),
  mode: text().describe("Mode of transport that the card is for, as the service names it; values not documented."),
  effective_date: date().nullable().describe("First day on which the card holds; null where it is not known."),
  expiration_date: date().nullable().describe("Last day on which the card holds; null where it is not known."),
  status: text().describe(
    "Where the card stands; active, expired, expiring_soon and archived are counted by the service.",
  ),
  discount_pct: percent().nullable().describe("Discount on the base tariff, in the service's own percentage unit."),
  fsc_method: text()
    .nullable()
    .describe("How the fuel surcharge is worked out, as the service names it; values not documented."),
  fsc_base_rate: percent()
    .nullable()
    .describe("Base rate of the fuel surcharge; its unit depends on fsc_method and is not documented."),
  minimum_charge: money(inRow("currency_code"))
    .nullable()
    .describe("Least that a shipment under the card costs; null where no minimum is given."),
  currency_code: text().nullable().describe("Currency of the card's amounts; null where the service gives none."),
  base_tariff: text().nullable().describe("Tariff that the card builds on; null where it names none."),
  scac_code: text().nullable().describe("Carrier's standard alpha code (SCAC); null where it is not known."),
  contract_id: id().nullable().describe("Contract that the card belongs to; assumed to be contracts.contract_id."),
  contract_number: text().nullable().describe("Number of the contract that the card belongs to; null without one."),
  linked_contract: text()
    .nullable()
    .describe("How the service shows the linked contract; null where the card hangs on none."),
  lane_count: count().describe("How many lanes the card has rates for."),
  accessorial_count: count().describe("How many accessorial charges the card has rates for."),
  created_at: moment().nullable().describe("When the service first recorded the card; null where it does not say."),
  updated_at: moment().nullable().describe("When the service last changed the card; null where it does not say."),
};

/** A row of the rate card list: `GET /rate-cards`. */
export const rateCard = record(
  "Rate cards of carriers: one row a card, its term and its general conditions.",
  rateCardFields,
);
