import { z } from "zod";
import { anyJson, flag, json, list, money, notGiven, personal, text } from "../fields.ts";

/** `extracted` of `GET /communications/{id}`: what the service read out of the text. */
export const communicationExtraction = z.object({
  summary: text().nullable().describe("What the message says in short, by the service's account."),
  tracking_numbers: list().nullable().describe("Tracking numbers in the message, an array of texts kept as JSON."),
  total_amount: money(notGiven).nullable().describe("Total that the message states; null where it states none."),
  amounts_mentioned: list().describe("Amounts that the message mentions; content not documented, kept as JSON."),
  attachments_mentioned: list().describe("Attachments the message speaks of; content not documented, kept as JSON."),
  response_needed: flag().nullable().describe("Whether the message asks for an answer; null where that is open."),
  delivery_update: text().nullable().describe("What the message says about delivery; null where it says nothing."),
  quantity_update: text().nullable().describe("What the message says about quantities; null where it says nothing."),
  vendor_questions: list().describe("Questions that the vendor asks, an array of texts kept as JSON."),
  response_deadline: text().nullable().describe("By when an answer is wanted, as the service read it; null for none."),
  price_update: text().nullable().describe("What the message says about prices; null where it says nothing."),
  order_status: text().nullable().describe("State of the order by the message's account; null where it tells none."),
  line_item_updates: list().describe("Changes of order lines in the message; content not documented, kept as JSON."),
  quality_issue: anyJson()
    .nullable()
    .describe("Complaint about quality, a text or an object kept as JSON; null for none."),
  return_rma: anyJson()
    .nullable()
    .describe("Return of goods, a text or an object kept as JSON; null where there is none."),
  decision_required: anyJson()
    .nullable()
    .describe("Decision that the message asks for, a text or an object kept as JSON; null for none."),
  insights: text().nullable().describe("What the service concludes from the message; null where it concludes nothing."),
  lead_time_change: text().nullable().describe("Changed lead time by the message's account; null where there is none."),
  payment_info: text().nullable().describe("What the message says about payment; null where it says nothing."),
  payment_terms: text().nullable().describe("Payment terms that the message states; null where it states none."),
  ship_to_change: text().nullable().describe("Changed delivery address by the message's account; null for none."),
  shipping_documents: text().nullable().describe("What the message says about shipping papers; null for nothing."),
  customs_info: text().nullable().describe("What the message says about customs; null where it says nothing."),
  lot_batch_numbers: list().nullable().describe("Lot and batch numbers in the message, an array of texts as JSON."),
  certifications: list().nullable().describe("Certificates that the message names, an array of texts kept as JSON."),
  order_links: list().describe("Orders that the message refers to; content not documented, kept as JSON."),
  portal_reference_without_link: flag()
    .nullable()
    .describe("Whether the message refers to a portal without giving a link to it; null where not known."),
  key_contacts: personal(list()).describe("Contacts that the message names; content not documented, kept as JSON."),
  extras: json().describe("Whatever else was read out of the message; content not documented, kept as JSON."),
});
