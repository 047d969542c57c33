-- What was ordered, received and invoiced on each line of each purchase order, one row a line; an order whose lines are
-- not known has one row without a line. A quantity that nothing is recorded of is not known, and so is what would follow
-- from it. Add the rows up by order, vendor or part, one currency at a time.
-- needs: purchase_orders, purchase_order_line_items, amount_currencies, dim_vendors
-- key: _company, po_number, line_index
-- references: po_number -> purchase_orders.po_number
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: unit_price, invoice_unit_price, ordered_amount, received_amount, invoiced_amount, open_amount by po_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column po_number: Number of the purchase order.
-- column line_index: Position of the line on the order, from 0; null where the order's lines are not known.
-- column line_no: Line number as it stands on the order; null where the line has none.
-- column vendor_id: Vendor the service resolved the order to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the order list shows.
-- column po_date: Calendar date of the order; null where it is not known.
-- column is_open: Whether the order is open, as `meanings.open` in the configuration says.
-- column part_number: Part number on the order line; null where it is not given.
-- column vendor_part_number: What the vendor calls the part in its own catalogue; null where it is not given.
-- column manufacturer_part_number: What the maker calls the part, whoever sells it; null where it is not given.
-- column description: What is ordered, in words; null where the line says nothing.
-- column uom: Unit that the line's quantities are counted in, as written; null where none is given.
-- column ordered_quantity: Quantity ordered, in the line's unit; null where it is not known.
-- column acknowledged_quantity: Quantity that the vendor acknowledged; null without an acknowledgement.
-- column shipped_quantity: Quantity that the vendor has shipped; null where nothing is recorded.
-- column received_quantity: Quantity received so far; null where nothing is recorded.
-- column accepted_quantity: Part of the delivery that was accepted; null where nothing is recorded.
-- column rejected_quantity: Part of the delivery that was rejected; null where nothing is recorded.
-- column invoiced_quantity: Quantity that invoices have billed; null where nothing is recorded.
-- column open_quantity: Ordered and not yet received, never below 0; null where either is not known, but 0 where nothing was ordered.
-- column over_received_quantity: Received beyond what was ordered, 0 where nothing is; null where either is not known.
-- column not_invoiced_quantity: Received and not yet invoiced, never below 0; null where either is not known.
-- column over_invoiced_quantity: Invoiced beyond what was ordered, 0 where nothing is; null where either is not known.
-- column unit_price: Ordered price of one unit; null where it is not known.
-- column invoice_unit_price: Price of one unit as invoiced; null until an invoice is found.
-- column ordered_amount: Value of the line, its own total or else quantity times price; of the whole order where its lines are not known. Null where none of these is known.
-- column received_amount: Received quantity at the ordered price; null where either is not known.
-- column invoiced_amount: Invoiced quantity at the invoiced price; null where either is not known.
-- column open_amount: Quantity still to come at the ordered price; null where either is not known.
-- column received_share: Received over ordered quantity, 1 for all of it; null where either is not known or nothing was ordered.
-- column invoiced_share: Invoiced over ordered quantity, 1 for all of it; null where either is not known or nothing was ordered.
-- column receipt_standing: Worked out from the quantities: not received, partly received, received, over-received, nothing ordered, or not known, as for returns and where no receipt is recorded.
-- column invoice_standing: Worked out from the quantities: not invoiced, partly invoiced, invoiced, over-invoiced, nothing ordered, or not known, as for returns and where no bill is recorded.
-- column expected_date: Day on which the line is expected; null when no day is known.
-- column delivered_date: Day of delivery as recorded on the line, else the day the service settled on, else the carrier's; null until then.
-- column on_time: Whether the line came on time in the service's judgement; null while undecided.
-- column is_late: Whether the line came late, as `meanings.late` in the configuration says; null while nothing tells.
-- column in_full: Whether the whole quantity came in the service's judgement; null while undecided.
-- column currency_code: Currency of the row's amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
with lines as (
  select
    _company,
    po_number,
    _index as line_index,
    line_no,
    part_number,
    vendor_part_number,
    manufacturer_part_number,
    description,
    coalesce(uom, unit) as uom,
    coalesce(qty_ordered, quantity) as ordered,
    qty_acked,
    qty_shipped,
    qty_received as received,
    qty_accepted,
    qty_rejected,
    qty_invoiced as invoiced,
    case when coalesce(qty_ordered, quantity) <= 0 then 0 else coalesce(qty_ordered, quantity) - qty_received end as to_come,
    unit_price,
    invoice_unit_price,
    coalesce(line_total, amount) as line_amount,
    -- Quotients of larger figures have no room in DuckDB's widest decimal and would end the whole query.
    case when abs(coalesce(qty_ordered, quantity)) < 10000000000 then coalesce(qty_ordered, quantity) end as some_ordered,
    case when abs(qty_received) < 10000000000 then qty_received end as some_received,
    case when abs(qty_invoiced) < 10000000000 then qty_invoiced end as some_invoiced,
    expected_date,
    coalesce(actual_delivery_date, actual_date, carrier_delivered_date) as delivered_date,
    on_time,
    {{ meaning('late', 'items') }} as is_late,
    in_full
  from procurement_analytics.purchase_order_line_items items
)
select
  orders._company,
  orders.po_number,
  lines.line_index,
  lines.line_no,
  orders.vendor_id,
  coalesce(names.vendor_name, orders.vendor_name) as vendor_name,
  orders.po_date,
  {{ meaning('open', 'orders') }} as is_open,
  lines.part_number,
  lines.vendor_part_number,
  lines.manufacturer_part_number,
  lines.description,
  lines.uom,
  lines.ordered as ordered_quantity,
  lines.qty_acked as acknowledged_quantity,
  lines.qty_shipped as shipped_quantity,
  lines.received as received_quantity,
  lines.qty_accepted as accepted_quantity,
  lines.qty_rejected as rejected_quantity,
  lines.invoiced as invoiced_quantity,
  case when lines.to_come < 0 then 0 else lines.to_come end as open_quantity,
  case when lines.received < lines.ordered then 0 else lines.received - lines.ordered end as over_received_quantity,
  case when lines.received < lines.invoiced then 0 else lines.received - lines.invoiced end as not_invoiced_quantity,
  case when lines.invoiced < lines.ordered then 0 else lines.invoiced - lines.ordered end as over_invoiced_quantity,
  lines.unit_price,
  lines.invoice_unit_price,
  case
    when lines.line_index is null then orders.total_amount
    else coalesce(lines.line_amount, {{ product('lines.ordered', 'lines.unit_price') }})
  end as ordered_amount,
  {{ product('lines.received', 'lines.unit_price') }} as received_amount,
  {{ product('lines.invoiced', 'lines.invoice_unit_price') }} as invoiced_amount,
  case when lines.to_come <= 0 then 0 else {{ product('lines.to_come', 'lines.unit_price') }} end as open_amount,
  round(
    cast(
      cast(lines.some_received as double precision) / nullif(cast(lines.some_ordered as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as received_share,
  round(
    cast(
      cast(lines.some_invoiced as double precision) / nullif(cast(lines.some_ordered as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as invoiced_share,
  case
    when lines.ordered is null or lines.ordered < 0 then 'not known'
    when lines.ordered = 0 and coalesce(lines.received, 0) = 0 then 'nothing ordered'
    when lines.received is null then 'not known'
    when lines.received > lines.ordered then 'over-received'
    when lines.received = lines.ordered then 'received'
    when lines.received > 0 then 'partly received'
    else 'not received'
  end as receipt_standing,
  case
    when lines.ordered is null or lines.ordered < 0 then 'not known'
    when lines.ordered = 0 and coalesce(lines.invoiced, 0) = 0 then 'nothing ordered'
    when lines.invoiced is null then 'not known'
    when lines.invoiced > lines.ordered then 'over-invoiced'
    when lines.invoiced = lines.ordered then 'invoiced'
    when lines.invoiced > 0 then 'partly invoiced'
    else 'not invoiced'
  end as invoice_standing,
  lines.expected_date,
  lines.delivered_date,
  lines.on_time,
  lines.is_late,
  lines.in_full,
  currencies.currency_code,
  coalesce(currencies.currency_source, 'unknown') as currency_source
from procurement_analytics.purchase_orders orders
left join lines on lines._company = orders._company and lines.po_number = orders.po_number
left join procurement_analytics.amount_currencies currencies
  on currencies._company = orders._company
  and currencies.table_name = 'purchase_orders'
  and currencies.row_key = orders.po_number
left join procurement_analytics.dim_vendors names
  on names._company = orders._company and names.vendor_id = orders.vendor_id
