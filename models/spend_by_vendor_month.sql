-- Spend: what vendors invoiced, by vendor and month of the invoice's date, in the invoice's currency and with its tax and shipping.
-- Invoices of every status count, for the service does not document its statuses. Credits are no spend: their amounts stand beside it as the service gives them, and so do those of documents of which nothing says whether they are credits. What is taken for a credit, `meanings.credit` in the configuration says; the model assumptions has its share.
-- One row a company, vendor, month, currency and source of the currency. Invoices that no vendor was resolved for stand together without one, and so do those without a date.
-- needs: invoices, amount_currencies, dim_vendors, currency_rates
-- key: _company, vendor_id, month, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: The company that was invoiced.
-- column vendor_id: Vendor the service resolved the invoices to; null for all those it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month of the invoices' date; null for invoices without a date.
-- column currency_code: Currency of all amounts of the row; null where it is unknown.
-- column currency_source: Where the currency was found, as in amount_currencies.
-- column invoice_count: How many invoices the spend is made of, those without an amount included.
-- column spend_amount: Sum of the invoices' totals, tax and shipping included; 0 where no invoice has an amount.
-- column tax_amount: The tax within it, as far as invoices tell.
-- column shipping_amount: The shipping within it, as far as invoices tell.
-- column without_amount_count: How many of the invoices have no total, so that their spend is missing.
-- column credit_count: How many documents are credits.
-- column credit_amount: Sum of their totals, with the sign that the service gives them; not part of the spend.
-- column unclear_count: How many documents nothing says of whether they are credits; not part of the spend.
-- column unclear_amount: Sum of their totals.
-- column spend_amount_reported: The spend in the reporting currency, each invoice by the rate of its date; null where no invoice has one.
-- column tax_amount_reported: The tax within it, in the reporting currency.
-- column shipping_amount_reported: The shipping within it, in the reporting currency.
-- column credit_amount_reported: The credits in the reporting currency, each by the rate of its date.
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
    i.total_amount,
    i.tax_amount,
    i.shipping_amount,
    {{ reported('i.total_amount', 'c', 'r') }} as total_reported,
    {{ reported('i.tax_amount', 'c', 'r') }} as tax_reported,
    {{ reported('i.shipping_amount', 'c', 'r') }} as shipping_reported,
    {{ meaning('credit', 'i') }} as is_credit
  from procurement_analytics.invoices i
  left join procurement_analytics.amount_currencies c
    on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
  left join procurement_analytics.currency_rates r on r.currency_code = c.currency_code and r.rate_date = i.document_date
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
    coalesce(sum(tax_amount) filter (where not is_credit), 0) as tax_amount,
    coalesce(sum(shipping_amount) filter (where not is_credit), 0) as shipping_amount,
    count(*) filter (where not is_credit and total_amount is null) as without_amount_count,
    count(*) filter (where is_credit) as credit_count,
    coalesce(sum(total_amount) filter (where is_credit), 0) as credit_amount,
    count(*) filter (where is_credit is null) as unclear_count,
    coalesce(sum(total_amount) filter (where is_credit is null), 0) as unclear_amount,
    sum(total_reported) filter (where not is_credit) as spend_amount_reported,
    sum(tax_reported) filter (where not is_credit) as tax_amount_reported,
    sum(shipping_reported) filter (where not is_credit) as shipping_amount_reported,
    sum(total_reported) filter (where is_credit) as credit_amount_reported,
    sum(total_reported) filter (where is_credit is null) as unclear_amount_reported,
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
  m.tax_amount,
  m.shipping_amount,
  m.without_amount_count,
  m.credit_count,
  m.credit_amount,
  m.unclear_count,
  m.unclear_amount,
  m.spend_amount_reported,
  m.tax_amount_reported,
  m.shipping_amount_reported,
  m.credit_amount_reported,
  m.unclear_amount_reported,
  m.unconverted_count,
  m.unconverted_amount
from months m
left join procurement_analytics.dim_vendors v on v._company = m._company and v.vendor_id = m.vendor_id
