import { z } from "zod";
import { count, id, json, list, moment, quantity, record, text } from "../fields.ts";

/** `GET /import-review/census`. */
export const importReviewCensus = record("How much of the imports waits for review, day by day.", {
  by_sink: json().describe("The waiting items by the sink they are parked in, an object kept as JSON."),
  open_total: count().describe("How many items wait for review in all."),
  over_7d_total: count().describe("How many items have waited for more than seven days."),
  unsettled: z.object({
    total: count().describe("How many imports are not settled yet."),
    over_1d: quantity().describe("How many imports have been unsettled for more than a day."),
    oldest_at: moment().nullable().describe("Since when the oldest import is unsettled; null where none is."),
  }),
});

const parkedItems = (what: string) =>
  z.object({
    items: list().describe(`Parked ${what}, an array whose content is not documented, kept as JSON.`),
  });

/** `GET /import-review/parked`. */
export const importReviewParked = record("What of the imports is parked for review, by kind, day by day.", {
  columns: parkedItems("columns of imported tables"),
  sheets: parkedItems("sheets of imported workbooks"),
  files: parkedItems("files that could not be imported"),
  census: z.object({
    by_sink: json().describe("The waiting items by the sink they are parked in, an object kept as JSON."),
    open_total: count().describe("How many items wait for review in all, as this answer counts."),
    over_7d_total: count().describe("How many items have waited for more than seven days, as this answer counts."),
    unsettled: json().describe("Imports that are not settled; content not documented here, kept as JSON."),
  }),
});

/** A row of `GET /import-review/parked/{sink}`. */
export const parkedImport = record(
  "Items of imports that wait for review, sink by sink; a working list, which an item may leave.",
  {
    item_id: id().describe("Identifier of the parked item within its sink."),
    sink: text().describe("Sink that the item is parked in, as the service names it."),
    observed_at: moment().nullable().describe("When the item was observed; null where that is not known."),
    title: text().nullable().describe("What the item is, as a line for display; null where it has none."),
    detail: json().describe("The item in detail; content not documented, kept as JSON."),
    source: json().describe("Where the item comes from; content not documented, kept as JSON."),
    first_seen_at: moment().nullable().describe("When the item was seen first; null where that is not known."),
    settled_at: moment().nullable().describe("When the item was settled; null where it is not."),
  },
);
