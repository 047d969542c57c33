-- Goods that came in and were not billed yet, as of a date: one row a date and order line, with the value at the ordered
-- price. As of today as in received_not_invoiced; where the stream purchase_order_details keeps its history, also as of the
-- end of each month since it began, by what its tables said then: a receipt or a bill that came to the service later
-- changes no earlier month. Nothing else tells how it was on a date, for receipts and bills of lines bear none. Add up
-- one date and one currency at a time. What nothing said the billing of stands apart, in unclear_quantity and unclear_amount.
-- needs: received_not_invoiced, purchase_orders, amount_currencies, calendar_today, dim_dates, dim_vendors
-- reported: unit_price, accrued_amount, unclear_amount by as_of_date
-- key: _company, as_of_date, po_number, line_index
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column as_of_date: The date: today, or the last day of a month, of which the end counts.
-- column basis: What says it: today, or history.
-- column po_number: Number of the purchase order.
-- column line_index: Position of the line on the order at that date, from 0.
-- column line_no: Line number as it stands on the order; null where the line has none.
-- column vendor_id: Vendor that the service resolves the order to now; null where it resolves none, or lists the order no longer.
-- column vendor_name: The vendor's label as in dim_vendors, else the name that the order list shows.
-- column part_number: Part number on the order line; null where it is not given.
-- column description: What was ordered, in words; null where the line says nothing.
-- column uom: Unit that the quantities are counted in, as written; null where none is given.
-- column received_quantity: How much of the line had come in.
-- column invoiced_quantity: Quantity that invoices had billed; null where nothing was recorded.
-- column accrued_quantity: Received and not billed, more than 0; null where nothing said how much was billed.
-- column unclear_quantity: Received quantity of lines that nothing said the billing of; null for the others.
-- column unit_price: Ordered price of one unit; null where it was not known.
-- column accrued_amount: The accrued quantity at the ordered price; null where either was not known, or is 10^10 and more.
-- column unclear_amount: The unclear quantity at the ordered price; null where either was not known, or is 10^10 and more.
-- column currency_code: Currency of the amount, in no way converted; null where it is not known, and for orders that the service no longer lists.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
with lines as (
  select
    r._company,
    calendar.today as as_of_date,
    'today' as basis,
    r.po_number,
    r.line_index,
    r.line_no,
    r.part_number,
    r.description,
    r.uom,
    r.received_quantity,
    r.invoiced_quantity,
    r.not_invoiced_quantity as accrued_quantity,
    r.unit_price
  from procurement_analytics.received_not_invoiced r
  join procurement_analytics.calendar_today calendar on true
-- with purchase_order_line_items_versions
  union all
  select
    l._company,
    m.as_of_date,
    'history',
    l.po_number,
    l._index,
    l.line_no,
    l.part_number,
    l.description,
    coalesce(l.uom, l.unit),
    l.qty_received,
    l.qty_invoiced,
    l.qty_received - l.qty_invoiced,
    l.unit_price
  from procurement.purchase_order_line_items_versions l
  join (
    select h.company, dates.day as as_of_date, cast(dates.day + 1 as timestamptz) as at
    from _tributary.history h
    join procurement_analytics.calendar_today calendar on true
    join procurement_analytics.dim_dates dates
      on dates.is_month_end
      and dates.day < calendar.today
      and cast(dates.day + 1 as timestamptz) >= h.kept_from
      and cast(dates.day + 1 as timestamptz) < coalesce(h.kept_to, cast(calendar.today + 1 as timestamptz))
    where h.stream = 'purchase_order_details'
  ) m
    on m.company = l._company and l._valid_from <= m.at and (l._valid_to is null or l._valid_to > m.at)
  where l.qty_received > coalesce(l.qty_invoiced, 0)
-- end
)
select
  l._company,
  l.as_of_date,
  l.basis,
  l.po_number,
  l.line_index,
  l.line_no,
  o.vendor_id,
  coalesce(v.vendor_name, o.vendor_name) as vendor_name,
  l.part_number,
  l.description,
  l.uom,
  l.received_quantity,
  l.invoiced_quantity,
  l.accrued_quantity,
  case when l.invoiced_quantity is null then l.received_quantity end as unclear_quantity,
  l.unit_price,
  {{ product('l.accrued_quantity', 'l.unit_price') }} as accrued_amount,
  case when l.invoiced_quantity is null then {{ product('l.received_quantity', 'l.unit_price') }} end as unclear_amount,
  c.currency_code,
  coalesce(c.currency_source, 'unknown') as currency_source
from lines l
left join procurement_analytics.purchase_orders o on o._company = l._company and o.po_number = l.po_number
left join procurement_analytics.amount_currencies c
  on c._company = l._company and c.table_name = 'purchase_orders' and c.row_key = l.po_number
left join procurement_analytics.dim_vendors v on v._company = o._company and v.vendor_id = o.vendor_id
