import { anyJson, flag, id, inRow, list, moment, money, personal, record, text } from "../fields.ts";

/** `change_orders[]` of `GET /po/{po_number}/change-orders`. */
export const purchaseOrderChangeOrder = record(
  "Change orders: what was changed on each purchase order after it was placed.",
  {
    change_order_id: id().describe("The service's identifier of the change order."),
    change_type: text()
      .nullable()
      .describe("What is changed on the order, by the service's own labels, which are not documented."),
    description: text().nullable().describe("What is changed, in words; null where nothing is said."),
    created_at: moment().nullable().describe("When the change order was made; null where that is not known."),
    created_by: personal(text()).nullable().describe("Who made the change order; null where that is not known."),
    vendor_acked: flag()
      .nullable()
      .describe("Whether the vendor has acknowledged the change; null where that is not known."),
    line_items: list().describe("Lines that are changed, a list whose content is not documented, kept as JSON."),
    decision_status: text()
      .nullable()
      .describe("How the change was decided, as the service names it; values not documented."),
  },
);

/** `GET /po/{po_number}/blanket-releases`. */
export const purchaseOrderBlanketReleases = record(
  "Releases against each purchase order where it is a blanket order.",
  {
    releases: list().describe("The order's releases, a list whose content is not documented, kept as JSON."),
    summary: anyJson().nullable().describe("What the releases come to; any JSON value, content not documented."),
  },
);

const inAnswerCurrency = inRow("currency_code");

/** `GET /orders/{po_number}/landed-cost`. */
export const purchaseOrderLandedCost = record(
  "What each purchase order costs once it has arrived: goods, freight, duty and the rest.",
  {
    currency_code: text().nullable().describe("Currency of the row's amounts; null where the service names none."),
    po_number: id().describe("The order, the same as purchase_orders.po_number."),
    line_items: list().describe("Cost by order line, a list whose content is not documented, kept as JSON."),
    total_landed: money(inAnswerCurrency)
      .nullable()
      .describe("Cost of the order with everything on top; null where not known."),
    freight_total: money(inAnswerCurrency).nullable().describe("Freight on the order in all; null where not known."),
    duty_total: money(inAnswerCurrency).nullable().describe("Duty on the order in all; null where not known."),
    other_total: money(inAnswerCurrency)
      .nullable()
      .describe("Other cost on top of the order in all; null where not known."),
  },
);
