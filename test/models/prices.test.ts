import { describe, expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { priceRows } from "./price_data.ts";
import { modelWarehouses, suiteWarehouse } from "./warehouse.ts";

/** The answers, worked out by hand from price_data.ts. */
describe.each(modelWarehouses)("prices in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() => make({ rows: priceRows }));

  test("prices of a part at a vendor stand against the order's, the expected and the earlier ones", async () => {
    const columns =
      "currency_code, currency_source, line_count, quantity, amount, average_price, lowest_price, highest_price, first_date, last_date, order_lines, order_variance_amount, order_variance_pct, expected_lines, expected_variance_amount, expected_variance_pct, earlier_lines, earlier_variance_amount, earlier_variance_pct";
    const parts = await warehouse.query(
      `select ${columns} from procurement_analytics.price_variance where _company = 'acme' and item = 'B-1' and vendor_id = 'V1' and uom = 'pc' order by currency_code`,
    );
    expect(parts).toEqual([
      {
        currency_code: "EUR",
        currency_source: "feed",
        line_count: 6, // one of them without a quantity
        quantity: "59", // 10 + 30 + 20 - 2 + 1
        amount: "196", // 10 * 2 + 30 * 4 + 20 * 3 - 2 * 5 + 1 * 6
        average_price: "3.322034", // 196 / 59
        lowest_price: "2",
        highest_price: "9",
        first_date: "2026-01-10",
        last_date: "2026-03-10",
        order_lines: 3,
        order_variance_amount: "-15", // (20 - 15) + (120 - 120) + (60 - 80)
        order_variance_pct: "-6.9767", // -15 / 215
        expected_lines: 2, // a price in dollars is not compared with one in euros
        expected_variance_amount: "-2", // (20 - 18) + (60 - 64)
        expected_variance_pct: "-2.439", // -2 / 82
        earlier_lines: 2,
        earlier_variance_amount: "-14", // January's 40 cost 140, 3.5 each: 60 - 20 * 3.5; -10 - (-2 * 3)
        earlier_variance_pct: "-21.875", // -14 / (70 - 6)
      },
      {
        currency_code: null,
        currency_source: "unknown",
        line_count: 1,
        quantity: "10",
        amount: "20",
        average_price: "2",
        lowest_price: "2",
        highest_price: "2",
        first_date: "2026-01-10",
        last_date: "2026-01-10",
        order_lines: 0,
        order_variance_amount: null,
        order_variance_pct: null,
        expected_lines: 1,
        expected_variance_amount: "10", // 20 - 10 * 1: of neither price the currency is known
        expected_variance_pct: "100",
        earlier_lines: 0,
        earlier_variance_amount: null,
        earlier_variance_pct: null,
      },
    ]);
  });

  test("units, part numbers, vendors, currencies, kinds of document and companies are never mixed", async () => {
    expect(
      await warehouse.written(
        "price_variance",
        "_company, source_table, item_kind, item, vendor_id, document_type, uom, currency_code",
        "_company, item_kind, item, item_description, vendor_name, document_type, uom, currency_code, quantity, amount, order_variance_pct, earlier_variance_amount",
      ),
    ).toEqual([
      "acme | buyer_part_number | B-1 | - | Vogel | - | box | EUR | 10 | 80 | - | -",
      "acme | buyer_part_number | B-1 | Bolt | Vogel | - | pc | EUR | 59 | 196 | -6.9767 | -14",
      "acme | buyer_part_number | B-1 | Bolt | Vogel | - | pc | - | 10 | 20 | - | -",
      // A quantity and a price beyond all measure are left out, and so is what they would be compared with.
      "acme | buyer_part_number | B-1 | Bolt | Zander | - | pc | EUR | - | - | - | -",
      // Ordered at 0, so there is nothing to take a percentage of.
      "acme | buyer_part_number | B-1 | Bolt | - | - | pc | EUR | 10 | 0 | - | -",
      "acme | none | - | - | Vogel | - | pc | EUR | 1 | 7 | - | -",
      "acme | vendor_part_number | V-1 | Bolt, by the vendor's number | Vogel | - | pc | EUR | 5 | 5 | - | -",
      // 10 * 1 + 10 * 1.1; the second 10 cost 11 against 10 the day before. The order's price is of another kind.
      "acme | item_id | I1 | Bolt M8 | Vogel | invoice | pc | EUR | 20 | 21 | - | 1",
      "acme | item_id | I1 | Bolt M8 | Vogel | invoice | pc | USD | 5 | 10 | - | -",
      "acme | item_id | I1 | Bolt M8 | Vogel | invoice | pc | - | 5 | 10 | - | -",
      "acme | item_id | I1 | Bolt M8 | Vogel | order | pc | EUR | 5 | 25 | - | -",
      "beta | buyer_part_number | B-1 | Bolt | Otter | - | pc | EUR | 10 | 20 | - | -",
      "beta | item_id | I1 | Other | - | invoice | pc | EUR | 5 | 10 | - | -",
    ]);
  });

  test("an item's price is followed from month to month, to the year before and from its first", async () => {
    expect(await warehouse.written("item_price_trend", "_company, item_id, currency_code, month", "*")).toEqual([
      "acme | I1 | Bolt M8 | fasteners | pc | 2025-03-01 | EUR | row | 1 | 20 | 2 | 1 | 3 | - | - | - | 100",
      // (3 * 3 + 1 * 5) / 4 = 3.5: 75 % above 2, nothing in January 2025, 175 % of the first.
      "acme | I1 | Bolt M8 | fasteners | pc | 2026-01-01 | EUR | row | 4 | 40 | 3.5 | 2.5 | 5 | 2025-03-01 | 75 | - | 175",
      // 4 / 3.5 = 1.142857; twice the 2 of March 2025.
      "acme | I1 | Bolt M8 | fasteners | pc | 2026-03-01 | EUR | row | 0 | - | 4 | - | - | 2026-01-01 | 14.2857 | 100 | 200",
      "acme | I1 | Bolt M8 | fasteners | pc | 2026-03-01 | USD | row | 0 | - | 100 | - | - | - | - | - | 100",
      "acme | I1 | Bolt M8 | fasteners | pc | 2026-04-01 | - | unknown | 0 | - | 100 | - | - | - | - | - | 100",
      // From 0 there is no percentage.
      "beta | I1 | Other | - | - | 2026-03-01 | USD | row | 0 | - | 0 | - | - | - | - | - | -",
      "beta | I1 | Other | - | - | 2026-04-01 | USD | row | 0 | - | 1 | - | - | 2026-03-01 | - | - | -",
    ]);
  });
});

test.each(modelWarehouses)(
  "without the stream of transactions there are the invoices' lines alone: $name",
  async ({ make }) => {
    const { invoices, ingested, invoice_line_items } = priceRows;
    const warehouse = await passing(make({ rows: { invoices, ingested, invoice_line_items } }));
    expect(
      await warehouse.query("select source_table, count(*) as n from procurement_analytics.price_variance group by 1"),
    ).toEqual([{ source_table: "invoice_line_items", n: 8 }]);
    expect(warehouse.models.has("item_price_trend")).toBe(false);
  },
);
