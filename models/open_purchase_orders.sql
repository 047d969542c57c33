-- Purchase orders that are open (`meanings.open` in the configuration: as the service counts them), one row an order: how old they are, how late their delivery is as
-- of today, and how much of them is still to come.
-- needs: purchase_orders, amount_currencies, calendar_today, dim_vendors
-- optional: purchase_order_fulfilment
-- key: _company, po_number
-- references: po_number -> purchase_orders.po_number
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: ordered_amount, received_amount, open_amount by po_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column po_number: Number of the purchase order.
-- column vendor_id: Vendor the service resolved the order to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the order list shows.
-- column delivery_site_name: Name of the site that the order is to be delivered to; null if unknown.
-- column po_date: Calendar date of the order; null where it is not known.
-- column days_open: Days from the order's date until today; null where the date is not known.
-- column age_bucket: Those days in groups: 0-30 days, 31-60 days, 61-90 days, over 90 days, or no date.
-- column expected_date: Day on which the next delivery is expected, else the day the vendor promised, else the day the buyer asked for; null where there is none.
-- column expected_date_basis: Which of those days it is: next expected, promised or requested; null without a day.
-- column days_late: Days that expected_date has passed by, as of today; 0 where it has not, or where the lines show everything as received. Null without a day.
-- column lateness_bucket: Those days in groups: not late, 1-7 days, 8-30 days, 31-90 days, over 90 days, or no date.
-- column days_past_promise: Days since the day that the vendor promised, below 0 while it lies ahead; null without a promise.
-- column days_past_request: Days since the day that the buyer asked for, below 0 while it lies ahead; null without one.
-- column days_late_reported: Days late by the service's own account when the order was last read; null where it gives none.
-- column delivery_standing: Where the delivery stands, as the service names it; the full list of values is not documented.
-- column fulfillment_state: How far the order is fulfilled, as the service names it; the values are not documented.
-- column line_count: How many lines of the order are known; null where lines are not loaded.
-- column open_line_count: How many of them still have a quantity to come; null where lines are not loaded.
-- column unclear_line_count: How many of them don't say what is to come, as where no receipt is recorded; null where lines are not loaded.
-- column ordered_amount: Value of the whole order; null where it is not known.
-- column received_amount: What came in of it, at the ordered prices; null where no line tells.
-- column open_amount: What is still to come, at the ordered prices; where a line lacks a quantity or its price, or no line is known, the value of the whole order.
-- column open_amount_basis: What open_amount rests on: lines, or order for the value of the whole order; null where neither is known.
-- column open_findings_count: How many findings about the order are open, by the service's count; null where it gives none.
-- column currency_code: Currency of the amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
with dated as (
  select
    orders._company,
    orders.po_number,
    orders.vendor_id,
    orders.vendor_name,
    orders.delivery_site_name,
    orders.po_date,
    orders.total_amount,
    orders.next_expected_date,
    orders.delivery_vendor_promise_date,
    orders.delivery_requested_date,
    orders.delivery_days_late,
    orders.delivery_standing,
    orders.fulfillment_state,
    orders.open_findings_count,
    coalesce(next_expected_date, delivery_vendor_promise_date, delivery_requested_date) as due_date,
    calendar.today
  from procurement_analytics.purchase_orders orders
  join procurement_analytics.calendar_today calendar on true
  where {{ meaning('open', 'orders') }}
),
standing as (
-- with purchase_order_fulfilment
  select
    _company,
    po_number,
    count(*) as line_count,
    count(*) filter (where open_quantity > 0) as open_line_count,
    count(*) filter (where open_quantity is null) as unclear_line_count,
    sum(received_amount) as received_amount,
    sum(open_amount) as open_amount,
    count(open_amount) = count(*) as is_whole,
    count(*) filter (where open_quantity = 0) = count(*) as is_received
  from procurement_analytics.purchase_order_fulfilment
  where is_open and line_index is not null
  group by _company, po_number
-- end
-- without purchase_order_fulfilment
-- |   select
-- |     _company,
-- |     po_number,
-- |     cast(null as bigint) as line_count,
-- |     cast(null as bigint) as open_line_count,
-- |     cast(null as bigint) as unclear_line_count,
-- |     cast(null as decimal(38, 9)) as received_amount,
-- |     cast(null as decimal(38, 9)) as open_amount,
-- |     false as is_whole,
-- |     false as is_received
-- |   from procurement_analytics.purchase_orders
-- |   where false
-- end
),
late as (
  select
    dated.*,
    standing.line_count,
    standing.open_line_count,
    standing.unclear_line_count,
    standing.received_amount,
    case when standing.is_whole then standing.open_amount else dated.total_amount end as open_amount,
    case when standing.is_whole then 'lines' when dated.total_amount is not null then 'order' end as open_amount_basis,
    case when standing.is_received then 0 when today < due_date then 0 else today - due_date end as days_late
  from dated
  left join standing on standing._company = dated._company and standing.po_number = dated.po_number
)
select
  late._company,
  late.po_number,
  late.vendor_id,
  coalesce(names.vendor_name, late.vendor_name) as vendor_name,
  late.delivery_site_name,
  late.po_date,
  cast(late.today - late.po_date as bigint) as days_open,
  case
    when late.po_date is null then 'no date'
    when late.today - late.po_date <= 30 then '0-30 days'
    when late.today - late.po_date <= 60 then '31-60 days'
    when late.today - late.po_date <= 90 then '61-90 days'
    else 'over 90 days'
  end as age_bucket,
  late.due_date as expected_date,
  case
    when late.next_expected_date is not null then 'next expected'
    when late.delivery_vendor_promise_date is not null then 'promised'
    when late.delivery_requested_date is not null then 'requested'
  end as expected_date_basis,
  cast(late.days_late as bigint) as days_late,
  case
    when late.days_late is null then 'no date'
    when late.days_late = 0 then 'not late'
    when late.days_late <= 7 then '1-7 days'
    when late.days_late <= 30 then '8-30 days'
    when late.days_late <= 90 then '31-90 days'
    else 'over 90 days'
  end as lateness_bucket,
  cast(late.today - late.delivery_vendor_promise_date as bigint) as days_past_promise,
  cast(late.today - late.delivery_requested_date as bigint) as days_past_request,
  late.delivery_days_late as days_late_reported,
  late.delivery_standing,
  late.fulfillment_state,
  late.line_count,
  late.open_line_count,
  late.unclear_line_count,
  late.total_amount as ordered_amount,
  cast(late.received_amount as decimal(38, 9)) as received_amount,
  cast(late.open_amount as decimal(38, 9)) as open_amount,
  late.open_amount_basis,
  late.open_findings_count,
  currencies.currency_code,
  coalesce(currencies.currency_source, 'unknown') as currency_source
from late
left join procurement_analytics.amount_currencies currencies
  on currencies._company = late._company
  and currencies.table_name = 'purchase_orders'
  and currencies.row_key = late.po_number
left join procurement_analytics.dim_vendors names
  on names._company = late._company and names.vendor_id = late.vendor_id
