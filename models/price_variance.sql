-- What was paid for each item at each vendor, against what was ordered, what the service expected and what was paid the
-- time before. An item is the part number on invoice lines, for the service links no lines to items; where the stream
-- item_transactions is on, its transactions come too, by item and kind of document, as rows of their own: look at one
-- source_table at a time. Prices are compared only within one unit of measure and one currency, and weighted with the
-- quantity; credits (`meanings.credit` in the configuration) and lines without a price are left out. Prices
-- and quantities of ten billion and more are taken to be misread.
-- needs: invoices, invoice_line_items, amount_currencies, dim_vendors, currency_rates
-- optional: item_transactions, items
-- key: _company, source_table, item_kind, item, vendor_id, document_type, uom, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column source_table: Where the prices stand: invoice_line_items or item_transactions.
-- column item_kind: What item is: item_id, buyer_part_number, vendor_part_number, manufacturer_part_number, description where a line has no number, or none.
-- column item: The item's identifier or the part number as written; null where a line has neither number nor description.
-- column item_description: What it is, in words; null where nothing is said.
-- column vendor_id: Vendor the service resolved; null for all lines it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column document_type: Kind of document of the transactions in the service's words, values not documented; null for invoice lines.
-- column uom: Unit of measure as written; null where it is not given.
-- column currency_code: Currency of the prices and amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
-- column line_count: How many lines or transactions have a price.
-- column quantity: Quantity of the lines that have one.
-- column amount: That quantity at the prices paid.
-- column average_price: Amount by quantity; null where the quantity adds up to 0.
-- column lowest_price: What one unit cost on the cheapest of the invoice lines.
-- column highest_price: What one unit cost on the dearest of the invoice lines.
-- column first_date: Date of the first document; null where none has a date.
-- column last_date: Date of the latest document; null where none has a date.
-- column order_lines: How many lines show the order's price too, and a quantity; 0 for transactions.
-- column order_variance_amount: What was paid above the order's prices, below 0 where less was paid; null where no line can be compared.
-- column order_variance_pct: That in percent of the amount at the order's prices; null where there is none.
-- column expected_lines: How many lines show the price that the service expected, in the same currency; 0 for transactions.
-- column expected_variance_amount: What was paid above the expected prices, below 0 where less was paid; null where no line can be compared.
-- column expected_variance_pct: That in percent of the amount at the expected prices; null where there is none.
-- column earlier_lines: How many lines have one before them, on the latest earlier date; several of one date count with their average.
-- column earlier_variance_amount: What was paid above the price of the time before, below 0 where less was paid; null where no line can be compared.
-- column earlier_variance_pct: That in percent of the amount at the earlier prices; null where there is none.
-- column amount_reported: The amount in the reporting currency, each line by the rate of its document's date; null where no line has one.
-- column average_price_reported: amount_reported by the quantity that it is of.
-- column lowest_price_reported: The lowest price in the reporting currency, each by the rate of its date.
-- column highest_price_reported: The highest price in the reporting currency, each by the rate of its date.
-- column order_variance_amount_reported: order_variance_amount in the reporting currency, both prices by the rate of the document's date.
-- column expected_variance_amount_reported: expected_variance_amount in the reporting currency, likewise.
-- column earlier_variance_amount_reported: earlier_variance_amount in the reporting currency, both prices by the rate of the later date.
-- column unconverted_count: How many lines have an amount and no rate: they are missing from the amounts in the reporting currency.
-- column unconverted_amount: The part of amount without a rate: amount_reported lacks it.
with lines as (
  select
    lines._company,
    'invoice_line_items' as source_table,
    case
      when trim(lines.buyer_part_number) <> '' then 'buyer_part_number'
      when trim(lines.vendor_part_number) <> '' then 'vendor_part_number'
      when trim(lines.manufacturer_part_number) <> '' then 'manufacturer_part_number'
      when trim(lines.description) <> '' then 'description'
      else 'none'
    end as item_kind,
    coalesce(
      nullif(trim(lines.buyer_part_number), ''),
      nullif(trim(lines.vendor_part_number), ''),
      nullif(trim(lines.manufacturer_part_number), ''),
      nullif(trim(lines.description), '')
    ) as item,
    nullif(trim(lines.description), '') as item_description,
    nullif(invoices.vendor_id, '') as vendor_id,
    cast(null as text) as document_type,
    nullif(trim(lines.uom), '') as uom,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source,
    invoices.document_date as day,
    lines.invoice_qty as quantity,
    lines.invoice_unit_price as price,
    lines.po_unit_price as order_price,
    case
      when nullif(upper(trim(lines.expected_price_currency)), '') is not distinct from currencies.currency_code
        then lines.expected_price
    end as expected_price
  from procurement_analytics.invoice_line_items lines
  join procurement_analytics.invoices invoices
    on invoices._company = lines._company and invoices.doc_id = lines.doc_id
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = lines._company
    and currencies.table_name = 'invoices'
    and currencies.row_key = lines.doc_id
  where {{ meaning('credit', 'invoices') }} is not true
-- with item_transactions, items
  union all
  select
    transactions._company,
    'item_transactions',
    'item_id',
    transactions.item_id,
    nullif(trim(items.description), ''),
    nullif(transactions.vendor_id, ''),
    transactions.doc_type,
    nullif(trim(transactions.uom), ''),
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown'),
    transactions.date,
    transactions.quantity,
    transactions.unit_price,
    null,
    null
  from procurement_analytics.item_transactions transactions
  join procurement_analytics.items items
    on items._company = transactions._company and items.item_id = transactions.item_id
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = transactions._company
    and currencies.table_name = 'item_transactions'
    and currencies.row_key = transactions.item_id
    and currencies.row_index = transactions._index
-- end
),
priced as (
  select
    lines.*,
    {{ product('quantity', 'price') }} as amount,
    {{ product('quantity', 'order_price') }} as order_amount,
    {{ product('quantity', 'expected_price') }} as expected_amount
  from (
    select
      _company,
      source_table,
      item_kind,
      item,
      item_description,
      vendor_id,
      document_type,
      uom,
      currency_code,
      currency_source,
      day,
      price,
      -- Products of larger factors have no room in DuckDB's widest decimal and would end the whole query.
      case when abs(quantity) < 10000000000 then quantity end as quantity,
      case when abs(order_price) < 10000000000 then order_price end as order_price,
      case when abs(expected_price) < 10000000000 then expected_price end as expected_price
    from lines
    where abs(price) < 10000000000
  ) lines
),
days as (
  select
    _company,
    source_table,
    item_kind,
    item,
    vendor_id,
    document_type,
    uom,
    currency_code,
    currency_source,
    day,
    max(item_description collate "C") as item_description,
    count(*) as line_count,
    count(amount) as weighed_lines,
    min(price) as lowest_price,
    max(price) as highest_price,
    sum(quantity) as quantity,
    sum(amount) as amount,
    count(order_amount) as order_lines,
    sum(amount) filter (where order_amount is not null) as compared_with_order,
    sum(order_amount) as order_amount,
    count(expected_amount) as expected_lines,
    sum(amount) filter (where expected_amount is not null) as compared_with_expected,
    sum(expected_amount) as expected_amount,
    case
      when min(price) = max(price) then min(price)
      else round(
        cast(cast(sum(amount) as double precision) / nullif(cast(sum(quantity) as double precision), 0) as decimal(38, 9)),
        6
      )
    end as price
  from priced
  group by _company, source_table, item_kind, item, vendor_id, document_type, uom, currency_code, currency_source, day
),
compared as (
  select
    days.*,
    {{ product('quantity', 'earlier_price') }} as earlier_amount
  from (
    select
      days.*,
      case
        when day is not null then lag(price) over (
          partition by
            _company, source_table, item_kind, item, vendor_id, document_type, uom, currency_code, currency_source
          order by day
        )
      end as earlier_price
    from days
  ) days
),
added as (
  select
    _company,
    source_table,
    item_kind,
    item,
    vendor_id,
    document_type,
    uom,
    compared.currency_code,
    currency_source,
    max(item_description) as item_description,
    sum(line_count) as line_count,
    sum(quantity) as quantity,
    sum(amount) as amount,
    min(lowest_price) as lowest_price,
    max(highest_price) as highest_price,
    min(day) as first_date,
    max(day) as last_date,
    sum(order_lines) as order_lines,
    sum(compared_with_order) as compared_with_order,
    sum(order_amount) as order_amount,
    sum(expected_lines) as expected_lines,
    sum(compared_with_expected) as compared_with_expected,
    sum(expected_amount) as expected_amount,
    sum(weighed_lines) filter (where earlier_amount is not null) as earlier_lines,
    sum(amount) filter (where earlier_amount is not null) as compared_with_earlier,
    sum(earlier_amount) as earlier_amount,
    sum({{ reported('compared.amount', 'compared', 'rates') }}) as amount_reported,
    sum(quantity) filter (where {{ reported('compared.amount', 'compared', 'rates') }} is not null) as quantity_reported,
    min({{ reported('compared.lowest_price', 'compared', 'rates') }}) as lowest_price_reported,
    max({{ reported('compared.highest_price', 'compared', 'rates') }}) as highest_price_reported,
    sum({{ reported('compared.compared_with_order', 'compared', 'rates') }}) - sum({{ reported('compared.order_amount', 'compared', 'rates') }}) as order_variance_reported,
    sum({{ reported('compared.compared_with_expected', 'compared', 'rates') }}) - sum({{ reported('compared.expected_amount', 'compared', 'rates') }}) as expected_variance_reported,
    sum({{ reported('compared.amount', 'compared', 'rates') }}) filter (where earlier_amount is not null) - sum({{ reported('compared.earlier_amount', 'compared', 'rates') }})
      as earlier_variance_reported,
    sum(weighed_lines) filter (where {{ reported('compared.amount', 'compared', 'rates') }} is null) as unconverted_count,
    coalesce(sum(amount) filter (where {{ reported('compared.amount', 'compared', 'rates') }} is null), 0) as unconverted_amount
  from compared
  left join procurement_analytics.currency_rates rates
    on rates.currency_code = compared.currency_code and rates.rate_date = compared.day
  group by
    _company, source_table, item_kind, item, vendor_id, document_type, uom, compared.currency_code, currency_source
)
select
  added._company,
  added.source_table,
  added.item_kind,
  added.item,
  added.item_description,
  added.vendor_id,
  vendors.vendor_name,
  added.document_type,
  added.uom,
  added.currency_code,
  added.currency_source,
  cast(added.line_count as bigint) as line_count,
  added.quantity,
  added.amount,
  round(
    cast(cast(added.amount as double precision) / nullif(cast(added.quantity as double precision), 0) as decimal(38, 9)),
    6
  ) as average_price,
  added.lowest_price,
  added.highest_price,
  added.first_date,
  added.last_date,
  cast(added.order_lines as bigint) as order_lines,
  added.compared_with_order - added.order_amount as order_variance_amount,
  round(
    cast(
      100 * cast(added.compared_with_order - added.order_amount as double precision)
        / case when abs(added.order_amount) >= 0.0001 then cast(added.order_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as order_variance_pct,
  cast(added.expected_lines as bigint) as expected_lines,
  added.compared_with_expected - added.expected_amount as expected_variance_amount,
  round(
    cast(
      100 * cast(added.compared_with_expected - added.expected_amount as double precision)
        / case when abs(added.expected_amount) >= 0.0001 then cast(added.expected_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as expected_variance_pct,
  cast(coalesce(added.earlier_lines, 0) as bigint) as earlier_lines,
  added.compared_with_earlier - added.earlier_amount as earlier_variance_amount,
  round(
    cast(
      100 * cast(added.compared_with_earlier - added.earlier_amount as double precision)
        / case when abs(added.earlier_amount) >= 0.0001 then cast(added.earlier_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as earlier_variance_pct,
  added.amount_reported,
  round(
    cast(
      cast(added.amount_reported as double precision) / nullif(cast(added.quantity_reported as double precision), 0)
      as decimal(38, 9)
    ),
    6
  ) as average_price_reported,
  added.lowest_price_reported,
  added.highest_price_reported,
  added.order_variance_reported as order_variance_amount_reported,
  added.expected_variance_reported as expected_variance_amount_reported,
  added.earlier_variance_reported as earlier_variance_amount_reported,
  cast(coalesce(added.unconverted_count, 0) as bigint) as unconverted_count,
  added.unconverted_amount
from added
left join procurement_analytics.dim_vendors vendors
  on vendors._company = added._company and vendors.vendor_id = added.vendor_id
