import { date, id, inRow, lineId, money, table, text } from "./fields.ts";

/** `price_moves[]` of `GET /po/{po_number}`. */
export const purchaseOrderPriceMoves = table(
  "purchase_order_price_moves",
  "Price changes that the service connects with each purchase order.",
  {
    part_number: text().nullable().describe("Part whose price moved; null where the change is not about one part."),
    scope: text().nullable().describe("What the change covers, as the service names it; values not documented."),
    prior_price: money(inRow("currency")).nullable().describe("Price before the change; null where it is not known."),
    price: money(inRow("currency")).describe("Price after the change."),
    currency: text().nullable().describe("Currency of both prices; null where the service gives none."),
    change_pct: text()
      .nullable()
      .describe("How large the change is, as the service writes it: a text that may bear a percent sign."),
    effective_date: date().nullable().describe("Day from which the new price applies; null where that is not known."),
    fact_id: lineId(id())
      .nullable()
      .describe("The fact on the service's record that tells of the change; null where none is named."),
    comm_id: id().nullable().describe("The communication that told of the change; null where it came another way."),
  },
);
