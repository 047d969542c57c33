-- What the models take rows for, and how many rows and how much money that touches, one row a company, rule, month and
-- currency. The service does not document its values: each rule is a line of the configuration, and can be changed there.
-- A rule that touches far more or far fewer rows than you would expect is read wrongly; `tributary meanings` shows the
-- values that it was asked of. Add the counts up over months for shares of the whole.
-- optional: invoices, purchase_orders, purchase_order_line_items, findings, finding_lineage, amount_currencies
-- key: _company, meaning, column_name, month, currency_code
-- reported: amount, touched_amount by month
-- column _company: Company of this warehouse that the rows belong to, as the configuration names it.
-- column meaning: What rows are taken for: credit, paid, held, open, late, dismissed or resolved.
-- column column_name: The column that the rule tests; null for all rules of the meaning together.
-- column config_line: The rule as it stands in the configuration.
-- column left_out_of: Figures that rows are left out of when they have the meaning; null where they are left out of none.
-- column table_name: Where the rows stand that the rule is asked of: a table of the data schema.
-- column month: First day of the month of their date; null for rows without one.
-- column currency_code: Currency of the amounts; null where it is not known.
-- column row_count: How many rows there are.
-- column touched_count: How many of them the rule is true of.
-- column unclear_count: How many of them nothing says it of; 0 for single rules.
-- column touched_share: Those that the rule is true of over all of them, 1 for all.
-- column amount: Sum of the rows' amounts, all taken as positive.
-- column touched_amount: The part of it that the rule is true of.
-- column touched_amount_share: That part over the whole, 1 for all; null where there is no amount.
-- Rows are counted by all that is asked of them at once: each is read a single time.
with asked as (
  select
    cast(null as text) as _company,
    cast(null as text) as table_name,
    cast(null as date) as month,
    cast(null as text) as currency_code,
    cast(null as bigint) as row_count,
    cast(null as decimal(38, 9)) as amount,
    cast(null as text) as meaning,
    cast(null as text) as column_name,
    cast(null as text) as config_line,
    cast(null as text) as left_out_of,
    cast(null as boolean) as holds
  where false
-- with invoices, amount_currencies
  union all
  select _company, 'invoices', month, currency_code, row_count, amount, lines.*
  from (
    select _company, month, currency_code, count(*) as row_count, sum(abs(amount)) as amount, {{ names('invoices', 'i') }}
    from (
      select
        i._company,
        cast(date_trunc('month', i.document_date) as date) as month,
        currencies.currency_code as currency_code,
        i.total_amount as amount,
        {{ asked('invoices', 'i') }}
      from procurement_analytics.invoices i
      left join procurement_analytics.amount_currencies currencies
        on currencies._company = i._company
        and currencies.table_name = 'invoices'
        and currencies.row_key = i.doc_id
    ) rows_asked
    group by _company, month, currency_code, {{ names('invoices', 'i') }}
  ) counted
  cross join lateral (
    values {{ lines('invoices', 'i') }}
  ) lines (meaning, column_name, config_line, left_out_of, holds)
-- end
-- with purchase_orders, amount_currencies
  union all
  select _company, 'purchase_orders', month, currency_code, row_count, amount, lines.*
  from (
    select _company, month, currency_code, count(*) as row_count, sum(abs(amount)) as amount, {{ names('purchase_orders', 'o') }}
    from (
      select
        o._company,
        cast(date_trunc('month', o.po_date) as date) as month,
        currencies.currency_code as currency_code,
        o.total_amount as amount,
        {{ asked('purchase_orders', 'o') }}
      from procurement_analytics.purchase_orders o
      left join procurement_analytics.amount_currencies currencies
        on currencies._company = o._company
        and currencies.table_name = 'purchase_orders'
        and currencies.row_key = o.po_number
    ) rows_asked
    group by _company, month, currency_code, {{ names('purchase_orders', 'o') }}
  ) counted
  cross join lateral (
    values {{ lines('purchase_orders', 'o') }}
  ) lines (meaning, column_name, config_line, left_out_of, holds)
-- end
-- with purchase_order_line_items, amount_currencies
  union all
  select _company, 'purchase_order_line_items', month, currency_code, row_count, amount, lines.*
  from (
    select _company, month, currency_code, count(*) as row_count, sum(abs(amount)) as amount, {{ names('purchase_order_line_items', 'l') }}
    from (
      select
        l._company,
        cast(date_trunc('month', l.expected_date) as date) as month,
        currencies.currency_code as currency_code,
        coalesce(l.line_total, l.amount) as amount,
        {{ asked('purchase_order_line_items', 'l') }}
      from procurement_analytics.purchase_order_line_items l
      left join procurement_analytics.amount_currencies currencies
        on currencies._company = l._company
        and currencies.table_name = 'purchase_order_line_items'
        and currencies.row_key = l.po_number
    ) rows_asked
    group by _company, month, currency_code, {{ names('purchase_order_line_items', 'l') }}
  ) counted
  cross join lateral (
    values {{ lines('purchase_order_line_items', 'l') }}
  ) lines (meaning, column_name, config_line, left_out_of, holds)
-- end
-- with findings, finding_lineage
  union all
  select _company, 'findings', month, currency_code, row_count, amount, lines.*
  from (
    select _company, month, currency_code, count(*) as row_count, sum(abs(amount)) as amount, {{ names('findings', 'f', 'lineage') }}
    from (
      select
        f._company,
        cast(date_trunc('month', f.created_at) as date) as month,
        'USD' as currency_code,
        f.surfaceable_savings_usd as amount,
        {{ asked('findings', 'f', 'lineage') }}
      from procurement.findings f
      left join procurement.finding_lineage lineage
        on lineage._company = f._company and lineage.finding_id = f.finding_id
    ) rows_asked
    group by _company, month, currency_code, {{ names('findings', 'f', 'lineage') }}
  ) counted
  cross join lateral (
    values {{ lines('findings', 'f', 'lineage') }}
  ) lines (meaning, column_name, config_line, left_out_of, holds)
-- end
-- with findings, not finding_lineage
  union all
  select _company, 'findings', month, currency_code, row_count, amount, lines.*
  from (
    select _company, month, currency_code, count(*) as row_count, sum(abs(amount)) as amount, {{ names('findings', 'f') }}
    from (
      select
        f._company,
        cast(date_trunc('month', f.created_at) as date) as month,
        'USD' as currency_code,
        f.surfaceable_savings_usd as amount,
        {{ asked('findings', 'f') }}
      from procurement.findings f
    ) rows_asked
    group by _company, month, currency_code, {{ names('findings', 'f') }}
  ) counted
  cross join lateral (
    values {{ lines('findings', 'f') }}
  ) lines (meaning, column_name, config_line, left_out_of, holds)
-- end
)
select
  _company,
  meaning,
  column_name,
  config_line,
  left_out_of,
  table_name,
  month,
  currency_code,
  cast(sum(row_count) as bigint) as row_count,
  cast(coalesce(sum(row_count) filter (where holds), 0) as bigint) as touched_count,
  cast(coalesce(sum(row_count) filter (where holds is null), 0) as bigint) as unclear_count,
  round(
    cast(
      cast(coalesce(sum(row_count) filter (where holds), 0) as double precision) / cast(sum(row_count) as double precision)
      as decimal(18, 9)
    ),
    4
  ) as touched_share,
  cast(sum(amount) as decimal(38, 9)) as amount,
  cast(coalesce(sum(amount) filter (where holds), 0) as decimal(38, 9)) as touched_amount,
  round(
    cast(
      cast(coalesce(sum(amount) filter (where holds), 0) as double precision)
        / nullif(cast(sum(amount) as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as touched_amount_share
from asked
group by _company, meaning, column_name, config_line, left_out_of, table_name, month, currency_code
