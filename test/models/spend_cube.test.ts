import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unreconciledCube } from "../support/reconciliation.ts";
import { passing } from "../support/warehouse.ts";
import { type Personality, personalities } from "./personalities.ts";
import { gone, huge, inFeed, profile } from "./rows.ts";
import { type ModelWarehouse, modelWarehouses, type Row, usualMeanings } from "./warehouse.ts";

const rowsOf = ({ invoice, reversal, nothing, link }: Personality) => {
  const empty = nothing === null ? null : "";
  const bill = (doc_id: string, total_amount: string | null, document_date: string | null, more: Row = {}): Row => ({
    ...{ doc_id, total_amount, document_date, vendor_id: "V1", vendor_name: "Vogel", doc_type: invoice },
    ...{ matched_po_number: empty, buyer_po_number: nothing, ...link, ...more },
  });
  const line = (doc_id: string, _index: number, line_total: string | null, more: Row = {}): Row => ({
    ...{ doc_id, _index, line_total, buyer_part_number: nothing, gl_account_code: nothing, ...more },
  });
  const toSite = { matched_po_number: "PO1" };
  return {
    company_profile: [profile("EUR")],
    ingested: [inFeed("numberless", "USD")],
    purchase_orders: [
      { po_number: "PO1", is_open: true, delivery_site_name: " Werk 1 " },
      { po_number: "PO2", is_open: true, delivery_site_name: nothing },
      { po_number: "PO9", is_open: true, delivery_site_name: "Werk 9", _deleted_at: gone },
    ],
    invoices: [
      bill("split", "119", "2026-01-10", toSite),
      bill("above", "50", "2026-01-20", { buyer_po_number: "PO-77" }),
      bill("no lines", "30", "2026-02-01", { matched_po_number: "PO2" }),
      bill("no total", null, "2026-01-11", toSite),
      bill("credit", "-20", "2026-01-12", { ...toSite, doc_type: reversal }),
      bill("unclear", null, "2026-01-13", { doc_type: nothing }),
      bill("numberless", "10", "2026-01-15", { ...toSite, vendor_id: "V2" }),
      bill("nobody's", "12", "2026-01-16", { vendor_id: empty }),
      bill("undated", "3", null, { matched_po_number: "PO9" }),
      bill("gone", "1000", "2026-01-10", { _deleted_at: gone }),
      bill("huge lines", "5", "2026-01-01", { vendor_id: "V3" }),
      bill("huge total", huge, "2026-02-01", { vendor_id: "V3" }),
      bill("colon", "8", "2026-01-17", { vendor_id: "W:4" }),
      bill("split", "200", "2026-01-10", { _company: "beta" }),
    ],
    invoice_matches: [{ doc_id: "split", po_qty_label: "l" }],
    invoice_line_items: [
      line("split", 0, "60", { buyer_part_number: " B-1 ", vendor_part_number: "VP-1", gl_account_code: "4000" }),
      line("split", 1, null, { vendor_part_number: "VP-2", invoice_qty: "4", invoice_unit_price: "10" }),
      line("split", 2, "500", { buyer_part_number: "B-1", _deleted_at: gone }),
      line("above", 0, "55", { buyer_part_number: "B-1", gl_account_code: " 4000" }),
      line("no total", 0, "7", { buyer_part_number: "B-1", gl_account_code: "4000" }),
      line("credit", 0, "-18", { description: "Return" }),
      line("numberless", 0, "4", { description: nothing }),
      line("numberless", 1, "6", { manufacturer_part_number: "M:1", description: "Motor" }),
      line("nobody's", 0, "12", { vendor_part_number: "VP-2" }),
      line("gone", 0, "1000", { buyer_part_number: "B-1" }),
      line("huge lines", 0, huge, { buyer_part_number: "B-2" }),
      line("huge lines", 1, null, { buyer_part_number: "B-2", invoice_qty: huge, invoice_unit_price: huge }),
      line("huge total", 0, "2", { buyer_part_number: "B-2" }),
      line("colon", 0, "8", { vendor_part_number: "VP-2" }),
      line("split", 0, "200", { buyer_part_number: "B-1", _company: "beta" }),
    ],
  } satisfies Record<string, Row[]>;
};

/** Each database has the facts in other words; both read either (meanings.test.ts). */
const cases = modelWarehouses.map((warehouse, at) => ({ ...warehouse, ...personalities[at]! }));

/** The answers, worked out by hand from the rows above. */
describe.each(cases)("the spend cube in $name, in $personality", ({ make, ...told }) => {
  let warehouse: ModelWarehouse;
  beforeAll(async () => {
    const currency = { report: "EUR", rates: "date,currency,rate\n2026-01-15,USD,7" };
    warehouse = await make({ rows: rowsOf(told), meanings: told.meanings, currency });
  });
  afterAll(() => warehouse.drop());

  test("spend is what lines say, and what they leave of their invoice's total", async () => {
    const site = ["name:Werk 1", "2026-01-01", "EUR"];
    const elsewhere = [null, "2026-01-01", "EUR"];
    expect(
      await warehouse.lines(
        "spend_cube",
        "_company, vendor_id, part, item_key, gl_account_code, site_key, month, currency_code",
        `vendor_id, part, item_key, gl_account_code, site_key, month, currency_code, line_count, invoice_count,
        spend_amount, without_amount_count, untotalled_amount, credit_count, credit_amount, unclear_count, unclear_amount`,
      ),
    ).toEqual([
      // 60 of one invoice, and 7 of one whose total is not known
      ["V1", "line", "buyer_part_number:B-1", "4000", ...site, 2, 0, "60", 0, "7", 0, "0", 0, "0"],
      ["V1", "line", "buyer_part_number:B-1", "4000", ...elsewhere, 1, 0, "55", 0, "0", 0, "0", 0, "0"],
      ["V1", "line", "description:Return", null, ...site, 1, 0, "0", 0, "0", 0, "-18", 0, "0"],
      ["V1", "line", "vendor_part_number:V1:VP-2", null, ...site, 1, 0, "40", 0, "0", 0, "0", 0, "0"], // 4 * 10
      // 119 - 60 - 40; the invoice without a total; -20 - -18
      ["V1", "rest", null, null, ...site, 0, 2, "19", 1, "0", 1, "-2", 0, "0"],
      // 50 - 55, and the document of which nothing says what it is
      ["V1", "rest", null, null, ...elsewhere, 0, 1, "-5", 0, "0", 0, "0", 1, "0"],
      ["V1", "rest", null, null, null, "2026-02-01", "EUR", 0, 1, "30", 0, "0", 0, "0", 0, "0"],
      ["V1", "rest", null, null, null, null, "EUR", 0, 1, "3", 0, "0", 0, "0", 0, "0"],
      ...[
        ["line", "manufacturer_part_number:M:1", 1, 0, "6"],
        ["line", null, 1, 0, "4"],
        ["rest", null, 0, 1, "0"],
      ].map(([part, item, ...counts]) => [
        ...["V2", part, item, null, "name:Werk 1", "2026-01-01", "USD", ...counts, 0, "0", 0, "0", 0, "0"],
      ]),
      // two lines beyond all measure, and one of an invoice beyond it
      ["V3", "line", "buyer_part_number:B-2", null, ...elsewhere, 2, 0, "0", 0, "0", 0, "0", 0, "0"],
      ["V3", "line", "buyer_part_number:B-2", null, null, "2026-02-01", "EUR", 1, 0, "0", 0, "2", 0, "0", 0, "0"],
      ["V3", "rest", null, null, ...elsewhere, 0, 1, "5", 0, "0", 0, "0", 0, "0"],
      ["V3", "rest", null, null, null, "2026-02-01", "EUR", 0, 1, "0", 1, "0", 0, "0", 0, "0"],
      ["W:4", "line", "vendor_part_number:W%3A4:VP-2", null, ...elsewhere, 1, 0, "8", 0, "0", 0, "0", 0, "0"],
      ["W:4", "rest", null, null, ...elsewhere, 0, 1, "0", 0, "0", 0, "0", 0, "0"],
      [null, "line", "vendor_part_number::VP-2", null, ...elsewhere, 1, 0, "12", 0, "0", 0, "0", 0, "0"],
      [null, "rest", null, null, ...elsewhere, 0, 1, "0", 0, "0", 0, "0", 0, "0"],
      ["V1", "line", "buyer_part_number:B-1", null, null, "2026-01-01", null, 1, 0, "200", 0, "0", 0, "0", 0, "0"],
      ["V1", "rest", null, null, null, "2026-01-01", null, 0, 1, "0", 0, "0", 0, "0", 0, "0"],
    ]);
  });

  test("it adds up to the invoices and to spend_by_vendor_month, credits apart, to the cent", async () => {
    // What is beyond all measure counts as missing here.
    expect(await unreconciledCube(warehouse, "coalesce(vendor_id, '') <> 'V3'")).toEqual([]);
    expect(await unreconciledCube(warehouse, "vendor_id = 'V3'")).not.toEqual([]);
    const [totals] = await warehouse.query(
      `select sum(spend_amount) as spend, sum(credit_amount) as credits from procurement_analytics.spend_cube
      where _company = 'acme' and currency_code = 'EUR' and coalesce(vendor_id, '') <> 'V3'`,
    );
    // 119 + 50 + 30 + 12 + 3 + 8
    expect(totals).toEqual({ spend: "222", credits: "-20" });
  });

  test("in the reporting currency too, where the rest holds what is lost in rounding", async () => {
    const columns = "vendor_id, part, item, spend_amount_reported, credit_amount_reported, unconverted_count";
    const all = await warehouse.lines("spend_cube", "_company, vendor_id, part, item, site_key, month", columns);
    expect(all.filter(([vendor]) => vendor === "V2")).toEqual([
      // 6 and 4 of 10 by the rate of 7: 0.857142857 + 0.571428571 of 1.428571429
      ["V2", "line", "M:1", "0.857142857", null, 0],
      ["V2", "line", null, "0.571428571", null, 0],
      ["V2", "rest", null, "0.000000001", null, 0],
    ]);
    // beta's currency is not known
    expect(all.at(-1)).toEqual(["V1", "rest", null, null, null, 1]);
    const [orderless] = await warehouse.query(
      `select sum(spend_amount_reported) as spend, sum(without_order_amount_reported) as without_order, sum(unconverted_count) as n
      from procurement_analytics.spend_without_order where _company = 'acme'`,
    );
    // 169 + 30 + 10 / 7 + 5 + 8 + 12 + 3, of which 50 + 5 + 8 + 12
    expect({ ...orderless, n: Number(orderless!["n"]) }).toEqual({ spend: "228.428571429", without_order: "75", n: 0 });
  });

  test("an invoice that no order was matched with stands beside all that its vendor billed", async () => {
    expect(
      await warehouse.lines(
        "spend_without_order",
        "_company, vendor_id, month, currency_code",
        `vendor_id, vendor_name, month, currency_code, invoice_count, spend_amount, without_order_count, without_order_amount,
        without_order_share, without_order_count_share, order_named_count, order_named_amount, without_amount_count, unclear_count, unclear_amount`,
      ),
    ).toEqual([
      // one of three, 50 of 169; it prints an order's number
      ["V1", "Vogel", "2026-01-01", "EUR", 3, "169", 1, "50", "0.2959", "0.3333", 1, "50", 1, 1, "0"],
      ["V1", "Vogel", "2026-02-01", "EUR", 1, "30", 0, "0", "0", "0", 0, "0", 0, 0, "0"],
      ["V1", "Vogel", null, "EUR", 1, "3", 0, "0", "0", "0", 0, "0", 0, 0, "0"],
      ["V2", "Vogel", "2026-01-01", "USD", 1, "10", 0, "0", "0", "0", 0, "0", 0, 0, "0"],
      ["V3", "Vogel", "2026-01-01", "EUR", 1, "5", 1, "5", "1", "1", 0, "0", 0, 0, "0"],
      ["V3", "Vogel", "2026-02-01", "EUR", 1, "0", 1, "0", null, "1", 0, "0", 1, 0, "0"],
      ["W:4", "Vogel", "2026-01-01", "EUR", 1, "8", 1, "8", "1", "1", 0, "0", 0, 0, "0"],
      [null, null, "2026-01-01", "EUR", 1, "12", 1, "12", "1", "1", 0, "0", 0, 0, "0"],
      ["V1", "Vogel", "2026-01-01", null, 1, "200", 1, "200", "1", "1", 0, "0", 0, 0, "0"],
    ]);
  });
});

describe.each(modelWarehouses)("the spend cube without lines, in $name", ({ make }) => {
  test("every invoice is all rest, and a total below 0 that is no credit is spend", async () => {
    const { invoices, ingested } = rowsOf(personalities[0]!);
    const kept = invoices.filter(({ total_amount }) => total_amount !== huge);
    const warehouse = await passing(
      make({
        rows: { invoices: kept, ingested },
        meanings: { ...usualMeanings, credit: { doc_type: ["*credit*"] } },
      }),
    );
    expect(await unreconciledCube(warehouse)).toEqual([]);
    const answer = await warehouse.query(
      `select part, site_key, cast(sum(line_count) as bigint) as n, sum(spend_amount) as spend, sum(credit_amount) as credits
      from procurement_analytics.spend_cube where _company = 'acme' group by part, site_key`,
    );
    // 119 + 50 + 30 - 20 + 10 + 12 + 3 + 5 + 8
    expect(answer).toEqual([{ part: "rest", site_key: null, n: 0, spend: "217", credits: "0" }]);
  });
});
