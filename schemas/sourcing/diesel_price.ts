import { date, id, moment, money, notGiven, record, text } from "../fields.ts";

/** A price: `GET /doe-diesel-prices`. */
export const dieselPrice = record("Diesel prices by week and region: one row a price.", {
  id: id().describe("Identifier of the price within the service."),
  week_ending: date().describe("Last day of the week that the price is for."),
  region: text().describe("Region that the price is for, as the service names it."),
  price_per_gal: money(notGiven).nullable().describe("Price of a gallon of diesel; null where none was published."),
  source: text().nullable().describe("Where the price was taken from; null where the service does not say."),
  fetched_at: moment().nullable().describe("When the service fetched the price; null where it does not say."),
  created_at: moment().nullable().describe("When the service first recorded the price; null where it does not say."),
});
