import { date, id, inTable, lineId, money, percent, quantity, record, table, text } from "../fields.ts";
import { rateCardFields } from "./rate_card.ts";

const inCardCurrency = inTable("rate_card_details", "currency_code", "rate_card_id");

const rateLines = table("rate_card_lines", "Rates of each card: one row for each lane and weight break.", {
  id: lineId(id()).nullable().describe("Identifier of the rate; null where the service gives it none."),
  rate_card_id: id().describe("Card that the rate names as its own; the same as rate_card_id."),
  origin_zip_low: text().nullable().describe("First postal code of the origin's range; null where it is not limited."),
  origin_zip_high: text().nullable().describe("Last postal code of the origin's range; null where it is not limited."),
  dest_zip_low: text()
    .nullable()
    .describe("First postal code of the destination's range; null where it is not limited."),
  dest_zip_high: text()
    .nullable()
    .describe("Last postal code of the destination's range; null where it is not limited."),
  freight_class: text().nullable().describe("Freight class that the rate is for; null where it is for any class."),
  weight_break_min: quantity()
    .nullable()
    .describe("Weight from which the rate holds; its unit is not documented, null without a lower bound."),
  weight_break_max: quantity()
    .nullable()
    .describe("Weight up to which the rate holds; its unit is not documented, null without an upper bound."),
  rate_per_cwt: money(inCardCurrency).nullable().describe("Price for each hundredweight; null where none is agreed."),
  flat_rate: money(inCardCurrency).nullable().describe("Price for the whole shipment; null where none is agreed."),
  rate_per_mile: money(inCardCurrency).nullable().describe("Price for each mile; null where none is agreed."),
  minimum_charge: money(inCardCurrency)
    .nullable()
    .describe("Least that a shipment on the lane costs; null where no minimum is given."),
  fak_class: text()
    .nullable()
    .describe("Class that freight of all kinds is billed as on the lane; null where none is agreed."),
});

const accessorialRates = table(
  "rate_card_accessorials",
  "Rates of each card for services beyond the transport itself: one row a charge.",
  {
    id: lineId(id()).nullable().describe("Identifier of the accessorial rate; null where the service gives it none."),
    rate_card_id: id().describe("Card that the accessorial rate names as its own; the same as rate_card_id."),
    charge_code: text().describe("Code of the charge, as the card or the service writes it."),
    charge_description: text().nullable().describe("What the charge is for, in words; null where nothing is said."),
    rate_type: text().describe("How rate_amount is counted, as the service names it; values not documented."),
    rate_amount: percent().nullable().describe("Height of the charge, an amount or a rate: rate_type says which."),
    minimum_charge: money(inCardCurrency)
      .nullable()
      .describe("Least that the charge comes to; null without a minimum."),
    maximum_charge: money(inCardCurrency).nullable().describe("Most that the charge comes to; null without a maximum."),
    free_time_minutes: quantity()
      .nullable()
      .describe("Minutes that are free before the charge begins; null where none are agreed."),
    effective_date: date().nullable().describe("First day on which the charge holds; null where it is not known."),
    expiration_date: date().nullable().describe("Last day on which the charge holds; null where it is not known."),
  },
);

/** One rate card: `GET /rate-cards/{id}`. */
export const rateCardDetail = record("Each rate card in full; its rates and accessorial charges are child tables.", {
  ...rateCardFields,
  rate_lines: rateLines,
  accessorial_rates: accessorialRates,
});
