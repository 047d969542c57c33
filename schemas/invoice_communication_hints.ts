import { anyJson, id, lineId, list, moment, personal, table, text } from "./fields.ts";

/** `communication_hints[]` of `GET /reconciliation/{doc_id}/line-items`. */
export const invoiceCommunicationHints = table(
  "invoice_communication_hints",
  "Communications that the service connects with each invoice, and what they say about prices and quantities.",
  {
    id: lineId(id()).nullable().describe("The service's identifier of the communication; null where it has none."),
    types: list().describe("What the communication is about: a JSON list of labels whose values are not documented."),
    date: moment()
      .nullable()
      .describe("When the communication took place; midnight where the service gives only a day."),
    subject: personal(text()).nullable().describe("Subject line of the communication; null where it has none."),
    sender: personal(text()).nullable().describe("Who sent it, as a name or address; null where that is not known."),
    price_update: anyJson().nullable().describe("What it says about prices; content not documented, kept as JSON."),
    quantity_update: anyJson()
      .nullable()
      .describe("What it says about quantities; content not documented, kept as JSON."),
    line_item_updates: anyJson()
      .nullable()
      .describe("What it says about single lines; content not documented, kept as JSON."),
  },
);
