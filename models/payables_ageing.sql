-- Open payables by vendor and by how long they have been due, as of today. What is paid, `meanings.paid` in the
-- configuration says, and is left out; where it says nothing, invoices stand as not known in rows of their own. Totals
-- count whole, for parts that are paid already are not given. Credits are no payables and stand beside, as in
-- cash_requirements, and so do documents of which nothing says whether they are credits. Totals of 10^18 and more are taken to
-- be misread and count as missing.
-- needs: invoices, amount_currencies, calendar_today, dim_vendors
-- reported: open_amount, vendor_open_amount, on_hold_amount, credit_amount, unclear_amount by today
-- key: _company, vendor_id, paid, bucket_number, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: The company that owes.
-- column vendor_id: Vendor the service resolved the invoices to; null for all those it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column paid: Whether the invoices are taken to be paid: not paid, or not known.
-- column bucket_number: Number of the bucket, to sort by: 1 not due, 2 to 5 overdue, 6 no due date.
-- column bucket: How many days ago payment was due: not due (today or later), 1-30 days, 31-60 days, 61-90 days, over 90 days, or no due date.
-- column currency_code: Currency of all amounts of the row; null where it is unknown.
-- column currency_source: Where the currency was found, as in amount_currencies.
-- column invoice_count: How many invoices are open, those without an amount included.
-- column open_amount: Sum of their totals, tax and shipping included; 0 where no invoice has an amount.
-- column vendor_open_amount: The same over all buckets of the vendor, of the same currency and the same standing in paid.
-- column open_share: open_amount over that, 1 for all; null where that is not above 0.
-- column without_amount_count: How many of the invoices have no total, so that the sums lack them.
-- column on_hold_count: How many of them are on hold, as `meanings.held` says.
-- column on_hold_amount: The part of open_amount that is on hold.
-- column oldest_due_date: Earliest due date among them; null where none has one.
-- column credit_count: How many credits fall into the bucket by their own due dates.
-- column credit_amount: Sum of their totals, with the sign that the service gives them; not part of open_amount.
-- column unclear_count: How many documents fall into it of which nothing says whether they are credits.
-- column unclear_amount: Sum of their totals; not part of open_amount.
with documents as (
  select
    i._company,
    nullif(i.vendor_id, '') as vendor_id,
    i.due_date,
    calendar.today - i.due_date as days,
    c.currency_code,
    coalesce(c.currency_source, 'unknown') as currency_source,
    case when abs(i.total_amount) < 1000000000000000000 then i.total_amount end as total_amount,
    {{ meaning('paid', 'i') }} as is_paid,
    {{ meaning('held', 'i') }} as is_held,
    {{ meaning('credit', 'i') }} as is_credit
  from procurement_analytics.invoices i
  join procurement_analytics.calendar_today calendar on true
  left join procurement_analytics.amount_currencies c
    on c._company = i._company and c.table_name = 'invoices' and c.row_key = i.doc_id
),
buckets as (
  select
    _company,
    vendor_id,
    case when is_paid is null then 'not known' else 'not paid' end as paid,
    case
      when days is null then 6
      when days <= 0 then 1
      when days <= 30 then 2
      when days <= 60 then 3
      when days <= 90 then 4
      else 5
    end as bucket_number,
    currency_code,
    currency_source,
    count(*) filter (where not is_credit) as invoice_count,
    coalesce(sum(total_amount) filter (where not is_credit), 0) as open_amount,
    count(*) filter (where not is_credit and total_amount is null) as without_amount_count,
    count(*) filter (where not is_credit and is_held) as on_hold_count,
    coalesce(sum(total_amount) filter (where not is_credit and is_held), 0) as on_hold_amount,
    min(due_date) filter (where not is_credit) as oldest_due_date,
    count(*) filter (where is_credit) as credit_count,
    coalesce(sum(total_amount) filter (where is_credit), 0) as credit_amount,
    count(*) filter (where is_credit is null) as unclear_count,
    coalesce(sum(total_amount) filter (where is_credit is null), 0) as unclear_amount
  from documents
  where is_paid is not true
  group by 1, 2, 3, 4, 5, 6
),
compared as (
  select
    *,
    sum(open_amount) over (partition by _company, vendor_id, paid, currency_code, currency_source) as vendor_open_amount
  from buckets
)
select
  b._company,
  b.vendor_id,
  v.vendor_name,
  b.paid,
  b.bucket_number,
  case b.bucket_number
    when 1 then 'not due'
    when 2 then '1-30 days'
    when 3 then '31-60 days'
    when 4 then '61-90 days'
    when 5 then 'over 90 days'
    else 'no due date'
  end as bucket,
  b.currency_code,
  b.currency_source,
  b.invoice_count,
  b.open_amount,
  b.vendor_open_amount,
  round(
    cast(
      cast(b.open_amount as double precision)
        / case when b.vendor_open_amount >= 0.0001 then cast(b.vendor_open_amount as double precision) end
      as decimal(38, 9)
    ),
    4
  ) as open_share,
  b.without_amount_count,
  b.on_hold_count,
  b.on_hold_amount,
  b.oldest_due_date,
  b.credit_count,
  b.credit_amount,
  b.unclear_count,
  b.unclear_amount
from compared b
left join procurement_analytics.dim_vendors v on v._company = b._company and v.vendor_id = b.vendor_id
