-- How much can be shown in the reporting currency: the amounts of invoices and orders that have a rate on their day, and those
-- that have none, one row a company, table and currency. Sums in the reporting currency (columns `…_reported`) lack the latter: a
-- run warns where they are more than 2 % of all. Amounts in the reporting currency itself need no rate. Without `currency` in
-- the configuration none is converted.
-- needs: amount_currencies, currency_rates
-- optional: invoices, purchase_orders
-- key: _company, table_name, currency_code
-- column _company: Company of this warehouse that the rows belong to, as the configuration names it.
-- column table_name: Where the amounts stand: invoices or purchase_orders.
-- column currency_code: Currency of the amounts; null where it is not known.
-- column row_count: How many rows have a total.
-- column unconverted_count: How many of them have no rate.
-- column unconverted_share: Those over all of them, 1 for all.
-- column unconverted_from: First day of a row without a rate; null where all have one.
-- column unconverted_to: Last day of a row without a rate.
with amounts as (
  select
    cast(null as text) as _company,
    cast(null as text) as table_name,
    cast(null as text) as currency_code,
    cast(null as date) as day,
    false as is_converted
  where false
-- with invoices
  union all
  select i._company, 'invoices', c.currency_code, i.document_date, {{ reported('i.total_amount', 'c', 'r') }} is not null
  from procurement_analytics.invoices i
  left join procurement_analytics.amount_currencies c
    on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
  left join procurement_analytics.currency_rates r on r.currency_code = c.currency_code and r.rate_date = i.document_date
  where i.total_amount is not null
-- end
-- with purchase_orders
  union all
  select o._company, 'purchase_orders', c.currency_code, o.po_date, {{ reported('o.total_amount', 'c', 'r') }} is not null
  from procurement_analytics.purchase_orders o
  left join procurement_analytics.amount_currencies c
    on c._company = o._company and c.table_name = 'purchase_orders' and c.row_key = o.po_number
  left join procurement_analytics.currency_rates r on r.currency_code = c.currency_code and r.rate_date = o.po_date
  where o.total_amount is not null
-- end
)
select
  _company,
  table_name,
  currency_code,
  count(*) as row_count,
  count(*) filter (where not is_converted) as unconverted_count,
  round(cast(cast(count(*) filter (where not is_converted) as double precision) / count(*) as decimal(18, 9)), 4) as unconverted_share,
  min(day) filter (where not is_converted) as unconverted_from,
  max(day) filter (where not is_converted) as unconverted_to
from amounts
group by _company, table_name, currency_code
