import { describe, expect, test } from "vitest";
import { passing } from "../../support/warehouse.ts";
import { huge } from "../rows.ts";
import { modelWarehouses, suiteWarehouse } from "../warehouse.ts";
import { orderRows } from "./order_data.ts";

/** The answers, worked out by hand from order_data.ts; today is 2026-03-15. */
describe.each(modelWarehouses)("models of purchase orders in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows: orderRows }));

  test("a line has what was ordered, received and invoiced", async () => {
    const all = await warehouse.model("purchase_order_fulfilment", "_company, po_number, line_index");
    expect(all.find(row => row["po_number"] === "late" && row["_company"] === "acme")).toEqual({
      _company: "acme",
      po_number: "late",
      line_index: 0,
      line_no: "10",
      vendor_id: "V1",
      vendor_name: "Vogel",
      po_date: "2026-01-04",
      is_open: true,
      part_number: "P-1",
      vendor_part_number: "VP-1",
      manufacturer_part_number: "MP-1",
      description: "Bolts",
      uom: "box",
      ordered_quantity: "10",
      acknowledged_quantity: "9",
      shipped_quantity: "5",
      received_quantity: "4",
      accepted_quantity: "3",
      rejected_quantity: "1",
      invoiced_quantity: "6",
      open_quantity: "6", // 10 - 4
      over_received_quantity: "0",
      not_invoiced_quantity: "0", // 4 - 6 is below 0
      over_invoiced_quantity: "0",
      unit_price: "50",
      invoice_unit_price: "55",
      ordered_amount: "500", // the line's total, before its amount of 499
      received_amount: "200", // 4 * 50
      invoiced_amount: "330", // 6 * 55
      open_amount: "300", // 6 * 50
      received_share: "0.4",
      invoiced_share: "0.6",
      receipt_standing: "partly received",
      invoice_standing: "partly invoiced",
      expected_date: "2026-03-10",
      delivered_date: "2026-03-01", // the line's own day before the one settled on
      on_time: true,
      is_late: false,
      in_full: false,
      currency_code: "EUR",
      currency_source: "order",
    });
  });

  test("quantities of a line that are missing, too large or 0 end in no amount and no error", async () => {
    const columns = `po_number, line_index, ordered_quantity, open_quantity, over_received_quantity, not_invoiced_quantity,
      over_invoiced_quantity, received_share, invoiced_share, receipt_standing, invoice_standing`;
    expect(await warehouse.lines("purchase_order_fulfilment", "_company, po_number, line_index", columns)).toEqual([
      ["all in", 0, "8", "0", "0", "0", "0", "1", "1", "received", "invoiced"],
      ["all in", 1, "0", "0", null, null, null, null, null, "nothing ordered", "nothing ordered"],
      ["bare", null, null, null, null, null, null, null, null, "not known", "not known"],
      ["closed", 0, "5", "0", "0", "3", "0", "1", "0.4", "received", "partly invoiced"],
      ["huge", 0, huge, "0", "0", null, null, null, null, "received", "not known"],
      ["late", 0, "10", "6", "0", "0", "0", "0.4", "0.6", "partly received", "partly invoiced"],
      // qty_ordered is missing, quantity is taken; where nothing is recorded, nothing is known
      ["late", 1, "3", null, null, null, null, null, null, "not known", "not known"],
      // 6 of 4 received: 2 too many, 6 / 4 = 1.5; what was billed of them is not known
      ["late", 2, "4", "0", "2", null, null, "1.5", null, "over-received", "not known"],
      // a return: what came of it is not known
      ["returned", 0, "-2", "0", "2", null, null, "0", null, "not known", "not known"],
      // 1 / 3, four digits
      ["unpriced", 0, "3", "2", "0", null, null, "0.3333", null, "partly received", "not known"],
      ["unpriced", 1, "2", "2", "0", "0", "1", "0", "1.5", "not received", "over-invoiced"],
      ["unseen", null, null, null, null, null, null, null, null, "not known", "not known"],
      ["late", 0, "3", "2", "0", "1", "0", "0.3333", "0", "partly received", "not invoiced"],
    ]);
  });

  test("a line's amounts are at its own prices and in its order's currency", async () => {
    const columns =
      "po_number, line_index, ordered_amount, received_amount, invoiced_amount, open_amount, currency_code, currency_source";
    expect(await warehouse.lines("purchase_order_fulfilment", "_company, po_number, line_index", columns)).toEqual([
      ["all in", 0, "80", "80", null, "0", "SEK", "company"], // 8 * 10
      ["all in", 1, "0", null, null, "0", "SEK", "company"],
      ["bare", null, null, null, null, null, "USD", "list"],
      ["closed", 0, "7.5", "7.5", null, "0", "EUR", "order"], // 5 * 1.5
      ["huge", 0, null, null, null, "0", "JPY", "order"],
      ["late", 0, "500", "200", "330", "300", "EUR", "order"],
      ["late", 1, "100.005", null, null, null, "EUR", "order"], // 3 * 33.335
      ["late", 2, "40", "60", null, "0", "EUR", "order"], // 6 * 10 received
      ["returned", 0, "-18", "0", null, "0", "SEK", "company"], // -2 * 9
      ["unpriced", 0, null, null, null, null, "SEK", "company"],
      ["unpriced", 1, "40", "0", null, "40", "SEK", "company"], // 2 * 20
      ["unseen", null, "12", null, null, null, "SEK", "company"], // the whole order
      ["late", 0, "30", "10", null, "20", null, "unknown"], // of 3 at 10 one came
    ]);
  });

  test("an open order is as old as its date and as late as its expected day", async () => {
    const columns = `_company, po_number, days_open, age_bucket, expected_date, expected_date_basis, days_late, lateness_bucket,
      days_past_promise, days_past_request`;
    expect(await warehouse.lines("open_purchase_orders", "_company, po_number", columns)).toEqual([
      // everything came, so it is not late, whatever the day: 2026-02-13 + 30 = 2026-03-15, and 104 days from 2025-12-01
      ["acme", "all in", 30, "0-30 days", "2025-12-01", "requested", 0, "not late", null, 104],
      ["acme", "bare", null, "no date", null, null, null, "no date", null, null],
      // 16 days of December, 31 + 28 + 15
      ["acme", "huge", 90, "61-90 days", "2025-12-14", "requested", 0, "not late", null, 91],
      // 27 days of January + 28 + 15; five days after the 10th, ten after the promise, five before the request
      ["acme", "late", 70, "61-90 days", "2026-03-10", "next expected", 5, "1-7 days", 10, -5],
      ["acme", "returned", 31, "31-60 days", "2026-02-12", "promised", 0, "not late", 31, null],
      // expected today is not late
      ["acme", "unpriced", 91, "over 90 days", "2026-03-15", "promised", 0, "not late", 0, null],
      ["acme", "unseen", 60, "31-60 days", "2025-12-14", "promised", 91, "over 90 days", 91, null],
      ["beta", "late", null, "no date", "2026-02-13", "requested", 30, "8-30 days", null, 30],
    ]);
  });

  test("what is still to come of an open order is added up from its lines, or is the whole order", async () => {
    const columns = `po_number, line_count, open_line_count, unclear_line_count, ordered_amount, received_amount, open_amount,
      open_amount_basis, currency_code, currency_source`;
    expect(await warehouse.lines("open_purchase_orders", "_company, po_number", columns)).toEqual([
      ["all in", 2, 0, 0, "80", "80", "0", "lines", "SEK", "company"],
      ["bare", null, null, null, null, null, null, null, "USD", "list"],
      ["huge", 1, 0, 0, huge, null, "0", "lines", "JPY", "order"],
      // one line doesn't say what came in: the whole order; received: 200 + 60
      ["late", 3, 1, 1, "1000", "260", "1000", "order", "EUR", "order"],
      ["returned", 1, 0, 0, "-18", "0", "0", "lines", "SEK", "company"],
      // a line without a price: the whole order
      ["unpriced", 2, 2, 0, "250", "0", "250", "order", "SEK", "company"],
      ["unseen", null, null, null, "12", null, "12", "order", "SEK", "company"],
      ["late", 1, 1, 0, "30", "10", "20", "lines", null, "unknown"],
    ]);
  });

  test("labels of an open order are the service's", async () => {
    const columns =
      "vendor_id, vendor_name, delivery_site_name, days_late_reported, delivery_standing, fulfillment_state, open_findings_count";
    const [, , , late] = await warehouse.lines("open_purchase_orders", "_company, po_number", columns);
    expect(late).toEqual(["V1", "Vogel", "Werk 1", "4", "overdue", "partial", 2]);
  });

  test("goods that came in and are not billed have a value and an age, and stand apart where nothing says what was billed", async () => {
    const columns = `_company, po_number, line_index, not_invoiced_quantity, not_invoiced_amount, unclear_quantity, unclear_amount,
      delivered_date, days_since_delivery, age_bucket, matched_invoice_count, currency_code, currency_source`;
    expect(await warehouse.lines("received_not_invoiced", "_company, po_number, line_index", columns)).toEqual([
      // 5 - 2 = 3 at 1.5; 17 days of December + 31 + 28 + 15; a third invoice is no longer listed
      ["acme", "closed", 0, "3", "4.5", null, null, "2025-12-14", 91, "over 90 days", 2, "EUR", "order"],
      ["acme", "huge", 0, null, null, huge, null, null, null, "no date", 0, "JPY", "order"],
      // 6 at 10; 16 days of February + 15
      ["acme", "late", 2, null, null, "6", "60", "2026-02-12", 31, "31-60 days", 0, "EUR", "order"],
      ["acme", "unpriced", 0, null, null, "1", null, null, null, "no date", 0, "SEK", "company"],
      // 17 days of January + 28 + 15; the invoice of acme's order of the same number is not counted
      ["beta", "late", 0, "1", "10", null, null, "2026-01-14", 60, "31-60 days", 1, null, "unknown"],
    ]);
  });
});

describe.each(modelWarehouses)("models of purchase orders without details in $name", ({ make }) => {
  test("open orders are worth what the list says", async () => {
    const { purchase_orders } = orderRows;
    const warehouse = await passing(make({ rows: { purchase_orders } }));
    expect([...warehouse.models]).not.toContain("purchase_order_fulfilment");
    expect([...warehouse.models]).not.toContain("received_not_invoiced");
    const columns =
      "po_number, days_late, line_count, open_line_count, received_amount, open_amount, open_amount_basis";
    const open = await warehouse.model("open_purchase_orders", "_company, po_number", columns);
    expect(open.map(Object.values).slice(2, 5)).toEqual([
      ["huge", 91, null, null, null, "99999999999999999999999999999", "order"],
      ["late", 5, null, null, null, "1000", "order"],
      ["returned", 31, null, null, null, "-18", "order"],
    ]);
  });
});
