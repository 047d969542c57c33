import {
  date,
  id,
  inRow,
  inTable,
  lineId,
  moment,
  money,
  percent,
  personal,
  quantity,
  score,
  table,
  text,
} from "./fields.ts";

const inDocumentCurrency = inTable("ingested", "currency_code", "id = doc_id, an assumed join");

/** `line_items[]` of `GET /reconciliation/{doc_id}/line-items`. */
export const invoiceLineItems = table(
  "invoice_line_items",
  "Lines of each invoice beside the order's and the receipt's side of the same line.",
  {
    id: id().nullable().describe("The service's identifier of the row; how it differs from line_id is not documented."),
    line_id: lineId(id()).nullable().describe("The service's identifier of the invoice line; null where it has none."),
    line_no: id()
      .nullable()
      .describe("Line number as it stands on the invoice; text, and null where the line has none."),
    description: text().nullable().describe("What is billed, in words; null where the line says nothing."),
    buyer_part_number: text()
      .nullable()
      .describe("What the buying company calls the part, as printed on the invoice; null where it is not given."),
    vendor_part_number: text()
      .nullable()
      .describe("What the vendor calls the part in its own catalogue; null where it is not given."),
    manufacturer_part_number: text()
      .nullable()
      .describe("What the maker calls the part, whoever sells it; null where not given."),
    uom: text().nullable().describe("Unit of measure of the line's quantities; null where it is not given."),
    po_qty: quantity()
      .nullable()
      .describe("Quantity on the order's side; invoice_matches.po_qty_label says what the service calls it."),
    invoice_qty: quantity().nullable().describe("Quantity that the invoice bills; null where none was read."),
    received_qty: quantity().nullable().describe("Quantity that was received; null where no receipt is known."),
    po_unit_price: money(inDocumentCurrency)
      .nullable()
      .describe("Price of one unit on the order; null where no order line was found."),
    invoice_unit_price: money(inDocumentCurrency).nullable().describe("Price of one unit as the invoice bills it."),
    line_total: money(inDocumentCurrency).nullable().describe("Total of the invoice line; null where none was read."),
    status: text().nullable().describe("How the line compares, as the service names it; values not documented."),
    gl_account_code: text()
      .nullable()
      .describe("General ledger account the line is booked to; null while it is not coded."),
    gl_cost_center: text().nullable().describe("Cost centre the line is booked to; null while it is not coded."),
    gl_confidence: score().nullable().describe("How sure the service is of the coding; the scale is not documented."),
    gl_coded_by: personal(text())
      .nullable()
      .describe("Who coded the line, as the service names it; null while it is not coded."),
    gl_coded_at: moment().nullable().describe("When the line was coded; null while it is not coded."),
    expected_price: money(inRow("expected_price_currency"))
      .nullable()
      .describe(
        "What one unit should cost by expected_price_source, in expected_price_currency; null where nothing was expected.",
      ),
    expected_price_source: text()
      .nullable()
      .describe("Where the expected price comes from, as the service names it; values not documented."),
    expected_price_effective_date: date()
      .nullable()
      .describe("Day from which the expected price applies; null where that is not known."),
    expected_price_currency: text()
      .nullable()
      .describe("Currency code that expected_price is in, such as USD; null where it is not known."),
    price_vs_expected_pct: percent()
      .nullable()
      .describe(
        "How far the billed price is from the expected one, in the service's own percentage unit; sign not documented.",
      ),
  },
);
