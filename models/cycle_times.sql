-- How long the steps of buying take, from the requisition to the invoice: one row a step, vendor and month in which the
-- step began. Median and 90th percentile are over the spans that have both dates in their order; a span that ends before
-- it begins, one with a single date, and one without any are counted apart, so that all counts add up to row_count.
-- The steps, and what has a span in each: 1 draft to requisition (a requisition, from created_at to submitted_at),
-- 2 requisition to approval (a requisition, from submitted_at to approved_at), 3 approval to order (a requisition, from
-- approved_at to the date of the order that generated_po_number names), 4 order to confirmation (an order, to its
-- confirmation_received_date), 5 confirmation to receipt and 6 order to receipt (an order line, to its
-- actual_delivery_date, else its actual_date), 7 receipt to invoice (an order, from its first receipt to the first
-- document_date of the invoices that the service matched with it, `meanings.credit` left out).
-- An order's date is po_date, where that is not known order_date, then order_placed_date; how these differ is not
-- documented, so other_date_count says how often another than po_date was taken. Steps 4 to 7 leave out orders whose details
-- are not loaded, and a step is missing where its tables are. Moments count by their day in UTC.
-- needs: purchase_orders, dim_vendors
-- optional: requisitions, purchase_order_details, purchase_order_line_items, invoices
-- key: _company, step_number, vendor_id, month
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column step_number: Place of the step in the process, from 1 to 7.
-- column step: draft to requisition, requisition to approval, approval to order, order to confirmation, confirmation to receipt, order to receipt, or receipt to invoice.
-- column vendor_id: Vendor the service resolved the order to, or in steps without an order the requisition; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month in which the step began; null where it is not known when it began.
-- column row_count: How many requisitions, orders or order lines could have such a span.
-- column pair_count: How many of them have both dates, the end not before the begin: the denominator of the figures in days.
-- column negative_count: How many end before they begin; not part of median_days and p90_days.
-- column begin_only_count: How many have begun, and nothing says that they have ended: what is under way, and what never will, such as a rejected requisition.
-- column end_only_count: How many have ended, and nothing says when they began; month is null for them.
-- column undated_count: How many have neither date; month is null for them.
-- column other_date_count: How many of all take order_date or order_placed_date for the order's date, because po_date is not known.
-- column median_days: Days that half of the pairs took at most; null without a pair.
-- column p90_days: Days that nine of ten pairs took at most, interpolated between two of them; null without a pair.
-- column shortest_days: Days of the shortest span, negative ones included; null where none has both dates.
-- column longest_days: Days of the longest span; null where none has both dates.
with orders as (
  select
    listed._company,
    listed.po_number,
    nullif(listed.vendor_id, '') as vendor_id,
-- with purchase_order_details
    coalesce(listed.po_date, details.po_date, details.order_date, details.order_placed_date) as ordered_day,
    coalesce(listed.po_date, details.po_date) is null
      and coalesce(details.order_date, details.order_placed_date) is not null as has_other_day,
    details.po_number is not null as has_details,
    details.confirmation_received_date as confirmed_day
-- end
-- without purchase_order_details
-- |     listed.po_date as ordered_day,
-- |     false as has_other_day,
-- |     false as has_details,
-- |     cast(null as date) as confirmed_day
-- end
  from procurement_analytics.purchase_orders listed
-- with purchase_order_details
  left join procurement_analytics.purchase_order_details details
    on details._company = listed._company and details.po_number = listed.po_number
-- end
),
received as (
-- with purchase_order_line_items
  select
    orders._company,
    orders.po_number,
    orders.vendor_id,
    orders.ordered_day,
    orders.has_other_day,
    orders.confirmed_day,
    coalesce(lines.actual_delivery_date, lines.actual_date) as received_day
  from procurement_analytics.purchase_order_line_items lines
  join orders on orders._company = lines._company and orders.po_number = lines.po_number
  where orders.has_details
-- end
-- without purchase_order_line_items
-- |   select
-- |     _company, po_number, vendor_id, ordered_day, has_other_day, confirmed_day, cast(null as date) as received_day
-- |   from orders
-- |   where false
-- end
),
first_receipts as (
  select _company, po_number, min(received_day) as received_day
  from received
  group by _company, po_number
),
requests as (
-- with requisitions
  select
    requisitions._company,
    nullif(requisitions.vendor_id, '') as vendor_id,
    nullif(requisitions.generated_po_number, '') as po_number,
    cast(requisitions.created_at at time zone 'UTC' as date) as created_day,
    cast(requisitions.submitted_at at time zone 'UTC' as date) as submitted_day,
    cast(requisitions.approved_at at time zone 'UTC' as date) as approved_day
  from procurement_analytics.requisitions requisitions
-- end
-- without requisitions
-- |   select
-- |     _company,
-- |     vendor_id,
-- |     po_number,
-- |     cast(null as date) as created_day,
-- |     cast(null as date) as submitted_day,
-- |     cast(null as date) as approved_day
-- |   from orders
-- |   where false
-- end
),
-- with invoices
first_invoices as (
  select _company, po_number, min(invoiced_day) as invoiced_day
  from (
    select
      invoices._company,
      invoices.matched_po_number as po_number,
      invoices.document_date as invoiced_day,
      {{ meaning('credit', 'invoices') }} as is_credit
    from procurement_analytics.invoices invoices
  ) bills
  where is_credit is not true
  group by _company, po_number
),
-- end
spans as (
  select _company, 1 as step_number, 'draft to requisition' as step, vendor_id, created_day as begin_day, submitted_day as end_day, false as has_other_day
  from requests
  union all
  select _company, 2, 'requisition to approval', vendor_id, submitted_day, approved_day, false
  from requests
  union all
  select
    requests._company,
    3,
    'approval to order',
    case when orders.po_number is null then requests.vendor_id else orders.vendor_id end,
    requests.approved_day,
    orders.ordered_day,
    coalesce(orders.has_other_day, false)
  from requests
  left join orders on orders._company = requests._company and orders.po_number = requests.po_number
  union all
  select _company, 4, 'order to confirmation', vendor_id, ordered_day, confirmed_day, has_other_day
  from orders
  where has_details
  union all
  select _company, 5, 'confirmation to receipt', vendor_id, confirmed_day, received_day, false
  from received
  union all
  select _company, 6, 'order to receipt', vendor_id, ordered_day, received_day, has_other_day
  from received
-- with invoices
  union all
  select
    orders._company,
    7,
    'receipt to invoice',
    orders.vendor_id,
    first_receipts.received_day,
    first_invoices.invoiced_day,
    false
  from orders
  left join first_receipts
    on first_receipts._company = orders._company and first_receipts.po_number = orders.po_number
  left join first_invoices
    on first_invoices._company = orders._company and first_invoices.po_number = orders.po_number
  where orders.has_details
-- end
),
dated as (
  select
    spans.*,
    cast(date_trunc('month', begin_day) as date) as month,
    cast(end_day - begin_day as bigint) as days,
    case when end_day >= begin_day then cast(end_day - begin_day as double precision) end as pair_days
  from spans
),
measured as (
  select
    _company,
    step_number,
    step,
    vendor_id,
    month,
    count(*) as row_count,
    count(pair_days) as pair_count,
    count(*) filter (where days < 0) as negative_count,
    count(*) filter (where begin_day is not null and end_day is null) as begin_only_count,
    count(*) filter (where begin_day is null and end_day is not null) as end_only_count,
    count(*) filter (where begin_day is null and end_day is null) as undated_count,
    count(*) filter (where has_other_day) as other_date_count,
    round(cast(percentile_cont(0.5) within group (order by pair_days) as decimal(18, 9)), 2) as median_days,
    round(cast(percentile_cont(0.9) within group (order by pair_days) as decimal(18, 9)), 2) as p90_days,
    min(days) as shortest_days,
    max(days) as longest_days
  from dated
  -- By vendor first: sorted by company, PostgreSQL would meet each row with all of a company's vendors for their names.
  group by vendor_id, _company, step_number, step, month
)
select
  measured._company,
  measured.step_number,
  measured.step,
  measured.vendor_id,
  names.vendor_name,
  measured.month,
  measured.row_count,
  measured.pair_count,
  measured.negative_count,
  measured.begin_only_count,
  measured.end_only_count,
  measured.undated_count,
  measured.other_date_count,
  measured.median_days,
  measured.p90_days,
  measured.shortest_days,
  measured.longest_days
from measured
left join procurement_analytics.dim_vendors names
  on names._company = measured._company and names.vendor_id = measured.vendor_id
