-- Whether order lines come on time and in full, by vendor and month of delivery: one row a company, vendor and month.
-- Two answers that are never mixed, each with its denominator. The service's own (columns said_): on time as
-- `meanings.late` in the configuration says (by default the line's on_time), in full as the line's in_full. And what
-- dates and quantities show (columns shown_): the day of delivery against the day that the order asks for, and against the
-- days that the vendor promised in its acknowledgement or by e-mail; the quantity received against the quantity ordered.
-- Figures are compared exactly: the company's tolerances are in otif_settings and not applied. Where two promises disagree about a
-- delivery, nothing is known of it, and it is counted apart.
-- Every line counts of every order the service lists, delivered or not: those without a day of delivery have no month.
-- needs: purchase_orders, purchase_order_line_items, dim_vendors
-- key: _company, vendor_id, month
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column vendor_id: Vendor the service resolved the order to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month of delivery: actual_delivery_date of the line, else actual_date, else carrier_delivered_date; null for lines without any of them.
-- column line_count: How many order lines there are; the next three add up to it.
-- column said_both_count: How many lines say both whether they came on time and whether in full.
-- column said_one_count: How many lines say one of the two.
-- column said_nothing_count: How many lines say neither.
-- column said_on_time_known_count: How many lines say whether they came on time.
-- column said_on_time_count: How many of them came on time.
-- column said_on_time_share: Those over the lines that say it, 1 for all; null where none does.
-- column said_in_full_known_count: How many lines say whether the whole quantity came.
-- column said_in_full_count: How many of them came in full.
-- column said_in_full_share: Those over the lines that say it, 1 for all; null where none does.
-- column said_otif_count: How many lines came on time and in full.
-- column said_otif_share: Those over said_both_count, 1 for all; null where no line says both.
-- column shown_request_count: How many lines have a day of delivery and a day that the order asks for.
-- column shown_by_request_count: How many of them came on that day or before.
-- column shown_by_request_share: Those over shown_request_count, 1 for all; null where there is none.
-- column shown_promise_count: How many lines have a day of delivery and a promised day, the promises agreeing about it.
-- column shown_by_promise_count: How many of them came on the promised day or before.
-- column shown_by_promise_share: Those over shown_promise_count, 1 for all; null where there is none.
-- column shown_promise_disagrees_count: How many lines came in time by one promise and late by the other; not part of shown_promise_count.
-- column shown_quantity_count: How many lines have a quantity ordered, above 0, and a quantity received.
-- column shown_full_quantity_count: How many of them received what was ordered or more.
-- column shown_full_quantity_share: Those over shown_quantity_count, 1 for all; null where there is none.
-- column shown_request_both_count: How many lines are part of both shown_request_count and shown_quantity_count.
-- column shown_request_otif_count: How many of them came by the requested day and in full.
-- column shown_request_otif_share: Those over shown_request_both_count, 1 for all; null where there is none.
-- column shown_promise_both_count: How many lines are part of both shown_promise_count and shown_quantity_count.
-- column shown_promise_otif_count: How many of them came by the promised day and in full.
-- column shown_promise_otif_share: Those over shown_promise_both_count, 1 for all; null where there is none.
with lines as (
  select
    items._company,
    nullif(orders.vendor_id, '') as vendor_id,
    coalesce(items.actual_delivery_date, items.actual_date, items.carrier_delivered_date) as delivered_day,
    items.po_requested_date as requested_day,
    least(items.ack_promised_date, items.email_promised_date) as first_promise,
    greatest(items.ack_promised_date, items.email_promised_date) as last_promise,
    coalesce(items.qty_ordered, items.quantity) as ordered,
    items.qty_received as received,
    not ({{ meaning('late', 'items') }}) as said_on_time,
    items.in_full as said_in_full
  from procurement_analytics.purchase_order_line_items items
  join procurement_analytics.purchase_orders orders
    on orders._company = items._company and orders.po_number = items.po_number
),
judged as (
  select
    _company,
    vendor_id,
    cast(date_trunc('month', delivered_day) as date) as month,
    said_on_time,
    said_in_full,
    delivered_day <= requested_day as by_request,
    case when delivered_day <= first_promise then true when delivered_day > last_promise then false end as by_promise,
    delivered_day > first_promise and delivered_day <= last_promise as disagrees,
    case when ordered > 0 then received >= ordered end as is_full
  from lines
),
counted as (
  select
    _company,
    vendor_id,
    month,
    count(*) as line_count,
    count(*) filter (where said_on_time is not null and said_in_full is not null) as said_both,
    count(*) filter (where said_on_time is null and said_in_full is null) as said_nothing,
    count(said_on_time) as said_on_time_known,
    count(*) filter (where said_on_time) as said_came_on_time,
    count(said_in_full) as said_in_full_known,
    count(*) filter (where said_in_full) as said_came_in_full,
    count(*) filter (where said_on_time and said_in_full) as said_otif,
    count(by_request) as request_known,
    count(*) filter (where by_request) as request,
    count(by_promise) as promise_known,
    count(*) filter (where by_promise) as promise,
    count(*) filter (where disagrees) as disagreeing,
    count(is_full) as quantity_known,
    count(*) filter (where is_full) as quantity,
    count(*) filter (where by_request is not null and is_full is not null) as request_both,
    count(*) filter (where by_request and is_full) as request_otif,
    count(*) filter (where by_promise is not null and is_full is not null) as promise_both,
    count(*) filter (where by_promise and is_full) as promise_otif
  from judged
  -- By vendor first: sorted by company, PostgreSQL would meet each row with all of a company's vendors for their names.
  group by vendor_id, _company, month
)
select
  counted._company,
  counted.vendor_id,
  names.vendor_name,
  counted.month,
  counted.line_count,
  counted.said_both as said_both_count,
  counted.line_count - counted.said_both - counted.said_nothing as said_one_count,
  counted.said_nothing as said_nothing_count,
  counted.said_on_time_known as said_on_time_known_count,
  counted.said_came_on_time as said_on_time_count,
  round(cast(cast(counted.said_came_on_time as double precision) / nullif(counted.said_on_time_known, 0) as decimal(18, 9)), 4)
    as said_on_time_share,
  counted.said_in_full_known as said_in_full_known_count,
  counted.said_came_in_full as said_in_full_count,
  round(cast(cast(counted.said_came_in_full as double precision) / nullif(counted.said_in_full_known, 0) as decimal(18, 9)), 4)
    as said_in_full_share,
  counted.said_otif as said_otif_count,
  round(cast(cast(counted.said_otif as double precision) / nullif(counted.said_both, 0) as decimal(18, 9)), 4)
    as said_otif_share,
  counted.request_known as shown_request_count,
  counted.request as shown_by_request_count,
  round(cast(cast(counted.request as double precision) / nullif(counted.request_known, 0) as decimal(18, 9)), 4)
    as shown_by_request_share,
  counted.promise_known as shown_promise_count,
  counted.promise as shown_by_promise_count,
  round(cast(cast(counted.promise as double precision) / nullif(counted.promise_known, 0) as decimal(18, 9)), 4)
    as shown_by_promise_share,
  counted.disagreeing as shown_promise_disagrees_count,
  counted.quantity_known as shown_quantity_count,
  counted.quantity as shown_full_quantity_count,
  round(cast(cast(counted.quantity as double precision) / nullif(counted.quantity_known, 0) as decimal(18, 9)), 4)
    as shown_full_quantity_share,
  counted.request_both as shown_request_both_count,
  counted.request_otif as shown_request_otif_count,
  round(cast(cast(counted.request_otif as double precision) / nullif(counted.request_both, 0) as decimal(18, 9)), 4)
    as shown_request_otif_share,
  counted.promise_both as shown_promise_both_count,
  counted.promise_otif as shown_promise_otif_count,
  round(cast(cast(counted.promise_otif as double precision) / nullif(counted.promise_both, 0) as decimal(18, 9)), 4)
    as shown_promise_otif_share
from counted
left join procurement_analytics.dim_vendors names
  on names._company = counted._company and names.vendor_id = counted.vendor_id
