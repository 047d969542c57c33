import { z } from "zod";
import { count, id, inName, json, lineId, list, money, record, table, text } from "./fields.ts";

const categoryCounts = table(
  "findings_category_counts",
  "How many findings each category holds and what they are worth, one set of rows a day.",
  {
    category: lineId(text()).describe("Category that is counted, the same names as in findings.category."),
    label: text().describe("Name of the category for display."),
    count: count().describe("How many findings the category holds."),
    money_total_usd: money(inName)
      .nullable()
      .describe("Money at stake in the category, in US dollars; null where none is put to it."),
    metric_backing: json().nullable().describe("What the figures rest on; content not documented, kept as JSON."),
    context: list().describe("Further context of the category, a list whose content is not documented, kept as JSON."),
  },
);

const situationTotals = table(
  "findings_situation_totals",
  "Money at stake by purchase order with findings, one set of rows a day.",
  {
    po_number: lineId(id()).describe("Order that the findings are about; assumed to be purchase_orders.po_number."),
    total_usd: money(inName)
      .nullable()
      .describe("Money at stake in the order's findings, in US dollars; null where none is put to it."),
    metric_backing: json().nullable().describe("What the figure rests on; content not documented, kept as JSON."),
  },
);

/** The totals beside the rows of `GET /findings`, taken from an unfiltered answer. */
export const findingsSummary = record("Totals over all findings, measured once a day.", {
  currency_code: text()
    .nullable()
    .describe("Currency that the findings list names as a whole; null where it names none."),
  resolved_count: count()
    .nullable()
    .describe("How many findings have been resolved; null where the service does not say."),
  resolved_scope: z.object({
    po_number: id()
      .nullable()
      .describe("Order that the resolved count is limited to; null when it is not limited to one."),
    vendor_id: id()
      .nullable()
      .describe("Vendor that the resolved count is limited to; null when it is not limited to one."),
    doc_id: id()
      .nullable()
      .describe("Document that the resolved count is limited to; null when it is not limited to one."),
    contract_id: id()
      .nullable()
      .describe("Contract that the resolved count is limited to; null when it is not limited to one."),
    category: text()
      .nullable()
      .describe("Category that the resolved count is limited to; null when it is not limited to one."),
  }),
  open_count: count().nullable().describe("How many findings are open; null where the service does not say."),
  open_amount: json()
    .nullable()
    .describe("Money at stake in open findings; an object whose content is not documented, kept as JSON."),
  waiting_on: text().describe("Whose findings the list shows, as the service names it; values not documented."),
  waiting_on_counts: z.object({
    you: count().describe("How many findings wait for the buying company."),
    vendor: count().describe("How many findings wait for a vendor."),
    all: count().describe("How many findings there are, whoever they wait for."),
  }),
  recoverable_amount: json()
    .nullable()
    .describe("Money that could be recovered; an object whose content is not documented, kept as JSON."),
  situation_totals: situationTotals,
  category_counts: categoryCounts,
});
