import { describe, expect, test } from "vitest";
import { modelWarehouses, suiteWarehouse } from "./warehouse.ts";

describe.each(modelWarehouses)("names of vendors in $name", ({ make }) => {
  const warehouse = suiteWarehouse(() =>
    make({
      rows: {
        invoices: [
          { doc_id: "I-1", vendor_id: "V-1", vendor_name_raw: "Raw Ltd", hold_reason: "price" },
          { doc_id: "I-2", vendor_name: "Nobody resolved", hold_reason: "price" },
        ],
        invoice_matches: [{ doc_id: "I-1" }],
        invoice_line_items: [{ doc_id: "I-1", _index: 0 }],
        purchase_orders: [{ po_number: "PO-1", vendor_id: "V-1", is_open: true }],
        purchase_order_line_items: [{ po_number: "PO-1", _index: 0, qty_ordered: "2", qty_received: "2" }],
        findings: [{ finding_item_id: "F-1", vendor_id: "V-1", kind: "finding", amount_declared: true }],
        contracts: [{ contract_id: "C-1", vendor_id: "V-1" }],
      },
    }),
  );

  test("a vendor that any table names has that name in every model, also where the row itself has none", async () => {
    const models = ["spend_by_vendor_month", "invoice_exceptions", "three_way_match", "open_purchase_orders"];
    const more = ["purchase_order_fulfilment", "received_not_invoiced", "findings_value", "contract_utilisation"];
    const payables = ["spend_cube", "spend_without_order", "payables_ageing", "days_payable", "discounts", "accruals"];
    for (const model of [...models, ...more, ...payables, "vendor_scorecard"]) {
      const names = await warehouse.query(
        `select distinct vendor_id, vendor_name from procurement_analytics.${model} where vendor_id = 'V-1'`,
      );
      expect({ model, names }).toEqual({ model, names: [{ vendor_id: "V-1", vendor_name: "Raw Ltd" }] });
    }
    const [unresolved] = await warehouse.query(
      "select vendor_name from procurement_analytics.invoice_exceptions where doc_id = 'I-2'",
    );
    expect(unresolved).toEqual({ vendor_name: "Nobody resolved" });
  });
});
