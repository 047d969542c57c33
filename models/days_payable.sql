-- How many days vendors give until payment is due, by vendor and month of the invoice, weighted with the amounts. These
-- are days of the terms, from the invoice's date to its due date: the service documents no date of payment, so how many
-- days it took to pay cannot be told. The days that the service itself reads from the terms stand beside. Left out are
-- credits, totals that are not above 0 or of 10^14 and more, and due
-- dates before the invoice's or more than ten years after. To average further, add amount_days and dated_amount up first.
-- needs: invoices, amount_currencies, dim_vendors, currency_rates
-- key: _company, vendor_id, month, currency_code, currency_source
-- references: vendor_id -> dim_vendors.vendor_id
-- column _company: The company that was invoiced.
-- column vendor_id: Vendor the service resolved the invoices to; null for all those it resolved none for.
-- column vendor_name: The vendor's label as in dim_vendors; null without a vendor.
-- column month: First day of the month of the invoices' date; null for invoices without a date, which have no days.
-- column currency_code: Currency of all amounts of the row; null where it is unknown.
-- column currency_source: Where the currency was found, as in amount_currencies.
-- column invoice_count: How many invoices there are, credits left out.
-- column unclear_count: How many documents nothing says of whether they are credits; in no other figure.
-- column dated_count: How many of them have days: both dates and a total as said above.
-- column dated_amount: Sum of the totals of those.
-- column amount_days: Sum of each of those totals times its days.
-- column average_days: amount_days over dated_amount: days until payment is due, weighted with the amounts; null where no invoice has days.
-- column shortest_days: Fewest days of an invoice; null where none has days.
-- column longest_days: Most days of an invoice; null where none has days.
-- column net_days_count: How many invoices have days by the service's reading of their terms (net_days, from 0 to 3,660) and a total.
-- column net_days_amount: Sum of the totals of those.
-- column average_net_days: Those days, weighted with the amounts; null where no invoice has them.
-- column dated_amount_reported: dated_amount in the reporting currency, each invoice by the rate of its date; null where no invoice has one.
-- column net_days_amount_reported: net_days_amount in the reporting currency, likewise.
-- column unconverted_count: How many invoices of dated_amount have no rate: they are missing from it in the reporting currency.
-- column unconverted_amount: The part of dated_amount without a rate: dated_amount_reported lacks it.
with documents as (
  select
    i._company,
    nullif(i.vendor_id, '') as vendor_id,
    i.document_date,
    c.currency_code,
    coalesce(c.currency_source, 'unknown') as currency_source,
    case when i.due_date - i.document_date between 0 and 3660 then i.due_date - i.document_date end as days,
    case when i.net_days between 0 and 3660 then i.net_days end as net_days,
    {{ meaning('credit', 'i') }} as is_credit,
    case
      when {{ meaning('credit', 'i') }} is false and i.total_amount > 0 and i.total_amount < 100000000000000
        then i.total_amount
    end as amount,
    {{ reported('i.total_amount', 'c', 'r') }} as total_reported
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
    cast(date_trunc('month', document_date) as date) as month,
    currency_code,
    currency_source,
    count(*) filter (where not is_credit) as invoice_count,
    count(*) filter (where is_credit is null) as unclear_count,
    count(amount) filter (where days is not null) as dated_count,
    coalesce(sum(amount) filter (where days is not null), 0) as dated_amount,
    coalesce(sum(cast(amount * days as decimal(38, 9))), 0) as amount_days,
    min(days) filter (where amount is not null) as shortest_days,
    max(days) filter (where amount is not null) as longest_days,
    count(amount) filter (where net_days is not null) as net_days_count,
    coalesce(sum(amount) filter (where net_days is not null), 0) as net_days_amount,
    sum(cast(amount * net_days as decimal(38, 9))) as amount_net_days,
    sum(total_reported) filter (where amount is not null and days is not null) as dated_amount_reported,
    sum(total_reported) filter (where amount is not null and net_days is not null) as net_days_amount_reported,
    count(amount) filter (where days is not null and total_reported is null) as unconverted_count,
    coalesce(sum(amount) filter (where days is not null and total_reported is null), 0) as unconverted_amount
  from documents
  group by 1, 2, 3, 4, 5
)
select
  m._company,
  m.vendor_id,
  v.vendor_name,
  m.month,
  m.currency_code,
  m.currency_source,
  m.invoice_count,
  m.unclear_count,
  m.dated_count,
  m.dated_amount,
  m.amount_days,
  round(
    cast(cast(m.amount_days as double precision) / nullif(cast(m.dated_amount as double precision), 0) as decimal(38, 9)),
    4
  ) as average_days,
  cast(m.shortest_days as bigint) as shortest_days,
  cast(m.longest_days as bigint) as longest_days,
  m.net_days_count,
  m.net_days_amount,
  round(
    cast(
      cast(m.amount_net_days as double precision) / nullif(cast(m.net_days_amount as double precision), 0)
      as decimal(38, 9)
    ),
    4
  ) as average_net_days,
  m.dated_amount_reported,
  m.net_days_amount_reported,
  m.unconverted_count,
  m.unconverted_amount
from months m
left join procurement_analytics.dim_vendors v on v._company = m._company and v.vendor_id = m.vendor_id
