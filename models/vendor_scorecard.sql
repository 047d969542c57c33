-- How each vendor does: on time and in full, invoices with exceptions, findings, and spend. One row a vendor and
-- currency of its invoices; a vendor without invoices has one row without a currency. Everything but the spend is about
-- the vendor as a whole and stands on each of its rows: take is_main for one row a vendor, and add up spend alone, one
-- currency at a time. Spend agrees with spend_by_vendor_month. Orders, invoices and findings that no vendor was resolved
-- for stand together without one.
-- needs: invoices, spend_by_vendor_month, invoice_exceptions, dim_vendors, calendar_today
-- optional: open_purchase_orders, purchase_orders, purchase_order_fulfilment, findings_value
-- key: _company, vendor_id, currency_code, currency_source
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column vendor_id: Vendor, by the service's identifier; null for everything that no vendor was resolved for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column is_main: True on one row of each vendor, that of the currency with the most invoices.
-- column currency_code: Currency of the row's spend; null where it is not known or there is none.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
-- column spend_amount: Sum of the vendor's invoices in this currency, credits left out, as in spend_by_vendor_month; 0 without invoices.
-- column spend_last_12_months: The part of it with dates in this month and the eleven before.
-- column spend_invoice_count: How many invoices that spend is made of.
-- column order_count: How many purchase orders the vendor has; null where orders are not loaded.
-- column open_order_count: How many of them are open; null where orders are not loaded.
-- column late_order_count: How many of the open ones are past the day they are expected on; null where orders are not loaded.
-- column on_time_line_count: How many order lines did not come late, as `meanings.late` in the configuration says; null where order lines are not loaded.
-- column judged_line_count: How many order lines it is known of whether they came late.
-- column on_time_share: On-time lines over judged lines, 1 for all; null where none was judged.
-- column in_full_line_count: How many order lines came in full in the service's judgement; null where order lines are not loaded.
-- column full_judged_line_count: How many order lines the service has judged by quantity.
-- column in_full_share: Lines in full over those judged, 1 for all; null where none was judged.
-- column average_days_late: Average days from the expected to the actual delivery of delivered lines; early ones count below 0. Null without such lines.
-- column invoice_count: How many invoices the vendor has in all currencies, credits included.
-- column exception_invoice_count: How many of them have a row in invoice_exceptions, whatever their status.
-- column exception_share: Those over all of the vendor's invoices, 1 for all; null without invoices.
-- column finding_count: How many findings are about the vendor, those no longer listed included; null where findings are not loaded.
-- column open_finding_count: How many of them are open, as in findings_value.
-- column resolved_finding_count: How many of them were resolved, as in findings_value.
-- column recoverable_usd: Savings that open findings put to the vendor, in US dollars, as in findings_value.
-- column resolved_usd: Savings of resolved findings, in US dollars, as in findings_value.
-- column spend_amount_reported: The spend in the reporting currency, as in spend_by_vendor_month; null where no invoice has a rate.
-- column spend_last_12_months_reported: The part of it with dates in this month and the eleven before.
-- column unconverted_count: How many documents of this currency have a total and no rate, as in spend_by_vendor_month.
-- column unconverted_amount: The part of spend_amount without a rate: spend_amount_reported lacks it.
-- column recoverable_usd_reported: recoverable_usd in the reporting currency, each finding by the rate of the day it was made; findings without one are missing.
-- column resolved_usd_reported: resolved_usd in the reporting currency, each finding by the rate of the day it was made; findings without one are missing.
with spend as (
  select
    months._company,
    coalesce(months.vendor_id, '') as vendor_key,
    months.currency_code,
    months.currency_source,
    sum(months.spend_amount) as spend_amount,
    sum(
      case
        when months.month > calendar.today then 0
        when months.month >= cast(date_trunc('month', calendar.today) - interval '11 months' as date)
          then months.spend_amount
        else 0
      end
    ) as spend_last_12_months,
    sum(months.invoice_count) as invoice_count,
    sum(months.spend_amount_reported) as spend_amount_reported,
    sum(months.spend_amount_reported) filter (
      where months.month between cast(date_trunc('month', calendar.today) - interval '11 months' as date) and calendar.today
    ) as spend_last_12_months_reported,
    sum(months.unconverted_count) as unconverted_count,
    sum(months.unconverted_amount) as unconverted_amount
  from procurement_analytics.spend_by_vendor_month months
  join procurement_analytics.calendar_today calendar on true
  group by months._company, coalesce(months.vendor_id, ''), months.currency_code, months.currency_source
),
orders as (
-- with purchase_orders
  select
    _company,
    coalesce(vendor_id, '') as vendor_key,
    count(*) as order_count,
    count(*) filter (where {{ meaning('open', 'orders') }}) as open_order_count
  from procurement_analytics.purchase_orders orders
  group by _company, coalesce(vendor_id, '')
-- end
-- without purchase_orders
-- |   select
-- |     cast(null as text) as _company,
-- |     cast(null as text) as vendor_key,
-- |     cast(null as bigint) as order_count,
-- |     cast(null as bigint) as open_order_count
-- |   where false
-- end
),
late as (
-- with open_purchase_orders
  select _company, coalesce(vendor_id, '') as vendor_key, count(*) as late_order_count
  from procurement_analytics.open_purchase_orders
  where days_late > 0
  group by _company, coalesce(vendor_id, '')
-- end
-- without open_purchase_orders
-- |   select cast(null as text) as _company, cast(null as text) as vendor_key, cast(null as bigint) as late_order_count
-- |   where false
-- end
),
deliveries as (
-- with purchase_order_fulfilment
  select
    _company,
    coalesce(vendor_id, '') as vendor_key,
    count(*) filter (where not is_late) as on_time_lines,
    count(is_late) as judged_lines,
    count(*) filter (where in_full) as in_full_lines,
    count(in_full) as full_judged_lines,
    sum(delivered_date - expected_date) as days_late,
    count(delivered_date - expected_date) as delivered_lines
  from procurement_analytics.purchase_order_fulfilment
  where line_index is not null
  group by _company, coalesce(vendor_id, '')
-- end
-- without purchase_order_fulfilment
-- |   select
-- |     cast(null as text) as _company,
-- |     cast(null as text) as vendor_key,
-- |     cast(null as bigint) as on_time_lines,
-- |     cast(null as bigint) as judged_lines,
-- |     cast(null as bigint) as in_full_lines,
-- |     cast(null as bigint) as full_judged_lines,
-- |     cast(null as bigint) as days_late,
-- |     cast(null as bigint) as delivered_lines
-- |   where false
-- end
),
bills as (
  select _company, coalesce(vendor_id, '') as vendor_key, count(*) as invoice_count
  from procurement_analytics.invoices
  group by _company, coalesce(vendor_id, '')
),
exceptions as (
  select _company, coalesce(vendor_id, '') as vendor_key, count(*) as exception_count
  from procurement_analytics.invoice_exceptions
  where exception_number = 1
  group by _company, coalesce(vendor_id, '')
),
findings as (
-- with findings_value
  select
    _company,
    coalesce(vendor_id, '') as vendor_key,
    count(*) as finding_count,
    count(*) filter (where outcome = 'open') as open_count,
    count(*) filter (where outcome = 'resolved') as resolved_count,
    coalesce(sum(recoverable_amount), 0) as recoverable_usd,
    coalesce(sum(resolved_amount), 0) as resolved_usd,
    sum(recoverable_amount_reported) as recoverable_usd_reported,
    sum(resolved_amount_reported) as resolved_usd_reported
  from procurement_analytics.findings_value
  group by _company, coalesce(vendor_id, '')
-- end
-- without findings_value
-- |   select
-- |     cast(null as text) as _company,
-- |     cast(null as text) as vendor_key,
-- |     cast(null as bigint) as finding_count,
-- |     cast(null as bigint) as open_count,
-- |     cast(null as bigint) as resolved_count,
-- |     cast(null as decimal(38, 9)) as recoverable_usd,
-- |     cast(null as decimal(38, 9)) as resolved_usd,
-- |     cast(null as decimal(38, 9)) as recoverable_usd_reported,
-- |     cast(null as decimal(38, 9)) as resolved_usd_reported
-- |   where false
-- end
),
-- Where something is loaded, a vendor without any has 0 of it.
loaded as (
  select
-- with purchase_orders
    0 as orders,
-- end
-- without purchase_orders
-- |     cast(null as integer) as orders,
-- end
-- with purchase_order_fulfilment
    0 as lines,
-- end
-- without purchase_order_fulfilment
-- |     cast(null as integer) as lines,
-- end
-- with findings_value
    0 as findings
-- end
-- without findings_value
-- |     cast(null as integer) as findings
-- end
),
vendors as (
  select _company, vendor_key from spend
  union
  select _company, vendor_key from orders
  union
  select _company, vendor_key from findings
)
select
  vendors._company,
  nullif(vendors.vendor_key, '') as vendor_id,
  names.vendor_name,
  row_number() over (
    partition by vendors._company, vendors.vendor_key
    order by
      spend.invoice_count desc,
      case when spend.currency_code is null then 1 else 0 end,
      spend.currency_code,
      spend.currency_source
  ) = 1 as is_main,
  spend.currency_code,
  coalesce(spend.currency_source, 'unknown') as currency_source,
  cast(coalesce(spend.spend_amount, 0) as decimal(38, 9)) as spend_amount,
  cast(coalesce(spend.spend_last_12_months, 0) as decimal(38, 9)) as spend_last_12_months,
  cast(coalesce(spend.invoice_count, 0) as bigint) as spend_invoice_count,
  coalesce(orders.order_count, loaded.orders) as order_count,
  coalesce(orders.open_order_count, loaded.orders) as open_order_count,
  coalesce(late.late_order_count, loaded.orders) as late_order_count,
  coalesce(deliveries.on_time_lines, loaded.lines) as on_time_line_count,
  coalesce(deliveries.judged_lines, loaded.lines) as judged_line_count,
  round(
    cast(cast(deliveries.on_time_lines as double precision) / nullif(deliveries.judged_lines, 0) as decimal(18, 9)),
    4
  ) as on_time_share,
  coalesce(deliveries.in_full_lines, loaded.lines) as in_full_line_count,
  coalesce(deliveries.full_judged_lines, loaded.lines) as full_judged_line_count,
  round(
    cast(
      cast(deliveries.in_full_lines as double precision) / nullif(deliveries.full_judged_lines, 0) as decimal(18, 9)
    ),
    4
  ) as in_full_share,
  round(
    cast(cast(deliveries.days_late as double precision) / nullif(deliveries.delivered_lines, 0) as decimal(18, 9)),
    2
  ) as average_days_late,
  coalesce(bills.invoice_count, 0) as invoice_count,
  coalesce(exceptions.exception_count, 0) as exception_invoice_count,
  round(
    cast(
      cast(coalesce(exceptions.exception_count, 0) as double precision) / nullif(bills.invoice_count, 0)
      as decimal(18, 9)
    ),
    4
  ) as exception_share,
  coalesce(findings.finding_count, loaded.findings) as finding_count,
  coalesce(findings.open_count, loaded.findings) as open_finding_count,
  coalesce(findings.resolved_count, loaded.findings) as resolved_finding_count,
  cast(coalesce(findings.recoverable_usd, loaded.findings) as decimal(38, 9)) as recoverable_usd,
  cast(coalesce(findings.resolved_usd, loaded.findings) as decimal(38, 9)) as resolved_usd,
  cast(spend.spend_amount_reported as decimal(38, 9)) as spend_amount_reported,
  cast(spend.spend_last_12_months_reported as decimal(38, 9)) as spend_last_12_months_reported,
  cast(coalesce(spend.unconverted_count, 0) as bigint) as unconverted_count,
  cast(coalesce(spend.unconverted_amount, 0) as decimal(38, 9)) as unconverted_amount,
  cast(findings.recoverable_usd_reported as decimal(38, 9)) as recoverable_usd_reported,
  cast(findings.resolved_usd_reported as decimal(38, 9)) as resolved_usd_reported
from vendors
join loaded on true
left join procurement_analytics.dim_vendors names
  on names._company = vendors._company and names.vendor_id = vendors.vendor_key
left join spend on spend._company = vendors._company and spend.vendor_key = vendors.vendor_key
left join orders on orders._company = vendors._company and orders.vendor_key = vendors.vendor_key
left join late on late._company = vendors._company and late.vendor_key = vendors.vendor_key
left join deliveries on deliveries._company = vendors._company and deliveries.vendor_key = vendors.vendor_key
left join bills on bills._company = vendors._company and bills.vendor_key = vendors.vendor_key
left join exceptions on exceptions._company = vendors._company and exceptions.vendor_key = vendors.vendor_key
left join findings on findings._company = vendors._company and findings.vendor_key = vendors.vendor_key
