import { id, json, list, moment, quantity, record, text } from "../fields.ts";

/** `GET /measures/{id}`. */
export const measure = record("Key figures of the service, those that the configuration names.", {
  id: id().describe("Identifier of the figure, as it was asked for."),
  title: text().describe("Name of the figure for display, in the service's words."),
  unit: text().nullable().describe("Unit of the figure's value; null where it has none."),
  grain: text().describe("What one value of the figure is about, as the service names it."),
  as_of: moment().nullable().describe("Moment for which the figure holds; null where the service gives none."),
  value: quantity().nullable().describe("The figure itself, in the unit beside it; null where it cannot be told."),
  rows: list().describe("The figure broken down; content not documented, kept as JSON."),
  benchmark: json().nullable().describe("What the figure is compared with; content not documented, kept as JSON."),
});
