import { count, json, list, moment, table, text } from "./fields.ts";

/** `legs[]` of `GET /po/{po_number}`. */
export const purchaseOrderLegs = table(
  "purchase_order_legs",
  "Statements the service holds about each purchase order, one row a leg: what was stated, by whom, and when.",
  {
    leg: text().describe(
      "Which leg of the order the statement is about, as the service names it; values not documented.",
    ),
    scope_kind: text().describe("What the statement covers, as the service names it; values not documented."),
    scope_ref: text().nullable().describe("What within the order the statement refers to; its form is not documented."),
    scope_key: text().nullable().describe("The service's key for the covered scope; its form is not documented."),
    basis: text().describe("On what the statement rests, as the service names it; values not documented."),
    source: json().describe("Where the statement comes from; content not documented, kept as JSON."),
    asserted_by: json().describe("Who made the statement; content not documented, kept as JSON."),
    stated_at: moment().nullable().describe("When the statement was made; null where that is not known."),
    observed_at: moment()
      .nullable()
      .describe("When the service came to see the statement; null where that is not known."),
    recorded_at: moment()
      .nullable()
      .describe("When the service put the statement on record; null where that is not known."),
    stated: json().describe("What the party said about the leg; content not documented, kept as JSON."),
    entries: list().describe("The entries behind the leg, a list whose content is not documented, kept as JSON."),
    entry_count: count().describe("How many entries stand behind the leg."),
  },
);
