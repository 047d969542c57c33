import { flag, id, inTable, moment, money, personal, record, score, table, text } from "../fields.ts";

const inDocumentCurrency = inTable("ingested", "currency_code", "id = doc_id, an assumed join");

/** `rows[]` of `GET /reconciliation/{doc_id}/gl-coding`. */
export const invoiceGlCoding = record("Invoice lines and the general ledger accounts they are booked to.", {
  line_id: id().describe("The service's identifier of the invoice line."),
  line_no: id().describe("Line number as it stands on the invoice, as text."),
  description: text().describe("What is billed, in words."),
  line_total: money(inDocumentCurrency).describe("Total of the invoice line."),
  gl_account_code: text()
    .nullable()
    .describe("General ledger account the line is booked to; null while it is not coded."),
  gl_cost_center: text().nullable().describe("Cost centre the line is booked to; null while it is not coded."),
  gl_confidence: score().nullable().describe("How sure the service is of the coding; the scale is not documented."),
  gl_coded_by: personal(text())
    .nullable()
    .describe("Who coded the line, as the service names it; null while it is not coded."),
});

/** `history[]` of `GET /reconciliation/{doc_id}/history`. */
export const invoiceStatusChange = record("What was done with each invoice on its way to payment, one row a step.", {
  id: id().describe("The service's identifier of the step."),
  action_type: text().describe("What was done, as the service names it; values not documented."),
  notes: text().nullable().describe("Remarks made with the step; null where there are none."),
  hold_reason: text().nullable().describe("Why the invoice was held; null where the step is no hold."),
  created_by: personal(text()).describe("Who did it, a person or the service itself."),
  created_at: moment().describe("When the step was taken."),
});

/** `timeline[]` of `GET /reconciliation/{doc_id}/timeline`. */
export const invoiceTimelineEntry = record("What happened to each invoice, in its order of time, one row an entry.", {
  type: text().describe("Type of entry, as the service names it; values not documented."),
  action: text().nullable().describe("What was done, as the service names it; null where the entry is no action."),
  user: personal(text()).nullable().describe("Who did it; null where nobody is named."),
  ts: moment().describe("When the entry happened."),
  notes: text().nullable().describe("Remarks made with the entry; null where there are none."),
  hold_reason: text().nullable().describe("Why the invoice was held; null where the entry is no hold."),
});

const findings = table(
  "invoice_intelligence_findings",
  "What the service points out about each invoice, one row a point.",
  {
    title: text().describe("Headline of the point, in words."),
    description: text().describe("What the point is, at more length."),
    severity: text().nullable().describe("How severe the point is, as the service names it; values not documented."),
  },
);

const acknowledged = table(
  "invoice_intelligence_acknowledged_findings",
  "Points about each invoice that somebody has acknowledged.",
  {
    title: text().describe("Headline of the acknowledged point, in words."),
    user_id: personal(id()).nullable().describe("User who acknowledged it; null where not known."),
    user_email: personal(text()).nullable().describe("E-mail address of that user; null where not known."),
    acknowledged_at: moment()
      .nullable()
      .describe("When somebody said to have taken note of the point; null where not known."),
    note: text().nullable().describe("What the user remarked on it; null where nothing."),
  },
);

/** `GET /invoices/{doc_id}/intelligence`. */
export const invoiceIntelligence = record(
  "The service's account of each invoice, with the points it makes as child rows.",
  {
    doc_id: id().describe("The invoice, the same as invoices.doc_id."),
    generated_at: moment().describe("When the account was made."),
    severity: text().nullable().describe("How severe the account is as a whole; values not documented."),
    summary: text().nullable().describe("The account in a few words; null where nothing is said."),
    findings,
    acknowledged_findings: acknowledged,
    stale: flag().describe("Whether the account is out of date in the service's judgement."),
  },
);
