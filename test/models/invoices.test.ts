import { describe, expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { invoiceRows } from "./invoice_data.ts";
import { modelWarehouses, suiteWarehouse } from "./warehouse.ts";

/** The answers, worked out by hand from invoice_data.ts; today is 2026-03-15. */
describe.each(modelWarehouses)("models of invoices in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows: invoiceRows }));

  test("an invoice line stands beside its order and its receipt", async () => {
    const [line] = await warehouse.model("three_way_match", "_company, doc_id, line_index");
    expect(line).toEqual({
      _company: "acme",
      doc_id: "I-1",
      line_index: 0,
      line_no: "1",
      vendor_id: "V1",
      vendor_name: "Vogel",
      document_number: "R-1",
      document_date: "2026-02-13",
      matched_po_number: "PO-1",
      description: "Bolts",
      buyer_part_number: "B-1",
      vendor_part_number: "VP-1",
      manufacturer_part_number: "MP-1",
      uom: "box",
      po_qty: "10",
      po_qty_label: "ordered",
      received_qty: "10",
      invoice_qty: "10",
      po_unit_price: "5",
      invoice_unit_price: "5",
      line_total: "50",
      quantity_over_order: "0",
      quantity_over_receipt: "0",
      price_difference: "0",
      price_difference_pct: "0",
      price_effect_amount: "0",
      not_received_amount: "0",
      extension_difference: "0",
      quantity_verdict: "within",
      price_verdict: "equal",
      verdict: "matched",
      line_status: "ok",
      match_status: "b",
      match_verdict: "check",
      currency_code: "EUR",
      currency_source: "feed",
    });
  });

  test("each line has its verdict", async () => {
    const columns = "doc_id, line_index, quantity_verdict, price_verdict, verdict, currency_code, currency_source";
    expect(await warehouse.lines("three_way_match", "_company, doc_id, line_index", columns)).toEqual([
      ["I-1", 0, "within", "equal", "matched", "EUR", "feed"],
      ["I-1", 1, "above receipt", "above order", "price and quantity differ", "EUR", "feed"],
      ["I-1", 2, "above order", "below order", "price and quantity differ", "EUR", "feed"],
      ["I-1", 3, "above order and receipt", "equal", "quantity differs", "EUR", "feed"],
      ["I-2", 0, "no order", "no order", "no order", "SEK", "company"],
      ["I-2", 1, "no receipt", "equal", "no receipt", "SEK", "company"],
      ["I-2", 2, "not known", "equal", "not known", "SEK", "company"],
      ["I-2", 3, "within", "not known", "not known", "SEK", "company"],
      ["I-2", 4, "within", "above order", "price differs", "SEK", "company"],
      ["I-2", 5, "above order and receipt", "equal", "quantity differs", "SEK", "company"],
      ["I-2", 6, "within", "no order", "no order", "SEK", "company"],
      ["I-2", 7, "within", "below order", "price differs", "SEK", "company"],
      ["I-2", 8, "within", "equal", "matched", "SEK", "company"], // a credit of one piece
      ["I-1", 0, "above receipt", "equal", "quantity differs", null, "unknown"],
    ]);
  });

  test("a line's differences are in pieces, in percent and in money", async () => {
    const columns = `doc_id, line_index, quantity_over_order, quantity_over_receipt, price_difference, price_difference_pct,
      price_effect_amount, not_received_amount, extension_difference`;
    const over = "99999999999999999999999999998";
    expect(await warehouse.lines("three_way_match", "_company, doc_id, line_index", columns)).toEqual([
      ["I-1", 0, "0", "0", "0", "0", "0", "0", "0"],
      // 9 of 10 ordered and 8 received; 110 - 100; 9 * 10; 1 * 110; 985 - 9 * 110
      ["I-1", 1, "-1", "1", "10", "10", "90", "110", "-5"],
      // 4 of 3 and 5; 2 - 2.5 = -20 % of 2.5; 4 * -0.5; 8 - 4 * 2
      ["I-1", 2, "1", "-1", "-0.5", "-20", "-2", "0", "0"],
      // 3 of 2 and 1; (3 - 1) * 7; no line total
      ["I-1", 3, "1", "2", "0", "0", "0", "14", null],
      ["I-2", 0, null, null, null, null, null, null, null],
      ["I-2", 1, "0", null, "0", "0", "0", null, null],
      ["I-2", 2, null, null, "0", "0", null, null, null],
      ["I-2", 3, "0", "0", null, null, null, "0", null],
      // nothing is a share of a price of 0; 2 * 0.333333333
      ["I-2", 4, "-3", "-3", "0.333333333", null, "0.666666666", "0", null],
      ["I-2", 5, over, over, "0", "0", null, null, null],
      ["I-2", 6, "0", "0", null, null, null, "0", null],
      // -1 of 3 in percent, four digits
      ["I-2", 7, "0", "0", "-1", "-33.3333", "-1", "0", null],
      ["I-2", 8, "-2", "-2", "0", "0", "0", "0", null],
      ["I-1", 0, "0", "1", "0", "0", "0", "1", null],
    ]);
  });

  test("an invoice's exceptions are counted, the gravest first", async () => {
    const columns = "_company, doc_id, exception_number, exception, exception_count, exception_amount, detail";
    expect(await warehouse.lines("invoice_exceptions", "_company, doc_id, exception_number", columns)).toEqual([
      ["acme", "I-1", 1, "on hold", 1, null, "price"],
      ["acme", "I-1", 2, "failed checks", 1, null, null],
      ["acme", "I-1", 3, "critical anomalies", 1, null, null],
      ["acme", "I-1", 4, "anomalies", 2, null, null], // 3 - 1
      // I-1 and I-2: of the others one has no vendor, one another, one is no longer listed, one another company's
      ["acme", "I-1", 5, "possible duplicate", 2, "1000", null],
      ["acme", "I-1", 6, "price above order", 1, "90", null],
      ["acme", "I-1", 7, "quantity above order or receipt", 3, "124", null], // 110 + 0 + 14
      ["acme", "I-1", 8, "open findings", 2, null, null],
      ["acme", "I-2", 1, "failed checks", 1, null, null],
      ["acme", "I-2", 2, "possible duplicate", 2, "1000.5", null],
      ["acme", "I-2", 3, "price above order", 1, "0.666666666", null],
      ["acme", "I-2", 4, "quantity above order or receipt", 1, null, null],
      ["acme", "I-2", 5, "no order matched", 1, null, null],
      ["acme", "I-3", 1, "critical anomalies", 1, null, null],
      ["acme", "I-3", 2, "vendor not resolved", 1, null, null],
      ["beta", "I-1", 1, "on hold", 1, null, "other company"],
      ["beta", "I-1", 2, "quantity above order or receipt", 1, "1", null],
    ]);
  });

  test("each exception carries the invoice with its currency and the service's labels", async () => {
    const all = await warehouse.model("invoice_exceptions", "_company, doc_id, exception_number");
    expect(all[0]).toEqual({
      _company: "acme",
      doc_id: "I-1",
      exception_number: 1,
      exception: "on hold",
      exception_count: 1,
      exception_amount: null,
      detail: "price",
      vendor_id: "V1",
      vendor_name: "Vogel",
      document_number: "R-1",
      document_date: "2026-02-13",
      days_since_document: 30, // 15 days of February + 15
      due_date: "2026-03-20",
      matched_po_number: "PO-1",
      invoice_amount: "1000",
      final_status: "a",
      match_status: "b",
      payment_status: "c",
      settlement_state: "d",
      current_status: "e",
      currency_code: "EUR",
      currency_source: "feed",
    });
    const firsts = all.filter(row => row["exception_number"] === 1);
    expect(firsts.map(row => [row["doc_id"], row["invoice_amount"], row["currency_code"]])).toEqual([
      ["I-1", "1000", "EUR"],
      ["I-2", "1000.5", "SEK"],
      ["I-3", null, "SEK"],
      ["I-1", "99999999999999999999999999999", null],
    ]);
  });
});

describe.each(modelWarehouses)("models of invoices without their lines in $name", ({ make }) => {
  test("exceptions that need no lines are found", async () => {
    const { invoices } = invoiceRows;
    const warehouse = await passing(make({ rows: { invoices } }));
    expect([...warehouse.models]).not.toContain("three_way_match");
    const found = await warehouse.model(
      "invoice_exceptions",
      "_company, doc_id, exception_number",
      "doc_id, exception",
    );
    expect(found.map(Object.values).slice(6)).toEqual([
      ["I-2", "failed checks"],
      ["I-2", "possible duplicate"],
      ["I-2", "no order matched"],
      ["I-3", "critical anomalies"],
      ["I-3", "vendor not resolved"],
      ["I-1", "on hold"],
    ]);
  });
});
