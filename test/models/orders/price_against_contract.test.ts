import { describe, expect, test } from "vitest";
import { passing } from "../../support/warehouse.ts";
import { gone, huge } from "../rows.ts";
import { toldTo } from "../tellings.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "../warehouse.ts";

const bolt = (po_number: string, _index: number, more: Row): Row => ({
  po_number,
  _index,
  part_number: "B-1",
  description: "Bolt",
  uom: "pc",
  ...more,
});
const moved = (po_number: string, _index: number, more: Row): Row => ({
  po_number,
  _index,
  part_number: "B-1",
  currency: "EUR",
  ...more,
});
const order = (po_number: string, po_date: string, list_currency_code: string): Row => ({
  po_number,
  is_open: true,
  vendor_id: "V1",
  vendor_name: "Vogel",
  po_date,
  list_currency_code,
});

const rows = {
  purchase_orders: [
    order("P1", "2026-01-10", "EUR"),
    order("P2", "2026-01-20", "EUR"),
    order("P3", "2026-02-01", "USD"),
    { po_number: "P4", is_open: true },
  ],
  purchase_order_details: ["P1", "P2", "P3", "P4"].map(po_number => ({ po_number, is_open: true })),
  purchase_order_line_items: [
    bolt("P1", 0, {
      contract_price: "2",
      unit_price: "2.5",
      qty_ordered: "10",
      quantity: "11",
      invoice_unit_price: "2",
      qty_invoiced: "8",
    }),
    bolt("P1", 1, { contract_price: "2", unit_price: "1.5", quantity: "4", invoice_unit_price: "3" }),
    bolt("P1", 2, { contract_price: "3", unit_price: "1.5", quantity: "4", _deleted_at: gone }),
    bolt("P2", 0, { unit_price: "9", qty_ordered: "1" }),
    bolt("P2", 1, { contract_price: huge, unit_price: "1", qty_ordered: "1" }),
    bolt("P2", 2, { uom: null, unit: "box", contract_price: "10", unit_price: "12" }),
    bolt("P3", 0, { contract_price: "0", unit_price: "1", qty_ordered: "3" }),
    {
      po_number: "P4",
      _index: 0,
      part_number: " ",
      contract_price: "1",
      unit_price: huge,
      invoice_unit_price: "1",
      qty_ordered: huge,
      qty_invoiced: "2",
    },
    { po_number: "P4", _index: 1, vendor_part_number: "V-9", unit_price: "5", qty_ordered: "1" },
  ],
  purchase_order_price_moves: [
    moved("P1", 0, { prior_price: "2", price: "2.2", effective_date: "2026-02-01" }),
    moved("P1", 1, { prior_price: "2.2", price: "1.9", effective_date: "2026-02-15" }),
    // in another currency, of no part, and of a part in two units: there is no contract price
    moved("P1", 2, { price: "3", currency: "USD", effective_date: "2026-02-01" }),
    moved("P1", 3, { part_number: null, price: "5", effective_date: "2026-02-01" }),
    moved("P2", 0, { price: "3", currency: null, effective_date: "2026-02-20" }),
    moved("P1", 4, { price: "7", effective_date: "2026-02-01", _deleted_at: gone }),
  ],
} satisfies Record<string, Row[]>;

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("prices against contracts in $name", ({ name, make }) => {
  const warehouse = suiteWarehouse(() => make(toldTo(name, rows)));

  const lines = async (columns: string) =>
    await warehouse.lines(
      "price_against_contract",
      "_company, source_table, vendor_id, item, uom, month, currency_code",
      columns,
    );

  test("items, units, months and currencies are never mixed", async () => {
    const columns =
      "source_table, vendor_name, item_kind, item, item_description, uom, month, currency_code, currency_source, line_count, no_contract_count";
    const [orders, moves] = ["purchase_order_line_items", "purchase_order_price_moves"];
    expect(await lines(columns)).toEqual([
      [orders, "Vogel", "part_number", "B-1", "Bolt", "box", "2026-01-01", "EUR", "list", 1, 0],
      // two lines of P2 have no contract price, one of them a price beyond all measure
      [orders, "Vogel", "part_number", "B-1", "Bolt", "pc", "2026-01-01", "EUR", "list", 4, 2],
      [orders, "Vogel", "part_number", "B-1", "Bolt", "pc", "2026-02-01", "USD", "list", 1, 0],
      [orders, null, "none", null, null, null, null, null, "unknown", 1, 0],
      [moves, "Vogel", "part_number", "B-1", null, null, "2026-02-01", "EUR", "row", 2, 0],
    ]);
  });

  test("ordered prices stand against the contract's", async () => {
    const columns = `lowest_contract_price, highest_contract_price, ordered_count, ordered_above_count, ordered_below_count,
      ordered_valued_count, ordered_contract_amount, ordered_effect_amount, ordered_effect_pct, raised_count, lowered_count`;
    expect(await lines(columns)).toEqual([
      // no quantity
      ["10", "10", 1, 1, 0, 0, null, null, null, null, null],
      // 10 * 0.5 - 4 * 0.5 = 3 of 14 * 2
      ["2", "2", 2, 1, 1, 2, "28", "3", "10.7143", null, null],
      // nothing is a share of 0
      ["0", "0", 1, 1, 0, 1, "0", "3", null, null, null],
      ["1", "1", 0, 0, 0, 0, null, null, null, null, null],
      ["2", "2", 2, 1, 1, 0, null, null, null, 1, 1],
    ]);
  });

  test("invoiced prices stand against the contract's", async () => {
    const columns = `invoiced_count, invoiced_above_count, invoiced_below_count, invoiced_valued_count, invoiced_contract_amount,
      invoiced_effect_amount, invoiced_effect_pct`;
    expect(await lines(columns)).toEqual([
      [0, 0, 0, 0, null, null, null],
      // 8 at 2 as agreed; the other is above, and nothing says how many
      [2, 1, 0, 1, "16", "0", "0"],
      [0, 0, 0, 0, null, null, null],
      [1, 0, 0, 1, "2", "0", "0"],
      [0, 0, 0, 0, null, null, null],
    ]);
  });

  test("amounts are converted by the rate of the order's date, and what has none is counted", async () => {
    const rates = "date,currency,rate\n2026-01-08,EUR,0.5\n2026-01-20,EUR,0.8\n2026-02-01,EUR,2";
    const warehouse = await passing(make({ rows, currency: { report: "USD", rates } }));
    const reported = `lowest_contract_price_reported, highest_contract_price_reported, ordered_contract_amount_reported,
      ordered_effect_amount_reported, invoiced_contract_amount_reported, invoiced_effect_amount_reported, unconverted_count`;
    const order = "source_table, vendor_id, item, uom, month, currency_code";
    expect(await warehouse.lines("price_against_contract", order, reported)).toEqual([
      // 10 / 0.8
      ["12.5", "12.5", null, null, null, null, 0],
      // all by the rate of the 10th: 28 / 0.5, 3 / 0.5, 16 / 0.5
      ["4", "4", "56", "6", "32", "0", 0],
      ["0", "0", "0", "3", null, null, 0],
      // in no known currency
      [null, null, null, null, null, null, 1],
      // one move by the rate of the 1st, of the 15th there is none
      ["1", "1", null, null, null, null, 1],
    ]);
  });
});
