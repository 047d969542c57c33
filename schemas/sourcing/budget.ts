import { count, date, id, inName, moment, money, percent, personal, record, text } from "../fields.ts";

/** What the budget list and a budget's own endpoint have in common. */
export const budgetFields = {
  id: id().describe("Identifier of the budget."),
  scope_kind: text().describe("What sort of thing the budget is for, as the service names it; values not documented."),
  scope_ref: text().nullable().describe("Reference of the thing that the budget is for; null where there is none."),
  scope_label: text().nullable().describe("Name of the thing that the budget is for; null where there is none."),
  period_start: date().nullable().describe("First day of the budget's period; null where it is not known."),
  period_end: date().nullable().describe("Last day of the budget's period; null where it is not known."),
  amount_usd: money(inName).nullable().describe("Size of the budget in US dollars; null where none is set."),
  currency_code: text()
    .nullable()
    .describe("Currency that the service names for the budget, beside amounts that are in dollars by their names."),
  encumbrance_usd: money(inName)
    .nullable()
    .describe("Part of the budget that is committed but not yet spent, in US dollars."),
  actuals_usd: money(inName).nullable().describe("Part of the budget that is already spent, in US dollars."),
  available_usd: money(inName).nullable().describe("What is left of the budget, in US dollars; null where unknown."),
  excluded_non_usd_count: count().describe("How many documents are left out because they are not in US dollars."),
  unvalued_doc_count: count().describe("How many documents are left out because they carry no value."),
  open_po_count: count().describe("How many open orders count towards the budget."),
  invoice_count: count().describe("How many invoices count towards the budget."),
  warning_pct: percent().describe("Used share of the budget from which the service warns, in its own percentage unit."),
  source_citation: text().nullable().describe("Where the budget was taken from; null where the service cites nothing."),
  created_by: personal(text()).nullable().describe("Who entered the budget; null where that is not known."),
  created_at: moment().nullable().describe("When the budget was entered; null where that is not known."),
  updated_at: moment().nullable().describe("When the budget was last changed; null where that is not known."),
};

/** A row of the budget list: `GET /budgets`. */
export const budget = record("Budgets: one row a budget, what is committed, spent and left of it.", budgetFields);
