import { describe, expect, test } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import { meanings } from "../../streams/meanings.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "./warehouse.ts";

const invoice = (doc_id: string, more: Row = {}): Row => ({ doc_id, document_date: "2026-01-05", ...more });

const invoices = [
  invoice("I-1", { total_amount: "100", doc_type: "Rechnung", payment_status: " BEZAHLT " }),
  invoice("I-2", { total_amount: "50", doc_type: "Gutschrift 100%", payment_status: "offen" }),
  invoice("I-3", { total_amount: "-20", doc_type: "rechnung" }),
  invoice("I-4", { total_amount: "7", doc_type: "Rechnung", settlement_state: "ÜBERFÄLLIG bezahlt" }),
  invoice("I-5", { doc_type: " ", payment_status: "" }),
  invoice("I-6", { _company: "beta", total_amount: "3", document_date: null }),
];
const columns = "paid, coalesce(due_amount, 0), invoice_count, credit_amount, credit_count, unclear_count";

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("what rows are taken for, in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() =>
    make({
      rows: { invoices },
      meanings: {
        credit: { doc_type: ["gut*100%"] },
        paid: { payment_status: ["bezahlt"], settlement_state: ["überfällig*"] },
      },
    }),
  );

  test("values count in any case, patterns as a whole, and what says nothing is not known", async () => {
    expect(await warehouse.lines("cash_requirements", "_company, paid, due_amount", `_company, ${columns}`)).toEqual([
      // I-2 is the credit; I-3 is none, for the rule asks nothing of totals.
      ["acme", "not known", "-20", 1, "0", 0, 0],
      ["acme", "not known", "0", 0, "0", 0, 1],
      ["acme", "not paid", "0", 0, "50", 1, 0],
      ["acme", "paid", "7", 1, "0", 0, 0],
      ["acme", "paid", "100", 1, "0", 0, 0],
      ["beta", "not known", "0", 0, "0", 0, 1],
    ]);
  });

  const byType = ["credit", "doc_type", 'meanings.credit.doc_type: ["gut*100%"]'];
  const byStatus = ["paid", "payment_status", 'meanings.paid.payment_status: ["bezahlt"]'];
  const byState = ["paid", "settlement_state", 'meanings.paid.settlement_state: ["überfällig*"]'];

  test("each rule says how many rows and how much money it touches, by month", async () => {
    expect(
      await warehouse.lines(
        "assumptions",
        "_company, meaning, column_name nulls first",
        "_company, meaning, column_name, config_line, left_out_of is not null, month, row_count, touched_count, unclear_count, touched_share, amount, touched_amount, touched_amount_share",
      ),
    ).toEqual([
      ["acme", "credit", null, "meanings.credit", true, "2026-01-01", 5, 1, 1, "0.2", "177", "50", "0.2825"],
      ["acme", ...byType, true, "2026-01-01", 5, 1, 0, "0.2", "177", "50", "0.2825"],
      ["acme", "held", null, "meanings.held", false, "2026-01-01", 5, 0, 5, "0", "177", "0", "0"],
      ["acme", "paid", null, "meanings.paid", true, "2026-01-01", 5, 2, 2, "0.4", "177", "107", "0.6045"],
      ["acme", ...byStatus, true, "2026-01-01", 5, 1, 0, "0.2", "177", "100", "0.565"],
      ["acme", ...byState, true, "2026-01-01", 5, 1, 0, "0.2", "177", "7", "0.0395"],
      ["beta", "credit", null, "meanings.credit", true, null, 1, 0, 1, "0", "3", "0", "0"],
      ["beta", ...byType, true, null, 1, 0, 0, "0", "3", "0", "0"],
      ["beta", "held", null, "meanings.held", false, null, 1, 0, 1, "0", "3", "0", "0"],
      ["beta", "paid", null, "meanings.paid", true, null, 1, 0, 1, "0", "3", "0", "0"],
      ["beta", ...byStatus, true, null, 1, 0, 0, "0", "3", "0", "0"],
      ["beta", ...byState, true, null, 1, 0, 0, "0", "3", "0", "0"],
    ]);
  });
});

test("every meaning that the models know has its place in the configuration, and no other", () => {
  expect(meanings.map(({ name }) => name)).toEqual(Object.keys(configSchema.shape.meanings.parse(undefined)));
});
