-- Discounts for early payment: offered, still to be had, missed and taken, by vendor and month, as far as invoices tell.
-- Each invoice has one standing, by the last day for the discount, what `meanings.paid` in the configuration takes to be
-- paid, and what the service says can still be had. The service documents no date of payment and no field for a
-- discount that was taken: paid before the last day means it could be, and once that day has passed nothing says when it was
-- paid. A discount without a last day may be another than for early payment. Credits are left out; documents of which nothing
-- says whether they are stand beside. Totals and discounts of 10^18 and more are taken to be misread and count as missing.
-- needs: invoices, amount_currencies, calendar_today, dim_vendors, currency_rates
-- key: _company, vendor_id, month, standing, discount_status, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: The company that was invoiced.
-- column vendor_id: Vendor the service resolved the invoices to; null for all those it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month of the invoices' date; null for invoices without a date.
-- column standing: to be had (the last day is today or later, and not paid or the service says so), paid in time (paid, and the last day is yet to come or today), missed (not paid, the last day has passed), not known (nothing says whether or when it was paid, or what says it disagrees), no last day, or none offered.
-- column discount_status: Where the discount stands in the service's words; values not documented, null where it says nothing.
-- column currency_code: Currency of all amounts of the row; null where it is unknown.
-- column currency_source: Where the currency was found, as in amount_currencies.
-- column invoice_count: How many invoices have the standing; over all standings they are all invoices that are no credits.
-- column invoice_amount: Sum of their totals, tax and shipping included.
-- column discount_amount: Sum of the discounts that they name as an amount; 0 where none does.
-- column without_discount_amount_count: How many of those that offer one name no amount, at most a rate, whose unit is not documented.
-- column capturable_amount: Sum of what can still be had, by the service's account; 0 where it gives none.
-- column unclear_count: How many documents of that standing nothing says of whether they are credits; in no other figure.
-- column next_deadline: Of discounts to be had the next last day; null for all others.
-- column invoice_amount_reported: invoice_amount in the reporting currency, each invoice by the rate of its date; null where no invoice has one.
-- column discount_amount_reported: discount_amount in the reporting currency, likewise.
-- column capturable_amount_reported: capturable_amount in the reporting currency, likewise.
-- column unconverted_count: How many invoices have a total and no rate: they are missing from the amounts in the reporting currency.
-- column unconverted_amount: The part of invoice_amount without a rate: invoice_amount_reported lacks it.
with documents as (
  select
    i._company,
    nullif(i.vendor_id, '') as vendor_id,
    cast(date_trunc('month', i.document_date) as date) as month,
    i.discount_deadline as deadline,
    nullif(trim(i.discount_status), '') as discount_status,
    c.currency_code,
    coalesce(c.currency_source, 'unknown') as currency_source,
    case when abs(i.total_amount) < 1000000000000000000 then i.total_amount end as total_amount,
    case when abs(i.discount_amount) < 1000000000000000000 then i.discount_amount end as discount_amount,
    case when abs(i.discount_capturable_amount) < 1000000000000000000 then i.discount_capturable_amount end as capturable,
    i.discount_deadline is not null
      or coalesce(i.discount_amount, 0) > 0
      or coalesce(i.discount_percent, 0) > 0
      or coalesce(i.discount_capturable_amount, 0) > 0 as is_offered,
    i.discount_deadline >= calendar.today as is_running,
    case when abs(i.total_amount) < 1000000000000000000 then {{ reported('i.total_amount', 'c', 'r') }} end as total_reported,
    case when abs(i.discount_amount) < 1000000000000000000 then {{ reported('i.discount_amount', 'c', 'r') }} end as discount_reported,
    case when abs(i.discount_capturable_amount) < 1000000000000000000 then {{ reported('i.discount_capturable_amount', 'c', 'r') }} end as capturable_reported,
    {{ meaning('paid', 'i') }} as is_paid,
    {{ meaning('credit', 'i') }} as is_credit
  from procurement_analytics.invoices i
  join procurement_analytics.calendar_today calendar on true
  left join procurement_analytics.amount_currencies c
    on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
  left join procurement_analytics.currency_rates r on r.currency_code = c.currency_code and r.rate_date = i.document_date
  where {{ meaning('credit', 'i') }} is not true
),
judged as (
  select
    *,
    case
      when not is_offered then 'none offered'
      when deadline is null then 'no last day'
      when is_running and is_paid then 'paid in time'
      when is_running and (capturable > 0 or (not is_paid and capturable is null)) then 'to be had'
      when not is_running and not is_paid and coalesce(capturable, 0) <= 0 then 'missed'
      else 'not known'
    end as standing
  from documents
),
added as (
  select
    _company,
    vendor_id,
    month,
    standing,
    discount_status,
    currency_code,
    currency_source,
    count(*) filter (where not is_credit) as invoice_count,
    coalesce(sum(total_amount) filter (where not is_credit), 0) as invoice_amount,
    coalesce(sum(discount_amount) filter (where not is_credit), 0) as discount_amount,
    count(*) filter (where not is_credit and is_offered and discount_amount is null) as without_discount_amount_count,
    coalesce(sum(capturable) filter (where not is_credit), 0) as capturable_amount,
    count(*) filter (where is_credit is null) as unclear_count,
    min(deadline) filter (where not is_credit and standing = 'to be had') as next_deadline,
    sum(total_reported) filter (where not is_credit) as invoice_amount_reported,
    sum(discount_reported) filter (where not is_credit) as discount_amount_reported,
    sum(capturable_reported) filter (where not is_credit) as capturable_amount_reported,
    count(*) filter (where not is_credit and total_amount is not null and total_reported is null) as unconverted_count,
    coalesce(sum(total_amount) filter (where not is_credit and total_reported is null), 0) as unconverted_amount
  from judged
  group by _company, vendor_id, month, standing, discount_status, currency_code, currency_source
)
select
  a._company,
  a.vendor_id,
  v.vendor_name,
  a.month,
  a.standing,
  a.discount_status,
  a.currency_code,
  a.currency_source,
  a.invoice_count,
  a.invoice_amount,
  a.discount_amount,
  a.without_discount_amount_count,
  a.capturable_amount,
  a.unclear_count,
  a.next_deadline,
  a.invoice_amount_reported,
  a.discount_amount_reported,
  a.capturable_amount_reported,
  a.unconverted_count,
  a.unconverted_amount
from added a
left join procurement_analytics.dim_vendors v on v._company = a._company and v.vendor_id = a.vendor_id
