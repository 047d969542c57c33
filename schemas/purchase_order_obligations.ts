import { id, lineId, moment, table, text } from "./fields.ts";

/** `obligations[]` of `GET /po/{po_number}`. */
export const purchaseOrderObligations = table(
  "purchase_order_obligations",
  "What somebody owes somebody in connection with each purchase order.",
  {
    obligation_id: lineId(id()).describe("The service's identifier of the obligation."),
    type: text().nullable().describe("Kind of obligation, as the service names it; values not documented."),
    status: text().nullable().describe("Where the obligation stands, as the service names it; values not documented."),
    owed_by: text().nullable().describe("Party that has to do or deliver it; null where that is not known."),
    owed_to: text().nullable().describe("Party that can ask for it; null where that is not known."),
    subject: text().nullable().describe("What it is about, in words; null where nothing is said."),
    opened_by_fact_id: id()
      .nullable()
      .describe("The fact on the service's record that opened it; null where none is named."),
    opened_at: moment().nullable().describe("When the obligation arose; null where that is not known."),
    sla_due_at: moment().nullable().describe("By when it is due under its service level; null where no limit is set."),
  },
);
