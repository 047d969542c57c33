import {
  anyJson,
  count,
  date,
  flag,
  id,
  inTable,
  moment,
  money,
  percent,
  quantity,
  record,
  score,
  text,
  volatile,
} from "./fields.ts";

const inDocumentCurrency = inTable("ingested", "currency_code", "id = doc_id, an assumed join");

/** A row of the reconciliation list: `GET /reconciliation`. */
export const invoice = record(
  "Invoices and how they reconcile with orders and receipts: one row an invoice document.",
  {
    doc_id: id().describe("The invoice document; the key that the invoice_ tables share."),
    file_name: text().nullable().describe("Name of the file that the invoice arrived as; null where it has none."),
    doc_type: text().nullable().describe("Kind of document, as the service names it; values not documented."),
    vendor_id: id().nullable().describe("Vendor the service resolved the invoice to; null where it resolved none."),
    vendor_name: text().nullable().describe("Vendor's name as a label; null where unknown, and never to be joined on."),
    vendor_resolved: flag()
      .nullable()
      .describe("Whether the service could tell which vendor it is; null where it has not tried."),
    vendor_name_raw: text().nullable().describe("Vendor's name as read from the invoice, before it was resolved."),
    vendor_website: text().nullable().describe("Vendor's web address; null where the service knows none."),
    document_number: text().nullable().describe("Invoice number printed on the document; null where none was read."),
    total_amount: money(inDocumentCurrency).nullable().describe("Total of the invoice; null where none was read."),
    subtotal: money(inDocumentCurrency)
      .nullable()
      .describe("Sum on the invoice before additions such as tax and shipping."),
    tax_amount: money(inDocumentCurrency).nullable().describe("Tax on the invoice; null where none was read."),
    tax_rate: percent()
      .nullable()
      .describe("Rate of tax on the invoice, in the service's own unit, percent or fraction."),
    shipping_amount: money(inDocumentCurrency)
      .nullable()
      .describe("Charge for shipping on the invoice; null where none was read."),
    discount_amount: money(inDocumentCurrency)
      .nullable()
      .describe("Discount that the invoice offers or grants; null where there is none."),
    discount_percent: percent()
      .nullable()
      .describe("Rate of the discount, in the service's own unit; null where there is none."),
    discount_deadline: date()
      .nullable()
      .describe("Last day on which the discount can be taken; null where there is none."),
    discount_days_left: volatile(quantity())
      .nullable()
      .describe(
        "Days left to take the discount; shrinks by itself each day, so it alone never marks a row as changed.",
      ),
    discount_capturable_amount: money(inDocumentCurrency)
      .nullable()
      .describe("Discount that can still be had; null where there is none."),
    discount_status: text()
      .nullable()
      .describe("Where the discount stands, as the service names it; values not documented."),
    document_date: date().nullable().describe("Calendar date on the invoice; null where none was read."),
    uploaded_at: moment().nullable().describe("When the invoice reached the service; null where that is not known."),
    due_date: date().nullable().describe("Day on which payment is due; null where it cannot be told."),
    due_in_days: volatile(quantity())
      .nullable()
      .describe("Days until payment is due; shrinks by itself each day, so it alone never marks a row as changed."),
    pay_urgency: volatile(score())
      .nullable()
      .describe("How urgent the payment is; scale not documented, moves by itself and never marks a row as changed."),
    net_days: quantity()
      .nullable()
      .describe("Days that the payment terms allow; net_days_basis says where they come from."),
    net_days_basis: text()
      .nullable()
      .describe("Where net_days comes from, as the service names it; values not documented."),
    terms_anchor_date: date()
      .nullable()
      .describe("Day from which the payment terms are counted; null where it cannot be told."),
    payment_terms: text()
      .nullable()
      .describe("Terms of payment as written, for example net days; null where none are known."),
    final_status: text()
      .nullable()
      .describe("Final status of the invoice, as the service names it; values not documented."),
    match: anyJson().nullable().describe("How the invoice was matched; content not documented, kept as JSON."),
    match_status: text()
      .nullable()
      .describe("Outcome of matching, for example matched or discrepancy; the full list of values is not documented."),
    payability: anyJson().nullable().describe("Whether the invoice can be paid; content not documented, kept as JSON."),
    matched_po_number: id()
      .nullable()
      .describe("Purchase order the service matched, one at most; assumed to be purchase_orders.po_number."),
    buyer_po_number: text().nullable().describe("Order number as printed on the invoice; not meant for joins."),
    anomaly_count: count().nullable().describe("How many anomalies the service sees in this invoice."),
    critical_anomaly_count: count().nullable().describe("How many of the invoice's anomalies are critical."),
    high_anomaly_count: count().nullable().describe("How many of the invoice's anomalies are of high severity."),
    open_findings_count: count().nullable().describe("How many findings about this invoice are still open."),
    payment_status: text()
      .nullable()
      .describe("Whether and how far it is paid, as the service names it; values not documented."),
    settlement_state: text()
      .nullable()
      .describe("Where settlement stands, as the service names it; values not documented."),
    current_status: text()
      .nullable()
      .describe("Present status in the workflow, as the service names it; values not documented."),
    risk_score: score()
      .nullable()
      .describe("How risky the invoice is in the service's judgement; the scale is not documented."),
    sanctions_status: text()
      .nullable()
      .describe("Result of checking sanctions lists, as the service names it; values not documented."),
    baseline_total: money(inDocumentCurrency)
      .nullable()
      .describe("Total that the invoice is measured against; what it is made of is not documented."),
    previously_invoiced: money(inDocumentCurrency)
      .nullable()
      .describe("What earlier invoices already billed, taken to be an amount; null where there are none."),
    hold_reason: text().nullable().describe("Why the invoice is on hold, in words; null where it is not."),
    failed_checks: anyJson()
      .nullable()
      .describe("Checks that the invoice failed; content not documented, kept as JSON."),
    related_documents: anyJson()
      .nullable()
      .describe("Documents that belong to the invoice; content not documented, kept as JSON."),
    five_way_match: anyJson()
      .nullable()
      .describe("Result of the five-way match; content not documented, kept as JSON."),
    credits: anyJson().nullable().describe("Credits set against the invoice; content not documented, kept as JSON."),
    linked_invoice_doc_id: id()
      .nullable()
      .describe("Invoice that this document refers to, as a credit memo does; null where it refers to none."),
    linked_invoice_number: text()
      .nullable()
      .describe("Number printed on the invoice that linked_invoice_doc_id names; null where there is none."),
    credit_memo_match_method: text()
      .nullable()
      .describe("How a credit memo was tied to its invoice; values not documented, null for other documents."),
  },
);
