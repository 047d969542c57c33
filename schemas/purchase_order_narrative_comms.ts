import { flag, id, lineId, list, moment, personal, table, text } from "./fields.ts";

/** `narrative_comms[]` of `GET /po/{po_number}`. */
export const purchaseOrderNarrativeComms = table(
  "purchase_order_narrative_comms",
  "Communications that tell the story of each purchase order, such as e-mails with the vendor.",
  {
    id: lineId(id()).describe("The service's identifier of the communication."),
    types: list().describe("What the communication is about: a JSON list of labels whose values are not documented."),
    date: moment()
      .nullable()
      .describe("When the communication took place; midnight where the service gives only a day."),
    subject: personal(text()).nullable().describe("Subject line of the communication; null where it has none."),
    summary: personal(text())
      .nullable()
      .describe("What it says in short, by the service's account; null without a summary."),
    sender: personal(text()).nullable().describe("Who sent it, as a name or label; null where that is not known."),
    sender_email: personal(text()).nullable().describe("Address it was sent from; null where that is not known."),
    urgency: text().nullable().describe("How urgent the service takes it to be; values not documented."),
    provenance: list().describe(
      "Where the communication comes from, a list whose content is not documented, kept as JSON.",
    ),
    filed: flag().describe("True where the mail was filed away as noise; filed_reason says why."),
    email_class: text().nullable().describe("Class the service sorted the e-mail into; values not documented."),
    filed_reason: text().nullable().describe("Why the mail was filed away; null where it was not."),
    filed_summary: personal(text())
      .nullable()
      .describe("Short account of the filed mail; null where it was not filed."),
    email_ingest_id: id()
      .nullable()
      .describe("The e-mail as it was taken in; null where there is no e-mail behind it."),
  },
);
