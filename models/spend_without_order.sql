-- Spend on invoices that belong to no order, by vendor and month, with all that the vendor invoiced beside it. An invoice
-- has an order where the service matched it with one; those that print an order's number though none was matched count as
-- without, and stand once more by themselves. Credits are left out; documents of which nothing says whether they are
-- stand beside. Totals of 10^18 and more are taken to be misread and count as missing.
-- needs: invoices, amount_currencies, dim_vendors, currency_rates
-- key: _company, vendor_id, month, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: The company that was invoiced.
-- column vendor_id: Vendor the service resolved the invoices to; null for all those it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month of the invoices' date; null for invoices without a date.
-- column currency_code: Currency of all amounts of the row; null where it is unknown.
-- column currency_source: Where the currency was found, as in amount_currencies.
-- column invoice_count: How many invoices there are, with an order or without.
-- column spend_amount: Sum of their totals, tax and shipping included, as in spend_by_vendor_month.
-- column without_order_count: How many of them the service matched with no order.
-- column without_order_amount: Sum of the totals of those.
-- column without_order_share: That amount over spend_amount, 1 for all; null where spend_amount is not above 0.
-- column without_order_count_share: Those invoices over all of them, 1 for all; null where there are none.
-- column order_named_count: How many of those without an order print an order's number all the same.
-- column order_named_amount: Sum of the totals of those.
-- column without_amount_count: How many of all the invoices have no total, so that the sums lack them.
-- column unclear_count: How many documents nothing says of whether they are credits; in none of the figures before.
-- column unclear_amount: Sum of their totals.
-- column spend_amount_reported: The spend in the reporting currency, each invoice by the rate of its date; null where no invoice has one.
-- column without_order_amount_reported: The part of it without an order.
-- column order_named_amount_reported: The part of that whose invoices print an order's number.
-- column unclear_amount_reported: The documents of which nothing says whether they are credits, in the reporting currency.
-- column unconverted_count: How many documents have a total and no rate: they are missing from the amounts in the reporting currency.
-- column unconverted_amount: The part of spend_amount without a rate: spend_amount_reported lacks it.
with documents as (
  select
    i._company,
    nullif(i.vendor_id, '') as vendor_id,
    cast(date_trunc('month', i.document_date) as date) as month,
    c.currency_code,
    coalesce(c.currency_source, 'unknown') as currency_source,
    case when abs(i.total_amount) < 1000000000000000000 then i.total_amount end as total_amount,
    case when abs(i.total_amount) < 1000000000000000000 then {{ reported('i.total_amount', 'c', 'r') }} end as total_reported,
    coalesce(i.matched_po_number, '') = '' as is_without,
    trim(i.buyer_po_number) <> '' as names_order,
    {{ meaning('credit', 'i') }} as is_credit
  from procurement_analytics.invoices i
  left join procurement_analytics.amount_currencies c
    on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
  left join procurement_analytics.currency_rates r on r.currency_code = c.currency_code and r.rate_date = i.document_date
  where {{ meaning('credit', 'i') }} is not true
),
months as (
  select
    _company,
    vendor_id,
    month,
    currency_code,
    currency_source,
    count(*) filter (where not is_credit) as invoice_count,
    coalesce(sum(total_amount) filter (where not is_credit), 0) as spend_amount,
    count(*) filter (where not is_credit and is_without) as without_order_count,
    coalesce(sum(total_amount) filter (where not is_credit and is_without), 0) as without_order_amount,
    count(*) filter (where not is_credit and is_without and names_order) as order_named_count,
    coalesce(sum(total_amount) filter (where not is_credit and is_without and names_order), 0) as order_named_amount,
    count(*) filter (where not is_credit and total_amount is null) as without_amount_count,
    count(*) filter (where is_credit is null) as unclear_count,
    coalesce(sum(total_amount) filter (where is_credit is null), 0) as unclear_amount,
    sum(total_reported) filter (where not is_credit) as spend_reported,
    sum(total_reported) filter (where not is_credit and is_without) as without_order_reported,
    sum(total_reported) filter (where not is_credit and is_without and names_order) as order_named_reported,
    sum(total_reported) filter (where is_credit is null) as unclear_reported,
    count(*) filter (where total_amount is not null and total_reported is null) as unconverted_count,
    coalesce(sum(total_amount) filter (where not is_credit and total_reported is null), 0) as unconverted_amount
  from documents
  group by _company, vendor_id, month, currency_code, currency_source
)
select
  m._company,
  m.vendor_id,
  v.vendor_name,
  m.month,
  m.currency_code,
  m.currency_source,
  m.invoice_count,
  m.spend_amount,
  m.without_order_count,
  m.without_order_amount,
  round(
    cast(
      cast(m.without_order_amount as double precision)
        / case when m.spend_amount >= 0.0001 then cast(m.spend_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as without_order_share,
  round(cast(cast(m.without_order_count as double precision) / nullif(m.invoice_count, 0) as decimal(38, 9)), 4)
    as without_order_count_share,
  m.order_named_count,
  m.order_named_amount,
  m.without_amount_count,
  m.unclear_count,
  m.unclear_amount,
  m.spend_reported as spend_amount_reported,
  m.without_order_reported as without_order_amount_reported,
  m.order_named_reported as order_named_amount_reported,
  m.unclear_reported as unclear_amount_reported,
  m.unconverted_count,
  m.unconverted_amount
from months m
left join procurement_analytics.dim_vendors v on v._company = m._company and v.vendor_id = m.vendor_id
