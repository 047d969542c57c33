-- Prices against the contract's, by vendor, item and month: what was ordered and what was invoiced at other prices than
-- contract_price of the order line says, and what that is worth. Where the service names price moves of an order, they stand
-- against the contract price of the same part on the same order, as rows of their own: look at one source_table at a time.
-- Only vendors, items and months with a contract price are listed; lines without one stand beside in no_contract_count, and what
-- is bought outside of contracts is in contract_leakage. An item is the part number of the order line, for the service
-- links no order lines to items. Prices are compared only within one unit of measure and one currency. Prices and
-- quantities of ten billion and more are taken to be misread.
-- needs: purchase_orders, purchase_order_line_items, amount_currencies, dim_vendors, currency_rates
-- optional: purchase_order_price_moves
-- key: _company, source_table, vendor_id, item_kind, item, uom, month, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column source_table: Where the prices stand: purchase_order_line_items or purchase_order_price_moves.
-- column vendor_id: Vendor the service resolved the order to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column item_kind: What item is: part_number, vendor_part_number, manufacturer_part_number, description where a line has no number, or none.
-- column item: The part number as written; null where a line has neither number nor description.
-- column item_description: What it is, in words; null where nothing is said, and for price moves.
-- column uom: Unit of measure as written; null where it is not given, and for price moves.
-- column month: First day of the month of the order's date, of a price move that of the day from which the new price applies; null where that is not known.
-- column currency_code: Currency of the prices and amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
-- column line_count: How many order lines or price moves there are.
-- column no_contract_count: How many of them have no contract price: the line bears none, or for a price move the lines of its part on the order bear none, several, one in another currency, or several units.
-- column lowest_contract_price: What one unit costs by the contract on the line where that is least.
-- column highest_contract_price: What one unit costs by the contract on the line where that is most.
-- column ordered_count: How many have a contract price and the price ordered, for a price move the new price.
-- column ordered_above_count: How many of them are above the contract price.
-- column ordered_below_count: How many of them are below it.
-- column ordered_valued_count: How many of them have a quantity, so that the amounts hold them; 0 for price moves, which have none.
-- column ordered_contract_amount: The ordered quantities at the contract prices; null where no line can be compared.
-- column ordered_effect_amount: What was ordered above the contract's prices, below 0 where less; null where no line can be compared.
-- column ordered_effect_pct: That in percent of the amount at contract prices; null where there is none.
-- column invoiced_count: How many lines have a contract price and the price of one unit as invoiced; 0 for price moves.
-- column invoiced_above_count: How many of them are above the contract price.
-- column invoiced_below_count: How many of them are below it.
-- column invoiced_valued_count: How many of them say how much was invoiced, so that the amounts hold them.
-- column invoiced_contract_amount: The invoiced quantities at the contract prices; null where no line can be compared.
-- column invoiced_effect_amount: What was invoiced above the contract's prices, below 0 where less; null where no line can be compared.
-- column invoiced_effect_pct: That in percent of the amount at contract prices; null where there is none.
-- column raised_count: How many price moves go up from the price before; null for order lines.
-- column lowered_count: How many price moves go down from the price before; null for order lines.
-- column lowest_contract_price_reported: The lowest of the contract prices in the reporting currency, each by the rate of the order's date, or of the day of the price move; null where none has a rate.
-- column highest_contract_price_reported: The highest of them, likewise.
-- column ordered_contract_amount_reported: ordered_contract_amount in the reporting currency, each line by the rate of its order's date.
-- column ordered_effect_amount_reported: ordered_effect_amount in the reporting currency, both prices by the rate of the order's date.
-- column invoiced_contract_amount_reported: invoiced_contract_amount in the reporting currency, each line by the rate of its order's date.
-- column invoiced_effect_amount_reported: invoiced_effect_amount in the reporting currency, both prices by the rate of the order's date.
-- column unconverted_count: How many have a contract price and no rate: they are missing from the amounts in the reporting currency.
with orders as (
  select
    listed._company,
    listed.po_number,
    nullif(listed.vendor_id, '') as vendor_id,
    listed.po_date,
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
    nullif(trim(items.part_number), '') as part,
    case
      when trim(items.part_number) <> '' then 'part_number'
      when trim(items.vendor_part_number) <> '' then 'vendor_part_number'
      when trim(items.manufacturer_part_number) <> '' then 'manufacturer_part_number'
      when trim(items.description) <> '' then 'description'
      else 'none'
    end as item_kind,
    coalesce(
      nullif(trim(items.part_number), ''),
      nullif(trim(items.vendor_part_number), ''),
      nullif(trim(items.manufacturer_part_number), ''),
      nullif(trim(items.description), '')
    ) as item,
    nullif(trim(items.description), '') as item_description,
    nullif(trim(coalesce(items.uom, items.unit)), '') as uom,
    -- Products of larger factors have no room in DuckDB's widest decimal and would end the whole query.
    case when abs(items.contract_price) < 10000000000 then items.contract_price end as contract_price,
    case when abs(items.unit_price) < 10000000000 then items.unit_price end as price,
    case when abs(items.invoice_unit_price) < 10000000000 then items.invoice_unit_price end as invoice_price,
    case when abs(coalesce(items.qty_ordered, items.quantity)) < 10000000000 then coalesce(items.qty_ordered, items.quantity) end
      as ordered,
    case when abs(items.qty_invoiced) < 10000000000 then items.qty_invoiced end as invoiced
  from procurement_analytics.purchase_order_line_items items
),
-- with purchase_order_price_moves
parts as (
  select
    _company,
    po_number,
    part,
    case
      when min(contract_price) = max(contract_price) and min(coalesce(uom, '') collate "C") = max(coalesce(uom, '') collate "C")
        then min(contract_price)
    end as contract_price
  from lines
  where part is not null
  group by _company, po_number, part
),
moves as (
  select
    moved._company,
    moved.po_number,
    nullif(trim(moved.part_number), '') as part,
    moved.effective_date,
    case when abs(moved.price) < 10000000000 then moved.price end as price,
    case when moved.price > moved.prior_price then 1 else 0 end as raised,
    case when moved.price < moved.prior_price then 1 else 0 end as lowered,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source
  from procurement_analytics.purchase_order_price_moves moved
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = moved._company
    and currencies.table_name = 'purchase_order_price_moves'
    and currencies.row_key = moved.po_number
    and currencies.row_index = moved._index
),
-- end
prices as (
  select
    lines._company,
    'purchase_order_line_items' as source_table,
    orders.vendor_id,
    lines.item_kind,
    lines.item,
    lines.item_description,
    lines.uom,
    orders.po_date as day,
    orders.currency_code,
    orders.currency_source,
    lines.contract_price,
    lines.price,
    lines.ordered,
    lines.invoice_price,
    lines.invoiced,
    cast(null as integer) as raised,
    cast(null as integer) as lowered
  from lines
  join orders on orders._company = lines._company and orders.po_number = lines.po_number
-- with purchase_order_price_moves
  union all
  select
    moves._company,
    'purchase_order_price_moves',
    orders.vendor_id,
    case when moves.part is null then 'none' else 'part_number' end,
    moves.part,
    null,
    null,
    moves.effective_date,
    moves.currency_code,
    moves.currency_source,
    case when moves.currency_code is not distinct from orders.currency_code then parts.contract_price end,
    moves.price,
    null,
    null,
    null,
    moves.raised,
    moves.lowered
  from moves
  join orders on orders._company = moves._company and orders.po_number = moves.po_number
  left join parts
    on parts._company = moves._company and parts.po_number = moves.po_number and parts.part = moves.part
-- end
),
compared as (
  select
    prices.*,
    cast(date_trunc('month', day) as date) as month,
    case when price is not null then {{ product('ordered', 'contract_price') }} end as ordered_contract,
    case when contract_price is not null then {{ product('ordered', 'price') }} end as ordered_amount,
    case when invoice_price is not null then {{ product('invoiced', 'contract_price') }} end as invoiced_contract,
    case when contract_price is not null then {{ product('invoiced', 'invoice_price') }} end as invoiced_amount
  from prices
),
converted as (
  select
    compared.*,
    {{ reported('compared.contract_price', 'compared', 'rates') }} as contract_price_reported,
    {{ reported('compared.ordered_contract', 'compared', 'rates') }} as ordered_contract_reported,
    {{ reported('compared.ordered_amount', 'compared', 'rates') }} as ordered_amount_reported,
    {{ reported('compared.invoiced_contract', 'compared', 'rates') }} as invoiced_contract_reported,
    {{ reported('compared.invoiced_amount', 'compared', 'rates') }} as invoiced_amount_reported
  from compared
  left join procurement_analytics.currency_rates rates
    on rates.currency_code = compared.currency_code and rates.rate_date = compared.day
),
added as (
  select
    _company,
    source_table,
    vendor_id,
    item_kind,
    item,
    max(item_description collate "C") as item_description,
    uom,
    month,
    currency_code,
    currency_source,
    count(*) as line_count,
    count(*) filter (where contract_price is null) as no_contract_count,
    min(contract_price) as lowest_contract_price,
    max(contract_price) as highest_contract_price,
    count(*) filter (where price is not null and contract_price is not null) as ordered_count,
    count(*) filter (where price > contract_price) as ordered_above_count,
    count(*) filter (where price < contract_price) as ordered_below_count,
    count(ordered_amount) as ordered_valued_count,
    cast(sum(ordered_contract) as decimal(38, 9)) as ordered_contract_amount,
    cast(sum(ordered_amount) - sum(ordered_contract) as decimal(38, 9)) as ordered_effect_amount,
    count(*) filter (where invoice_price is not null and contract_price is not null) as invoiced_count,
    count(*) filter (where invoice_price > contract_price) as invoiced_above_count,
    count(*) filter (where invoice_price < contract_price) as invoiced_below_count,
    count(invoiced_amount) as invoiced_valued_count,
    cast(sum(invoiced_contract) as decimal(38, 9)) as invoiced_contract_amount,
    cast(sum(invoiced_amount) - sum(invoiced_contract) as decimal(38, 9)) as invoiced_effect_amount,
    cast(sum(raised) as bigint) as raised_count,
    cast(sum(lowered) as bigint) as lowered_count,
    min(contract_price_reported) as lowest_contract_price_reported,
    max(contract_price_reported) as highest_contract_price_reported,
    cast(sum(ordered_contract_reported) as decimal(38, 9)) as ordered_contract_amount_reported,
    cast(sum(ordered_amount_reported) - sum(ordered_contract_reported) as decimal(38, 9)) as ordered_effect_amount_reported,
    cast(sum(invoiced_contract_reported) as decimal(38, 9)) as invoiced_contract_amount_reported,
    cast(sum(invoiced_amount_reported) - sum(invoiced_contract_reported) as decimal(38, 9))
      as invoiced_effect_amount_reported,
    count(*) filter (where contract_price is not null and contract_price_reported is null) as unconverted_count
  from converted
  -- By vendor first: sorted by company, PostgreSQL would meet each row with all of a company's vendors for their names.
  group by vendor_id, _company, source_table, item_kind, item, uom, month, currency_code, currency_source
)
select
  added._company,
  added.source_table,
  added.vendor_id,
  names.vendor_name,
  added.item_kind,
  added.item,
  added.item_description,
  added.uom,
  added.month,
  added.currency_code,
  added.currency_source,
  added.line_count,
  added.no_contract_count,
  added.lowest_contract_price,
  added.highest_contract_price,
  added.ordered_count,
  added.ordered_above_count,
  added.ordered_below_count,
  added.ordered_valued_count,
  added.ordered_contract_amount,
  added.ordered_effect_amount,
  round(
    cast(
      100 * cast(added.ordered_effect_amount as double precision)
        / case when abs(added.ordered_contract_amount) >= 0.0001 then cast(added.ordered_contract_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as ordered_effect_pct,
  added.invoiced_count,
  added.invoiced_above_count,
  added.invoiced_below_count,
  added.invoiced_valued_count,
  added.invoiced_contract_amount,
  added.invoiced_effect_amount,
  round(
    cast(
      100 * cast(added.invoiced_effect_amount as double precision)
        / case when abs(added.invoiced_contract_amount) >= 0.0001 then cast(added.invoiced_contract_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as invoiced_effect_pct,
  added.raised_count,
  added.lowered_count,
  added.lowest_contract_price_reported,
  added.highest_contract_price_reported,
  added.ordered_contract_amount_reported,
  added.ordered_effect_amount_reported,
  added.invoiced_contract_amount_reported,
  added.invoiced_effect_amount_reported,
  added.unconverted_count
from added
left join procurement_analytics.dim_vendors names
  on names._company = added._company and names.vendor_id = added.vendor_id
where added.no_contract_count < added.line_count
