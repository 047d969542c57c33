-- How the price of each item moves: one row an item, month and currency, with the change against the month before that has
-- a price, against the same month a year earlier, and against the first month. Prices are averages of the service's
-- price history, weighted with the transactions behind them; which transactions count is not documented.
-- The history belongs to preset all; without it, items has the service's own price_trend_pct.
-- needs: items, item_price_history, amount_currencies
-- key: _company, item_id, month, currency_code, currency_source
-- references: item_id -> items.item_id
-- reported: spend_amount, average_price, lowest_price, highest_price by month
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column item_id: Which item it is: joins to items.item_id.
-- column item_description: What it is, in words; null where nothing is said.
-- column category: Category of the item in the service's words; null where it has none.
-- column uom: Unit of measure that its prices are for, as written; null where it is not given.
-- column month: First day of the month.
-- column currency_code: Currency of the prices and amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
-- column transaction_count: How many transactions the month's prices rest on; 0 where the service gives no number.
-- column spend_amount: What was spent on the item in the month; null where the service gives none.
-- column average_price: What one unit cost on average over the purchases of the month.
-- column lowest_price: What one unit cost in the cheapest purchase of the month; null where the service gives none.
-- column highest_price: What one unit cost in the dearest purchase of the month; null where the service gives none.
-- column month_before: The latest earlier month that has a price; null in the first one.
-- column change_pct: Change of the average price against month_before, in percent.
-- column year_change_pct: Change against the same month a year earlier, in percent; null where that month has no price.
-- column index_pct: The average price in percent of that of the item's first month.
with history as (
  select
    history._company,
    history.item_id,
    cast(date_trunc('month', history.date) as date) as month,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source,
    history.avg_price,
    history.min_price,
    history.max_price,
    history.transaction_count,
    history.total_spend,
    -- Prices of which nobody says how many transactions are behind them count once.
    coalesce(nullif(history.transaction_count, 0), 1) as weight
  from procurement_analytics.item_price_history history
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = history._company
    and currencies.table_name = 'item_price_history'
    and currencies.row_key = history.item_id
    and currencies.row_index = history._index
  where abs(history.avg_price) < 10000000000
    and coalesce(history.transaction_count, 0) between 0 and 1000000000
    and history.date is not null
),
months as (
  select
    _company,
    item_id,
    month,
    currency_code,
    currency_source,
    cast(coalesce(sum(transaction_count), 0) as bigint) as transaction_count,
    sum(total_spend) as spend_amount,
    case
      when min(avg_price) = max(avg_price) then min(avg_price)
      else round(
        cast(
          cast(sum(cast(avg_price * weight as decimal(38, 9))) as double precision) / cast(sum(weight) as double precision)
          as decimal(38, 9)
        ),
        6
      )
    end as average_price,
    min(min_price) as lowest_price,
    max(max_price) as highest_price
  from history
  group by _company, item_id, month, currency_code, currency_source
),
trends as (
  select
    months.*,
    lag(month) over item_months as month_before,
    lag(average_price) over item_months as price_before,
    first_value(average_price) over item_months as first_price,
    max(average_price) over (
      partition by _company, item_id, currency_code, currency_source
      order by month range between interval '1 year' preceding and interval '1 year' preceding
    ) as price_last_year
  from months
  window item_months as (partition by _company, item_id, currency_code, currency_source order by month)
)
select
  trends._company,
  trends.item_id,
  items.description as item_description,
  items.category,
  items.uom,
  trends.month,
  trends.currency_code,
  trends.currency_source,
  trends.transaction_count,
  trends.spend_amount,
  trends.average_price,
  trends.lowest_price,
  trends.highest_price,
  trends.month_before,
  round(
    cast(
      100 * cast(trends.average_price - trends.price_before as double precision)
        / nullif(cast(trends.price_before as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as change_pct,
  round(
    cast(
      100 * cast(trends.average_price - trends.price_last_year as double precision)
        / nullif(cast(trends.price_last_year as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as year_change_pct,
  round(
    cast(
      100 * cast(trends.average_price as double precision)
        / nullif(cast(trends.first_price as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as index_pct
from trends
join procurement_analytics.items items on items._company = trends._company and items.item_id = trends.item_id
