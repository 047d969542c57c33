-- Each invoice line beside the order's and the receipt's side of the same line: quantities, prices, how far they are
-- apart, what that is worth, and a verdict. The comparison is exact: the company's tolerances are not applied, because
-- their unit is not documented; filter price_difference_pct by your own. A line is compared alone: what several
-- invoices bill together for one order line is not seen here, see over_invoiced_quantity in purchase_order_fulfilment.
-- needs: invoices, invoice_line_differences, amount_currencies, dim_vendors
-- optional: invoice_matches
-- key: _company, doc_id, line_index
-- references: doc_id -> invoices.doc_id
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: po_unit_price, invoice_unit_price, line_total, price_difference, price_effect_amount, not_received_amount, extension_difference by document_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column doc_id: The invoice document.
-- column line_index: Position of the line on the invoice, from 0.
-- column line_no: Line number as it stands on the invoice; null where the line has none.
-- column vendor_id: Vendor the service resolved the invoice to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the invoice list shows.
-- column document_number: Invoice number printed on the document; null where none was read.
-- column document_date: Calendar date on the invoice; null where none was read.
-- column matched_po_number: Purchase order the service matched the invoice with, one at most; null where it matched none.
-- column description: What is billed, in words; null where the line says nothing.
-- column buyer_part_number: What the buying company calls the part; null where it is not given.
-- column vendor_part_number: What the vendor calls the part in its own catalogue; null where it is not given.
-- column manufacturer_part_number: What the maker calls the part, whoever sells it; null where it is not given.
-- column uom: Unit of measure of the quantities; null where it is not given.
-- column po_qty: Quantity on the order's side; po_qty_label says which, null where no order line was found.
-- column po_qty_label: What the service calls the quantity in po_qty, for example what was ordered or what is still open; read it before you judge quantity_over_order. Null where the invoice's match is not loaded.
-- column received_qty: Quantity that was received; null where no receipt is known.
-- column invoice_qty: Quantity that the invoice bills; null where none was read.
-- column po_unit_price: Price of one unit on the order; null where no order line was found.
-- column invoice_unit_price: Price of one unit as the invoice bills it; null where none was read.
-- column line_total: Total of the invoice line; null where none was read.
-- column quantity_over_order: Billed less ordered quantity, below 0 where less is billed; null where either is not known.
-- column quantity_over_receipt: Billed less received quantity, below 0 where less is billed; null where either is not known.
-- column price_difference: Billed less ordered price of one unit, below 0 where the bill is cheaper; null where either is not known.
-- column price_difference_pct: That difference in percent of the ordered price; null where it is not known or the ordered price is 0.
-- column price_effect_amount: What the difference in price makes over the billed quantity; above 0 is paid too much.
-- column not_received_amount: What is billed beyond the received quantity, at the billed price, 0 where nothing is; null where no receipt is known.
-- column extension_difference: Line total less billed quantity times billed price: what the line's own arithmetic, discounts included, is off by.
-- column quantity_verdict: within, above order, above receipt, above order and receipt, no receipt, no order, or not known.
-- column price_verdict: equal, above order, below order, no order, or not known.
-- column verdict: matched, price differs, quantity differs, price and quantity differ, no order, no receipt, or not known where the invoice's own figures are missing. Billing less than was ordered or received is no difference.
-- column line_status: How the line compares in the service's words; values not documented.
-- column match_status: Outcome of matching the whole invoice in the service's words; the full list of values is not documented.
-- column match_verdict: The service's conclusion from matching the whole invoice; values not documented, null where the match is not loaded.
-- column currency_code: Currency of the amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
select
  lines._company,
  lines.doc_id,
  lines.line_index,
  lines.line_no,
  invoices.vendor_id,
  coalesce(names.vendor_name, invoices.vendor_name) as vendor_name,
  invoices.document_number,
  invoices.document_date,
  invoices.matched_po_number,
  lines.description,
  lines.buyer_part_number,
  lines.vendor_part_number,
  lines.manufacturer_part_number,
  lines.uom,
  lines.po_qty,
-- with invoice_matches
  matches.po_qty_label,
-- end
-- without invoice_matches
-- |   cast(null as text) as po_qty_label,
-- end
  lines.received_qty,
  lines.invoice_qty,
  lines.po_unit_price,
  lines.invoice_unit_price,
  lines.line_total,
  lines.quantity_over_order,
  lines.quantity_over_receipt,
  lines.price_difference,
  lines.price_difference_pct,
  lines.price_effect_amount,
  lines.not_received_amount,
  lines.extension_difference,
  lines.quantity_verdict,
  lines.price_verdict,
  lines.verdict,
  lines.line_status,
  invoices.match_status,
-- with invoice_matches
  matches.match_verdict,
-- end
-- without invoice_matches
-- |   cast(null as text) as match_verdict,
-- end
  currencies.currency_code,
  coalesce(currencies.currency_source, 'unknown') as currency_source
from procurement_analytics.invoice_line_differences lines
join procurement_analytics.invoices invoices
  on invoices._company = lines._company and invoices.doc_id = lines.doc_id
-- with invoice_matches
left join procurement_analytics.invoice_matches matches
  on matches._company = lines._company and matches.doc_id = lines.doc_id
-- end
left join procurement_analytics.amount_currencies currencies
  on currencies._company = lines._company
  and currencies.table_name = 'invoices'
  and currencies.row_key = lines.doc_id
left join procurement_analytics.dim_vendors names
  on names._company = invoices._company and names.vendor_id = invoices.vendor_id
