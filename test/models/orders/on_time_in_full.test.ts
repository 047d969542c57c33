import { describe, expect, test } from "vitest";
import { gone } from "../rows.ts";
import { toldTo } from "../tellings.ts";
import { modelWarehouses, type Row, suiteWarehouse } from "../warehouse.ts";

const line = (po_number: string, _index: number, more: Row): Row => ({ po_number, _index, ...more });

const rows = {
  purchase_orders: [
    { po_number: "P1", is_open: true, vendor_id: "V1", vendor_name: "Vogel" },
    { po_number: "P2", is_open: true, vendor_id: "V1", vendor_name: "Vogel" },
    { po_number: "P3", is_open: true },
  ],
  purchase_order_line_items: [
    line("P1", 0, {
      actual_delivery_date: "2026-01-10",
      actual_date: "2026-02-10",
      po_requested_date: "2026-01-10",
      ack_promised_date: "2026-01-09",
      on_time: true,
      in_full: true,
      qty_ordered: "10",
      quantity: "11",
      qty_received: "10",
    }),
    line("P1", 1, {
      actual_date: "2026-01-12",
      carrier_delivered_date: "2026-01-01",
      po_requested_date: "2026-01-11",
      ack_promised_date: "2026-01-12",
      email_promised_date: "2026-01-15",
      on_time: false,
      quantity: "5",
      qty_received: "4",
    }),
    line("P1", 2, {
      carrier_delivered_date: "2026-01-20",
      ack_promised_date: "2026-01-19",
      email_promised_date: "2026-01-25",
      in_full: true,
    }),
    line("P2", 0, { actual_date: "2026-01-31", qty_ordered: "0", qty_received: "0" }),
    line("P2", 1, { po_requested_date: "2026-01-01", qty_ordered: "10" }),
    line("P2", 2, { actual_date: "2026-01-31", on_time: true, _deleted_at: gone }),
    line("P3", 0, {
      actual_date: "2026-02-01",
      po_requested_date: "2026-02-02",
      on_time: true,
      in_full: false,
      qty_ordered: "3",
      qty_received: "5",
    }),
    line("of no listed order", 0, { actual_date: "2026-02-01", on_time: true }),
  ],
} satisfies Record<string, Row[]>;

/** The answers, worked out by hand from the rows above. */
describe.each(modelWarehouses)("on time in full in $name", ({ name, make }) => {
  const warehouse = suiteWarehouse(() => make(toldTo(name, rows)));

  const columns = (pattern: string) =>
    warehouse.model("on_time_in_full", "_company, vendor_id, month", `vendor_name, month, ${pattern}`);

  test("what the service says has its denominators", async () => {
    const said = `line_count, said_both_count, said_one_count, said_nothing_count, said_on_time_known_count, said_on_time_count,
      said_on_time_share, said_in_full_known_count, said_in_full_count, said_in_full_share, said_otif_count, said_otif_share`;
    expect((await columns(said)).map(Object.values)).toEqual([
      ["Vogel", "2026-01-01", 4, 1, 2, 1, 2, 1, "0.5", 2, 2, "1", 1, "1"],
      // not delivered
      ["Vogel", null, 1, 0, 0, 1, 0, 0, null, 0, 0, null, 0, null],
      [null, "2026-02-01", 1, 1, 0, 0, 1, 1, "1", 1, 0, "0", 0, "0"],
    ]);
  });

  test("what dates and quantities show stands apart, and promises that disagree show nothing", async () => {
    const shown = `shown_request_count, shown_by_request_count, shown_by_request_share, shown_promise_count, shown_by_promise_count,
      shown_by_promise_share, shown_promise_disagrees_count, shown_quantity_count, shown_full_quantity_count,
      shown_full_quantity_share, shown_request_both_count, shown_request_otif_count, shown_request_otif_share,
      shown_promise_both_count, shown_promise_otif_count, shown_promise_otif_share`;
    expect((await columns(shown)).map(Object.values)).toEqual([
      // by request the first is in time and whole, the second late and short; by promise the first late, the second short
      ["Vogel", "2026-01-01", 2, 1, "0.5", 2, 1, "0.5", 1, 2, 1, "0.5", 2, 1, "0.5", 2, 0, "0"],
      ["Vogel", null, 0, 0, null, 0, 0, null, 0, 0, 0, null, 0, 0, null, 0, 0, null],
      [null, "2026-02-01", 1, 1, "1", 0, 0, null, 0, 1, 1, "1", 1, 1, "1", 0, 0, null],
    ]);
  });
});
