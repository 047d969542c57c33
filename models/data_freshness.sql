-- How fresh and complete each stream's tables are: when it was last read without a failure, up to when it is complete, what the last run could not read, and how old its details are.
-- A table that did not change is fresh all the same: look at last_success_at, never at _changed_at of its rows.
-- optional: purchase_orders
-- key: _company, stream
-- column _company: Name that the configuration gives the company whose stream it is.
-- column stream: Name of the stream, as `tributary streams` lists it; its main table is called the same.
-- column is_on: Whether the configuration has the stream on; false means its tables are no longer updated.
-- column off_since: Since when the stream is off; null while it is on.
-- column last_success_at: When a run last read the stream without a failure; null before the first time.
-- column days_since_success: Whole days from then until today; null before the first time.
-- column complete_to: Up to when the tables hold everything that the service had; null before the first complete scan.
-- column live_rows: Rows of the main table that the service still lists.
-- column all_rows: Rows of the main table, those no longer listed included.
-- column last_run_id: The last run that worked on the stream; null where none is on record.
-- column last_run_at: When that run turned to the stream.
-- column last_run_status: How it ended for the stream: succeeded, warning, incomplete, failed, stopped or skipped; running while it lasts.
-- column last_run_problems: Values of that run that did not fit their column and are null there.
-- column last_run_rejects: Rows of that run that could not be stored at all.
-- column details_wanted: Rows, or values, that this stream's details are asked for one by one; null for streams that are no details.
-- column details_never_fetched: Of those the ones that have never been asked for: their details are missing.
-- column never_fetched_share: The same as a share from 0 to 1; null where there is nothing to ask for.
-- column details_pending: Those that are new, changed or to be tried again, and not fetched yet.
-- column oldest_detail_at: When the detail was fetched that has been unseen longest.
-- column median_detail_at: Half of the details are as fresh as this or fresher.
-- column oldest_detail_days: Age of the oldest detail in whole days until today.
-- column median_detail_days: Age of the median detail in whole days until today.
-- column promised_within_days: What the configuration promises of active details, those of rows that are open or younger than 60 days: to be behind by no more than so many days; null where no night looks at unchanged rows.
-- column promised_share: For at least this share of them, from 0 to 1.
-- column estimated_fresh_share: The share of them that is so, by random looks of the last week; null without looks.
-- column estimated_fresh_low: Lower bound of its interval of 90 %.
-- column estimated_fresh_high: Upper bound of its interval of 90 %.
-- column estimated_wrong_share: The share of all details that changed at the service since they were fetched, though their row in the list did not, by the same looks.
-- column estimated_wrong_low: Lower bound of its interval of 90 %.
-- column estimated_wrong_high: Upper bound of its interval of 90 %.
-- column estimated_looks: Random looks that the estimates rest on.
-- column open_orders: For details of purchase orders: orders that are open; null for others.
-- column open_never_fetched: Open orders whose detail has never been fetched.
-- column open_never_fetched_share: The same as a share from 0 to 1; null where no order is open.
-- column open_oldest_detail_at: When the detail of an open order was fetched that has been standing longest.
-- column open_median_detail_at: Half of the details of open orders are as fresh as this or fresher.
-- column open_oldest_detail_days: Age of the oldest detail of an open order in whole days until today.
-- column open_median_detail_days: Age of the median detail of an open order in whole days until today.
with ages as (
  select company, stream, min(fetched_at) as oldest, percentile_disc(0.5) within group (order by fetched_at) as median
  from _tributary.details
  where outcome = 'ok'
  group by company, stream
),
last_runs as (
  select company, stream, run_id, started_at, status, problems, rejected,
    row_number() over (partition by company, stream order by started_at desc, run_id desc) as place
  from _tributary.stream_runs
-- Parts of a run that is under way count for themselves until it is over.
  where run_id not like '%/%'
),
open_ages as (
-- with purchase_orders
  select d.company, d.stream, count(*) as asked, min(d.fetched_at) filter (where d.outcome = 'ok') as oldest,
    percentile_disc(0.5) within group (order by d.fetched_at) filter (where d.outcome = 'ok') as median
  from _tributary.details d
  join procurement_analytics.purchase_orders o on o._company = d.company and o.po_number = d.parent_key
  where d.stream = 'purchase_order_details' and o.is_open
  group by d.company, d.stream
-- end
-- without purchase_orders
-- |  select cast(null as text) as company, cast(null as text) as stream, cast(null as bigint) as asked,
-- |    cast(null as timestamptz) as oldest, cast(null as timestamptz) as median where false
-- end
),
open_rows as (
-- with purchase_orders
  select _company as company, 'purchase_order_details' as stream, count(*) as orders
  from procurement_analytics.purchase_orders
  where is_open
  group by _company
-- end
-- without purchase_orders
-- |  select cast(null as text) as company, cast(null as text) as stream, cast(null as bigint) as orders where false
-- end
)
select
  s.company as _company,
  s.stream,
  s."on" as is_on,
  s.off_since,
  s.last_success_at,
  cast(t.today - cast(s.last_success_at as date) as bigint) as days_since_success,
  s.complete_to,
  s.live_rows,
  s.rows as all_rows,
  r.run_id as last_run_id,
  r.started_at as last_run_at,
  r.status as last_run_status,
  r.problems as last_run_problems,
  r.rejected as last_run_rejects,
  s.details_wanted,
  s.details_never as details_never_fetched,
  cast(s.details_never as double precision) / nullif(s.details_wanted, 0) as never_fetched_share,
  s.details_pending,
  a.oldest as oldest_detail_at,
  a.median as median_detail_at,
  cast(t.today - cast(a.oldest as date) as bigint) as oldest_detail_days,
  cast(t.today - cast(a.median as date) as bigint) as median_detail_days,
  f.within_days as promised_within_days,
  f.promised as promised_share,
  f.fresh as estimated_fresh_share,
  f.fresh_low as estimated_fresh_low,
  f.fresh_high as estimated_fresh_high,
  f.wrong as estimated_wrong_share,
  f.wrong_low as estimated_wrong_low,
  f.wrong_high as estimated_wrong_high,
  f.sampled as estimated_looks,
  o.orders as open_orders,
  o.orders - coalesce(p.asked, 0) as open_never_fetched,
  cast(o.orders - coalesce(p.asked, 0) as double precision) / nullif(o.orders, 0) as open_never_fetched_share,
  p.oldest as open_oldest_detail_at,
  p.median as open_median_detail_at,
  cast(t.today - cast(p.oldest as date) as bigint) as open_oldest_detail_days,
  cast(t.today - cast(p.median as date) as bigint) as open_median_detail_days
from _tributary.streams s
join procurement_analytics.calendar_today t on true
left join last_runs r on r.company = s.company and r.stream = s.stream and r.place = 1
left join _tributary.detail_freshness f on f.company = s.company and f.stream = s.stream
left join ages a on a.company = s.company and a.stream = s.stream
left join open_rows o on o.company = s.company and o.stream = s.stream
left join open_ages p on p.company = s.company and p.stream = s.stream
