import { date, flag, id, json, moment, personal, record, table, text } from "../fields.ts";

const history = table(
  "purchase_order_promise_history",
  "Delivery promises for each purchase order as they were made, one row a promise.",
  {
    value: text().describe("What was promised, as the service writes it; its form is not documented."),
    source: text().nullable().describe("Where the promise comes from, as the service names it; values not documented."),
    effective_at: moment().nullable().describe("From when the promise counts; null where that is not known."),
    evidence_quote: personal(text())
      .nullable()
      .describe("Words in which the promise was made; null where none are quoted."),
    sender: personal(text()).nullable().describe("Who made the promise; null where nobody is named."),
    channel: text()
      .nullable()
      .describe("Way in which the promise came, as the service names it; values not documented."),
    received_at: moment().nullable().describe("When the promise was received; null where that is not known."),
    open_ref: json().nullable().describe("What to open to see the promise; content not documented, kept as JSON."),
    superseded: flag().describe("Whether a later promise took its place."),
  },
);

/** `GET /lineage/promise/{po_number}`. */
export const purchaseOrderPromises = record(
  "The delivery promise that counts for each purchase order; earlier ones are child rows.",
  {
    po_number: id().describe("The order, the same as purchase_orders.po_number."),
    active: json()
      .nullable()
      .describe("The promise that counts; content not documented, kept as JSON, null where there is none."),
    history,
    po_requested_date: date()
      .nullable()
      .describe("Delivery date that the order asked for; null where it asked for none."),
  },
);
