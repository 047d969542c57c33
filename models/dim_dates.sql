-- Every day that dates of documents may need: one row a day, of no company, so join it by a date column alone. It has
-- whole years: those of the dates on invoices, orders, order lines, contracts, findings and requisitions, and always last
-- year, this year and the next. A date more than 20 years back or 10 years ahead is taken to be misread and adds no year.
-- needs: calendar_today
-- optional: invoices, purchase_orders, purchase_order_line_items, contracts, findings, requisitions
-- key: day
-- column day: Calendar date of the row, its key.
-- column year: Calendar year that the day is in.
-- column quarter: Quarter of that year, 1 to 4.
-- column quarter_label: Year and quarter, such as 2026-Q1.
-- column quarter_start: First day of the quarter.
-- column month: First day of the month, as models have it in their column month.
-- column month_number: Month of the year, 1 to 12.
-- column month_label: Year and month, such as 2026-03.
-- column is_month_end: Whether it is the last day of its month.
-- column iso_year: Year that its week belongs to by ISO 8601; it differs from year around New Year.
-- column iso_week: Number of the week in that year, 1 to 53; weeks begin on Monday.
-- column iso_week_label: That year and week, such as 2026-W11.
-- column week_start: Monday that the day's week begins on.
-- column weekday: Day of the week, 1 for Monday to 7 for Sunday.
-- column days_from_today: Days from today to it, below 0 for days that have passed.
with dates as (
  select today as day from procurement_analytics.calendar_today
-- with invoices
  union all select document_date from procurement_analytics.invoices
  union all select due_date from procurement_analytics.invoices
  union all select discount_deadline from procurement_analytics.invoices
-- end
-- with purchase_orders
  union all select po_date from procurement_analytics.purchase_orders
  union all select next_expected_date from procurement_analytics.purchase_orders
  union all select delivery_vendor_promise_date from procurement_analytics.purchase_orders
  union all select delivery_requested_date from procurement_analytics.purchase_orders
-- end
-- with purchase_order_line_items
  union all select expected_date from procurement_analytics.purchase_order_line_items
  union all select actual_delivery_date from procurement_analytics.purchase_order_line_items
  union all select actual_date from procurement_analytics.purchase_order_line_items
-- end
-- with contracts
  union all select effective_date from procurement_analytics.contracts
  union all select expiration_date from procurement_analytics.contracts
-- end
-- with findings
  union all select source_document_date from procurement_analytics.findings
-- end
-- with requisitions
  union all select needed_by_date from procurement_analytics.requisitions
-- end
),
years as (
  select cast(extract(year from day) as integer) as year from dates group by 1
),
present as (
  select today, cast(extract(year from today) as integer) as year from procurement_analytics.calendar_today
),
spans as (
  select
    present.today,
    make_date(least(min(years.year), present.year - 1), 1, 1) as first_day,
    make_date(greatest(max(years.year), present.year + 1), 12, 31) as last_day
  from present
  join years on years.year between present.year - 20 and present.year + 10
  group by present.today, present.year
),
digits as (
  select n from (values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) listed (n)
),
-- 31 years have less than 12,000 days.
numbers as (
  select ones.n + 10 * tens.n + 100 * hundreds.n + 1000 * thousands.n as n
  from digits ones
  cross join digits tens
  cross join digits hundreds
  cross join (select n from digits union all select n + 10 from digits where n < 2) thousands
),
days as (
  select spans.first_day + numbers.n as day, spans.today
  from spans
  join numbers on numbers.n <= spans.last_day - spans.first_day
),
parts as (
  select
    day,
    today,
    cast(extract(year from day) as bigint) as year,
    cast(extract(quarter from day) as bigint) as quarter,
    cast(extract(month from day) as bigint) as month_number,
    cast(extract(isoyear from day) as bigint) as iso_year,
    cast(extract(week from day) as bigint) as iso_week,
    cast(extract(isodow from day) as bigint) as weekday
  from days
)
select
  day,
  year,
  quarter,
  cast(year as text) || '-Q' || cast(quarter as text) as quarter_label,
  cast(date_trunc('quarter', day) as date) as quarter_start,
  cast(date_trunc('month', day) as date) as month,
  month_number,
  cast(year as text) || '-' || lpad(cast(month_number as text), 2, '0') as month_label,
  extract(day from day + 1) = 1 as is_month_end,
  iso_year,
  iso_week,
  cast(iso_year as text) || '-W' || lpad(cast(iso_week as text), 2, '0') as iso_week_label,
  cast(date_trunc('week', day) as date) as week_start,
  weekday,
  cast(day - today as bigint) as days_from_today
from parts
