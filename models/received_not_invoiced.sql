-- Goods that came in and have not been billed yet, one row an order line, with their value at the ordered price and
-- how long ago they came: what a company accrues at the end of a month. Where nothing says how much of a line was billed,
-- its quantity and value stand apart, in unclear_quantity and unclear_amount. Rejected goods are not taken off, because the
-- service does not say whether received includes them; they stand in a column of their own.
-- needs: purchase_order_fulfilment, calendar_today
-- optional: invoices
-- key: _company, po_number, line_index
-- references: po_number -> purchase_orders.po_number
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: unit_price, not_invoiced_amount, unclear_amount by po_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column po_number: Number of the purchase order.
-- column line_index: Position of the line on the order, from 0.
-- column line_no: Line number as it stands on the order; null where the line has none.
-- column vendor_id: Vendor the service resolved the order to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the order list shows.
-- column po_date: Calendar date of the order; null where it is not known.
-- column is_open: Whether the order is open, as `meanings.open` in the configuration says.
-- column part_number: Part number on the order line; null where it is not given.
-- column description: What was ordered, in words; null where the line says nothing.
-- column uom: Unit that the quantities are counted in, as written; null where none is given.
-- column received_quantity: How much of the line came in so far, in its unit.
-- column rejected_quantity: Part of the delivery that was rejected; null where nothing is recorded.
-- column invoiced_quantity: Quantity that invoices have billed; null where nothing is recorded.
-- column not_invoiced_quantity: Received and not yet invoiced, more than 0; null where nothing says how much was billed.
-- column unit_price: Ordered price of one unit; null where it is not known.
-- column not_invoiced_amount: That quantity at the ordered price; null where either is not known.
-- column unclear_quantity: Received quantity of lines that nothing says the billing of; null for the others.
-- column unclear_amount: That quantity at the ordered price; null where either is not known.
-- column delivered_date: Day of delivery, as in purchase_order_fulfilment; null where no day is known.
-- column days_since_delivery: Days from that day until today; null where no day is known.
-- column age_bucket: Those days in groups: 0-30 days, 31-60 days, 61-90 days, over 90 days, or no date.
-- column matched_invoice_count: How many invoices the service matched to the order as a whole; more than 0 says that a bill may be there without its lines. Null where invoices are not loaded.
-- column currency_code: Currency of the amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
select
  lines._company,
  lines.po_number,
  lines.line_index,
  lines.line_no,
  lines.vendor_id,
  lines.vendor_name,
  lines.po_date,
  lines.is_open,
  lines.part_number,
  lines.description,
  lines.uom,
  lines.received_quantity,
  lines.rejected_quantity,
  lines.invoiced_quantity,
  lines.not_invoiced_quantity,
  lines.unit_price,
  {{ product('lines.not_invoiced_quantity', 'lines.unit_price') }} as not_invoiced_amount,
  case when lines.invoiced_quantity is null then lines.received_quantity end as unclear_quantity,
  case when lines.invoiced_quantity is null then lines.received_amount end as unclear_amount,
  lines.delivered_date,
  cast(calendar.today - lines.delivered_date as bigint) as days_since_delivery,
  case
    when lines.delivered_date is null then 'no date'
    when calendar.today - lines.delivered_date <= 30 then '0-30 days'
    when calendar.today - lines.delivered_date <= 60 then '31-60 days'
    when calendar.today - lines.delivered_date <= 90 then '61-90 days'
    else 'over 90 days'
  end as age_bucket,
-- with invoices
  coalesce(matched.invoice_count, 0) as matched_invoice_count,
-- end
-- without invoices
-- |   cast(null as bigint) as matched_invoice_count,
-- end
  lines.currency_code,
  lines.currency_source
from procurement_analytics.purchase_order_fulfilment lines
join procurement_analytics.calendar_today calendar on true
-- with invoices
left join (
  select _company, matched_po_number, count(*) as invoice_count
  from procurement_analytics.invoices
  where matched_po_number is not null
  group by _company, matched_po_number
) matched on matched._company = lines._company and matched.matched_po_number = lines.po_number
-- end
where lines.not_invoiced_quantity > 0 or (lines.received_quantity > 0 and lines.invoiced_quantity is null)
