import { count, inName, lineId, money, record, table, text } from "../fields.ts";
import { budgetFields } from "./budget.ts";

const monthlyActuals = table(
  "budget_monthly_actuals",
  "Spend of each budget by month: one row for each month that the service reports.",
  {
    month: lineId(text())
      .nullable()
      .describe("Month of the figures, written as the service writes it; the format is not documented."),
    actuals_usd: money(inName).nullable().describe("Spend of the month in US dollars; null where it is not known."),
    invoice_count: count().describe("How many invoices make up the month's spend."),
  },
);

/** One budget: `GET /budgets/{id}`. */
export const budgetDetail = record("Each budget in full, with what its figures leave out.", {
  ...budgetFields,
  monthly_actuals: monthlyActuals,
  excluded_note: text().nullable().describe("What the service says about documents it left out; null without a note."),
  unvalued_note: text()
    .nullable()
    .describe("What the service says about documents without a value; null without a note."),
});
