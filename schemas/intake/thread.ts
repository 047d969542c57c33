import { flag, id, list, text } from "../fields.ts";

/** A thread as it hangs on messages and on documents alike. */
export const threadFields = {
  thread_id: id().describe("Identifier of the thread; unique among those of one message or document."),
  thread_kind: text().describe(
    "What business the thread is about, by the service's own labels, which are not documented.",
  ),
  primary_po_number: id()
    .nullable()
    .describe("Order the thread is mainly about, assumed to be purchase_orders.po_number; null where there is none."),
  status: text().describe("Where the thread stands, as the service names it; values not documented."),
  outcome: text().nullable().describe("How the thread ended; null where it has not."),
  summary: text().nullable().describe("What the thread is about in short, by the service's account."),
  has_anomaly: flag().describe("Whether the service saw something irregular in the thread."),
  delivered_in_full: flag().nullable().describe("Whether everything was delivered; null where that is open."),
  relationships: list().describe("What belongs together in the thread; content not documented, kept as JSON."),
  events: list().describe("What happened in the thread; content not documented, kept as JSON."),
};
