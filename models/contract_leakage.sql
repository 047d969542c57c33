-- What is bought of a vendor while a contract with it runs, and bears no sign of the contract: ordered amounts by vendor,
-- month of the order's date, and what is known of contracts on that day. Leakage is unsigned_amount of the rows
-- whose contract_standing is running, and unsigned_share its part of ordered_amount; look at one currency at a time.
-- What counts as a sign: the order line has a contract_price; or the order was made from a requisition
-- (generated_po_number) with a line that names a contract_id or a contract_unit_price. The service links requisition lines to no
-- order lines, so the second stands for the order as a whole and is counted apart. What an order line is about
-- is not compared with scope_category of the contract, because order lines bear no category: unsigned amounts are
-- leakage at most. Orders of every status count, for the service does not document its statuses; invoices bear no sign of a contract.
-- A contract runs on a day from effective_date to expiration_date, both included. Where a missing date, or an
-- auto_renewal after the last day, leaves that open, it is not known. Amounts of a hundred quintillions and more are
-- taken to be misread.
-- needs: purchase_orders, purchase_order_line_items, contracts, amount_currencies, dim_vendors, currency_rates
-- optional: requisitions, requisition_lines
-- key: _company, vendor_id, month, contract_standing, contract_scope, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column vendor_id: Vendor the service resolved the orders to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month of the orders' dates; null for orders without a date.
-- column contract_standing: running where a contract with the vendor ran on the order's day, none where none did, not known where dates leave that open or the order has no vendor or no date.
-- column contract_scope: scope_category of the contracts that ran, where all of them have the same; null where they differ or none says it.
-- column currency_code: Currency of the amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
-- column line_count: How many order lines there are, an order whose lines are not known counting as one.
-- column ordered_amount: What was ordered, tax and shipping left out where lines leave them out: the lines' totals, else quantity times price, the order's total where its lines are not known; 0 where none is known.
-- column without_amount_count: How many lines have no amount, so that the sums lack them.
-- column line_signed_count: How many lines have a contract price.
-- column line_signed_amount: The part of ordered_amount on these lines.
-- column requisition_signed_count: How many other lines belong to an order from a requisition that names a contract.
-- column requisition_signed_amount: The part of ordered_amount on these lines.
-- column unsigned_count: How many lines bear no sign of a contract.
-- column unsigned_amount: The part of ordered_amount on these lines; leakage where a contract was running.
-- column unclear_count: How many orders have no lines that could bear a sign, and no requisition that does.
-- column unclear_amount: The part of ordered_amount on these orders.
-- column unsigned_share: unsigned_amount over ordered_amount, 1 for all; null where ordered_amount is not above 0.
-- column ordered_amount_reported: What was ordered, in the reporting currency, by the rate of the order's date; null where no line has one.
-- column line_signed_amount_reported: The part of it on lines with a contract price; null where there is none with a rate.
-- column requisition_signed_amount_reported: The part of it that belongs to requisitions with a contract; null where there is none with a rate.
-- column unsigned_amount_reported: The part of it that bears no sign of a contract; null where there is none with a rate.
-- column unclear_amount_reported: The part of it on orders without lines; null where there is none with a rate.
-- column unconverted_count: How many lines have an amount and no rate: they are missing from the amounts in the reporting currency.
-- column unconverted_amount: The part of ordered_amount without a rate: ordered_amount_reported lacks it.
with orders as (
  select
    listed._company,
    listed.po_number,
    nullif(listed.vendor_id, '') as vendor_id,
    listed.po_date as ordered_day,
    listed.total_amount,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source
  from procurement_analytics.purchase_orders listed
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = listed._company
    and currencies.table_name = 'purchase_orders'
    and currencies.row_key = listed.po_number
),
lines as (
  select
    items._company,
    items.po_number,
    items.contract_price is not null as is_priced,
    coalesce(items.line_total, items.amount, {{ product('items.ordered', 'items.unit_price') }}) as line_amount
  from (
    select
      _company,
      po_number,
      contract_price,
      line_total,
      amount,
      coalesce(qty_ordered, quantity) as ordered,
      unit_price
    from procurement_analytics.purchase_order_line_items
  ) items
),
-- Each day on which a vendor got an order meets the vendor's contracts once, however many orders there were.
days as (
  select distinct _company, vendor_id, ordered_day
  from orders
  where vendor_id is not null and ordered_day is not null
),
terms as (
  select
    contracts._company,
    contracts.vendor_id,
    contracts.effective_date as first_day,
    contracts.expiration_date as last_day,
    contracts.auto_renewal as renews,
    nullif(trim(contracts.scope_category), '') as about
  from procurement_analytics.contracts contracts
  where contracts.vendor_id <> ''
),
covered as (
  select
    _company,
    vendor_id,
    ordered_day,
    case when max(runs) = 2 then 'running' when max(runs) = 1 then 'not known' else 'none' end as contract_standing,
    case
      when max(runs) = 2
        and count(about) filter (where runs = 2) = count(*) filter (where runs = 2)
        and min(about collate "C") filter (where runs = 2) = max(about collate "C") filter (where runs = 2)
        then min(about collate "C") filter (where runs = 2)
    end as contract_scope
  from (
    select
      days._company,
      days.vendor_id,
      days.ordered_day,
      terms.about,
      case
        when terms.first_day <= days.ordered_day and terms.last_day >= days.ordered_day then 2
        when terms.first_day > days.ordered_day then 0
        when terms.last_day < days.ordered_day and terms.renews is not true then 0
        else 1
      end as runs
    from days
    join terms on terms._company = days._company and terms.vendor_id = days.vendor_id
  ) held
  group by _company, vendor_id, ordered_day
),
requested as (
-- with requisitions, requisition_lines
  select distinct requisitions._company, requisitions.generated_po_number as po_number
  from procurement_analytics.requisitions requisitions
  join procurement_analytics.requisition_lines asked
    on asked._company = requisitions._company and asked.id = requisitions.id
  where requisitions.generated_po_number <> ''
    and (asked.contract_id <> '' or asked.contract_unit_price is not null)
-- end
-- without requisitions, requisition_lines
-- |   select _company, po_number from orders where false
-- end
),
bought as (
  select
    orders._company,
    orders.vendor_id,
    cast(date_trunc('month', orders.ordered_day) as date) as month,
    case
      when orders.vendor_id is null or orders.ordered_day is null then 'not known'
      else coalesce(covered.contract_standing, 'none')
    end as contract_standing,
    covered.contract_scope,
    orders.ordered_day,
    orders.currency_code,
    orders.currency_source,
    case
      when lines.is_priced then 'line'
      when requested.po_number is not null then 'requisition'
      when lines.po_number is null then 'unclear'
      else 'unsigned'
    end as sign,
    case when lines.po_number is null then orders.total_amount else lines.line_amount end as amount
  from orders
  left join lines on lines._company = orders._company and lines.po_number = orders.po_number
  left join covered
    on covered._company = orders._company
    and covered.vendor_id = orders.vendor_id
    and covered.ordered_day = orders.ordered_day
  left join requested on requested._company = orders._company and requested.po_number = orders.po_number
),
sized as (
  select bought.*, case when abs(amount) < 100000000000000000000 then amount end as known_amount
  from bought
),
converted as (
  select sized.*, {{ reported('sized.known_amount', 'sized', 'rates') }} as amount_reported
  from sized
  left join procurement_analytics.currency_rates rates
    on rates.currency_code = sized.currency_code and rates.rate_date = sized.ordered_day
),
added as (
  select
    _company,
    vendor_id,
    month,
    contract_standing,
    contract_scope,
    currency_code,
    currency_source,
    count(*) as line_count,
    cast(coalesce(sum(known_amount), 0) as decimal(38, 9)) as ordered_amount,
    count(*) filter (where known_amount is null) as without_amount_count,
    count(*) filter (where sign = 'line') as line_signed_count,
    cast(coalesce(sum(known_amount) filter (where sign = 'line'), 0) as decimal(38, 9)) as line_signed_amount,
    count(*) filter (where sign = 'requisition') as requisition_signed_count,
    cast(coalesce(sum(known_amount) filter (where sign = 'requisition'), 0) as decimal(38, 9)) as requisition_signed_amount,
    count(*) filter (where sign = 'unsigned') as unsigned_count,
    cast(coalesce(sum(known_amount) filter (where sign = 'unsigned'), 0) as decimal(38, 9)) as unsigned_amount,
    count(*) filter (where sign = 'unclear') as unclear_count,
    cast(coalesce(sum(known_amount) filter (where sign = 'unclear'), 0) as decimal(38, 9)) as unclear_amount,
    cast(sum(amount_reported) as decimal(38, 9)) as ordered_amount_reported,
    cast(sum(amount_reported) filter (where sign = 'line') as decimal(38, 9)) as line_signed_amount_reported,
    cast(sum(amount_reported) filter (where sign = 'requisition') as decimal(38, 9)) as requisition_signed_amount_reported,
    cast(sum(amount_reported) filter (where sign = 'unsigned') as decimal(38, 9)) as unsigned_amount_reported,
    cast(sum(amount_reported) filter (where sign = 'unclear') as decimal(38, 9)) as unclear_amount_reported,
    count(*) filter (where known_amount is not null and amount_reported is null) as unconverted_count,
    cast(coalesce(sum(known_amount) filter (where amount_reported is null), 0) as decimal(38, 9)) as unconverted_amount
  from converted
  -- By vendor first: sorted by company, PostgreSQL would meet each row with all of a company's vendors for their names.
  group by vendor_id, _company, month, contract_standing, contract_scope, currency_code, currency_source
)
select
  added._company,
  added.vendor_id,
  names.vendor_name,
  added.month,
  added.contract_standing,
  added.contract_scope,
  added.currency_code,
  added.currency_source,
  added.line_count,
  added.ordered_amount,
  added.without_amount_count,
  added.line_signed_count,
  added.line_signed_amount,
  added.requisition_signed_count,
  added.requisition_signed_amount,
  added.unsigned_count,
  added.unsigned_amount,
  added.unclear_count,
  added.unclear_amount,
  round(
    cast(
      cast(added.unsigned_amount as double precision)
        / case when added.ordered_amount >= 0.0001 then cast(added.ordered_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as unsigned_share,
  added.ordered_amount_reported,
  added.line_signed_amount_reported,
  added.requisition_signed_amount_reported,
  added.unsigned_amount_reported,
  added.unclear_amount_reported,
  added.unconverted_count,
  added.unconverted_amount
from added
left join procurement_analytics.dim_vendors names
  on names._company = added._company and names.vendor_id = added.vendor_id
