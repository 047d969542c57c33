import { describe, expect, test } from "vitest";
import { passing } from "../support/warehouse.ts";
import { huge, profile } from "./rows.ts";
import { type Contents, type ModelWarehouse, modelWarehouses, type Row } from "./warehouse.ts";

const order = (po_number: string, more: Row = {}): Row => ({ po_number, is_open: true, vendor_id: "V1", ...more });
const line = (po_number: string, _index: number, more: Row): Row => ({
  ...{ po_number, _index, line_no: "10", part_number: "P-1", description: "Bolts", unit: "box", ...more },
});
const quantities = (qty_received: string | null, qty_invoiced: string | null, unit_price: string | null): Row => ({
  ...{ qty_received, qty_invoiced, unit_price },
});
const valid = (from: string, to: string | null): Row => ({
  _valid_from: `${from}T12:00:00Z`,
  _valid_to: to === null ? null : `${to}T12:00:00Z`,
});

/** As the tables are now; today is 2026-03-15. */
const rows = {
  company_profile: [profile("EUR")],
  purchase_orders: [
    order("PO-1", { vendor_name: "Vogel" }),
    order("PO-2", { _deleted_at: "2026-02-10T12:00:00Z" }),
    order("PO-1", { _company: "beta", vendor_id: null, vendor_name: "Unresolved" }),
  ],
  purchase_order_details: [],
  purchase_order_line_items: [
    line("PO-1", 0, quantities("10", "8", "5")),
    line("PO-1", 1, quantities("3", "3", "4")),
    line("PO-1", 2, quantities(huge, null, "4")),
    line("PO-1", 0, { ...quantities("7", null, "1"), _company: "beta" }),
  ],
} satisfies Contents["rows"];

const versions = [
  line("PO-1", 0, { ...quantities("10", null, "5"), ...valid("2026-01-10", "2026-02-05") }),
  line("PO-1", 0, { ...quantities("10", "8", "5"), ...valid("2026-02-05", null) }),
  line("PO-1", 1, { ...quantities("3", "0", null), ...valid("2026-02-20", "2026-03-02") }),
  line("PO-1", 1, { ...quantities("3", "3", "4"), ...valid("2026-03-02", null) }),
  line("PO-1", 2, { ...quantities(huge, null, "4"), ...valid("2026-03-02", null) }),
  line("PO-2", 0, { ...quantities("4", "1", "2"), ...valid("2026-01-15", "2026-02-10") }),
  line("PO-1", 0, { ...quantities("7", null, "1"), ...valid("2026-01-10", null), _company: "beta" }),
];

const columns = `_company, as_of_date, basis, po_number, line_index, vendor_id, vendor_name, received_quantity,
  invoiced_quantity, accrued_quantity, unclear_quantity, unit_price, accrued_amount, unclear_amount, currency_code, currency_source`;
const answer = (warehouse: ModelWarehouse) =>
  warehouse.lines("accruals", "_company, as_of_date, po_number, line_index", columns);

const acme = ["EUR", "company"];
const today = [
  // 2 at 5
  ["acme", "2026-03-15", "today", "PO-1", 0, "V1", "Vogel", "10", "8", "2", null, "5", "10", null, ...acme],
  // nothing says what was billed of it
  ["acme", "2026-03-15", "today", "PO-1", 2, "V1", "Vogel", huge, null, null, huge, "4", null, null, ...acme],
];
const ofBeta = ["PO-1", 0, null, "Unresolved", "7", null, null, "7", "1", null, "7", null, "unknown"];
const todayOfBeta = [["beta", "2026-03-15", "today", ...ofBeta]];

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("accruals in $name", ({ make }) => {
  test("without a history they are as of today alone", async () => {
    const warehouse = await passing(make({ rows }));
    expect(await answer(warehouse)).toEqual([...today, ...todayOfBeta]);
  });

  test("with one they are as of the end of each month that it covers, by what the tables said then", async () => {
    const warehouse = await passing(make({ rows: { ...rows, purchase_order_line_items_versions: versions } }));
    await warehouse.query(`insert into _tributary.history (company, stream, kept_from, kept_to) values
      ('acme', 'purchase_order_details', '2026-01-05T00:00:00Z', null),
      ('acme', 'purchase_orders', '2020-01-05T00:00:00Z', null),
      ('beta', 'purchase_order_details', '2026-01-05T00:00:00Z', '2026-02-15T00:00:00Z')`);
    expect(await answer(warehouse)).toEqual([
      // 10 at 5, of which nothing says yet what was billed
      ["acme", "2026-01-31", "history", "PO-1", 0, "V1", "Vogel", "10", null, null, "10", "5", null, "50", ...acme],
      // 3 at 2; the order is no longer listed
      ["acme", "2026-01-31", "history", "PO-2", 0, null, null, "4", "1", "3", null, "2", "6", null, null, "unknown"],
      ["acme", "2026-02-28", "history", "PO-1", 0, "V1", "Vogel", "10", "8", "2", null, "5", "10", null, ...acme],
      ["acme", "2026-02-28", "history", "PO-1", 1, "V1", "Vogel", "3", "0", "3", null, null, null, null, ...acme],
      ...today,
      // until the middle of February alone
      ["beta", "2026-01-31", "history", ...ofBeta],
      ...todayOfBeta,
    ]);
  });
});
