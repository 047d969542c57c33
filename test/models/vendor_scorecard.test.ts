import { describe, expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { gone, inFeed } from "./rows.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "./warehouse.ts";

const order = (po_number: string, vendor_id: string | null, more: Row = {}): Row => ({
  po_number,
  vendor_id,
  is_open: false,
  ...more,
});
const line = (po_number: string, _index: number, more: Row): Row => ({ po_number, _index, ...more });
const invoice = (doc_id: string, vendor_id: string | null, total_amount: string | null, more: Row = {}): Row => ({
  doc_id,
  vendor_id,
  total_amount,
  vendor_name: vendor_id === null ? null : `Name of ${vendor_id}`,
  document_date: "2026-03-01",
  matched_po_number: "PO-1",
  ...more,
});
const finding = (finding_item_id: string, vendor_id: string | null, more: Row = {}): Row => ({
  finding_item_id,
  vendor_id,
  kind: "finding",
  amount_declared: true,
  ...more,
});

const rows = {
  purchase_orders: [
    order("PO-1", "V1", { is_open: true, next_expected_date: "2026-03-14" }),
    order("PO-2", "V1", { is_open: true, next_expected_date: "2026-03-16" }),
    order("PO-3", "V1"),
    order("PO-4", "V2"),
    order("PO-5", null, { is_open: true }),
    order("PO-6", "V1", { _deleted_at: gone }),
    order("PO-1", "V1", { _company: "beta" }),
  ],
  purchase_order_details: [],
  purchase_order_line_items: [
    line("PO-1", 0, { on_time: true, in_full: true, expected_date: "2026-03-01", actual_date: "2026-03-01" }),
    line("PO-1", 1, { on_time: false, in_full: true, expected_date: "2026-03-01", actual_date: "2026-03-09" }),
    line("PO-2", 0, { on_time: true, in_full: null, expected_date: "2026-03-01", actual_date: "2026-02-28" }),
    line("PO-3", 0, { on_time: null, in_full: false, expected_date: null, actual_date: "2026-02-28" }),
    line("PO-4", 0, { on_time: null, in_full: null }),
    line("PO-1", 0, { _company: "beta", on_time: false, in_full: false }),
  ],
  ingested: [inFeed("I-1", "EUR"), inFeed("I-2", "EUR"), inFeed("I-3", "USD"), inFeed("I-6", "EUR")],
  invoices: [
    invoice("I-1", "V1", "100"),
    invoice("I-2", "V1", "20.5", { document_date: "2025-03-31" }),
    invoice("I-3", "V1", "7", { hold_reason: "price" }),
    invoice("I-4", "V1", "1000", { document_date: "2025-04-01", matched_po_number: null }),
    invoice("I-5", null, "3", { document_date: null }),
    invoice("I-6", "V1", "-50", { linked_invoice_doc_id: "I-1" }),
    invoice("I-7", "V1", "9", { _deleted_at: gone }),
    invoice("I-8", "", "4", { document_date: "2026-05-01" }),
    invoice("I-1", "V1", "8", { _company: "beta" }),
  ],
  findings: [
    finding("F-1", "V1", { surfaceable_savings_usd: "10.25" }),
    finding("F-2", "V1", { surfaceable_savings_usd: "5" }),
    finding("F-3", "V1", { surfaceable_savings_usd: "3", resolved_by: "ana" }),
    finding("F-4", "V1", { surfaceable_savings_usd: "2", dismiss_reason: "no" }),
    finding("F-5", "V3", { surfaceable_savings_usd: null, vendor_name: "Name of V3" }),
  ],
} satisfies Record<string, Row[]>;

/** Today is 2026-03-15. */
describe.each(modelWarehouses)("vendor_scorecard in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows }));

  const order = "_company, vendor_id nulls last, is_main desc, currency_code nulls last";
  const scores = async (columns: string) => await warehouse.lines("vendor_scorecard", order, columns);

  test("spend is by currency, credits aside, and the rest stands on each of a vendor's rows", async () => {
    const columns = `_company, vendor_id, vendor_name, is_main, currency_code, currency_source, spend_amount, spend_last_12_months,
      spend_invoice_count, invoice_count`;
    expect(await scores(columns)).toEqual([
      // 100 + 20.5, of which 20.5 is the month before the last twelve; the credit of 50 is an invoice and no spend
      ["acme", "V1", "Name of V1", true, "EUR", "feed", "120.5", "100", 2, 5],
      ["acme", "V1", "Name of V1", false, "USD", "feed", "7", "7", 1, 5],
      // April of last year is the eleventh month before March
      ["acme", "V1", "Name of V1", false, null, "unknown", "1000", "1000", 1, 5],
      ["acme", "V2", null, true, null, "unknown", "0", "0", 0, 0],
      ["acme", "V3", "Name of V3", true, null, "unknown", "0", "0", 0, 0],
      // an empty id is none: 3 without a date and 4 in May to come
      ["acme", null, null, true, null, "unknown", "7", "0", 2, 2],
      ["beta", "V1", "Name of V1", true, null, "unknown", "8", "8", 1, 1],
    ]);
  });

  test("orders and order lines are counted by vendor", async () => {
    const columns = `vendor_id, order_count, open_order_count, late_order_count, on_time_line_count, judged_line_count,
      on_time_share, in_full_line_count, full_judged_line_count, in_full_share, average_days_late`;
    const first = [3, 2, 1, 2, 3, "0.6667", 2, 3, "0.6667", "2.33"]; // 2 / 3; (0 + 8 - 1) / 3
    expect(await scores(columns)).toEqual([
      ["V1", ...first],
      ["V1", ...first],
      ["V1", ...first],
      ["V2", 1, 0, 0, 0, 0, null, 0, 0, null, null],
      ["V3", 0, 0, 0, 0, 0, null, 0, 0, null, null],
      [null, 1, 1, 0, 0, 0, null, 0, 0, null, null],
      ["V1", 1, 0, 0, 0, 1, "0", 0, 1, "0", null],
    ]);
  });

  test("exceptions and findings are counted by vendor", async () => {
    const columns = `vendor_id, exception_invoice_count, exception_share, finding_count, open_finding_count,
      resolved_finding_count, recoverable_usd, resolved_usd`;
    // of five invoices one is on hold and one without an order; 10.25 + 5 can still be had
    const first = [2, "0.4", 4, 2, 1, "15.25", "3"];
    expect(await scores(columns)).toEqual([
      ["V1", ...first],
      ["V1", ...first],
      ["V1", ...first],
      ["V2", 0, null, 0, 0, 0, "0", "0"],
      ["V3", 0, null, 1, 1, 0, "0", "0"],
      // no vendor is an exception of its own
      [null, 2, "1", 0, 0, 0, "0", "0"],
      ["V1", 0, "0", 0, 0, 0, "0", "0"],
    ]);
  });

  test("spend is that of spend_by_vendor_month", async () => {
    const by = "_company, vendor_id, currency_code, currency_source";
    const sums = (model: string, where: string) =>
      warehouse.query(
        `select ${by}, sum(spend_amount) as spend from procurement_analytics.${model} ${where} group by ${by} order by ${by}`,
      );
    const expected = await sums("spend_by_vendor_month", "");
    expect(expected).toHaveLength(5);
    expect(await sums("vendor_scorecard", "where spend_invoice_count > 0")).toEqual(expected);
  });
});

describe.each(modelWarehouses)("vendor_scorecard of invoices alone in $name", ({ make }) => {
  test("what is not loaded is null, not 0", async () => {
    const { invoices } = rows;
    const warehouse = await passing(make({ rows: { invoices } }));
    const [first] = await warehouse.model("vendor_scorecard", "_company, vendor_id");
    const known = Object.entries(first!).filter(([, value]) => value !== null);
    expect(Object.fromEntries(known)).toEqual({
      ...{ _company: "acme", vendor_id: "V1", vendor_name: "Name of V1", is_main: true, currency_source: "unknown" },
      spend_amount: "1127.5", // 100 + 20.5 + 7 + 1000
      ...{ spend_last_12_months: "1107", spend_invoice_count: 4 },
      ...{ invoice_count: 5, exception_invoice_count: 2, exception_share: "0.4" },
    });
  });
});
