-- Invoices that may have come twice: groups of invoices of one vendor, one row a group and member, with what speaks for it.
-- Two ways lead into a group. number: the same number, without regard to case, blanks, the marks - . / _ # : , ; ( ) and
-- zeros in front. amount: other numbers or none, but the same total in the same currency, each dated at most five
-- days after the one before it. Both are candidates and no proof: weekly or daily bills of one amount are left to the reader, and a number may
-- be used again in another year; score, reason and days_apart tell how much agrees.
-- at_stake_amount counts all members of a group but the first; a document in two groups counts once, so that it can be
-- added up over all rows, one currency at a time. Credits (`meanings.credit` in the configuration) are left out, and so are invoices
-- without a vendor; of documents that nothing says of whether they are credits nothing is at stake, see is_unclear.
-- needs: invoices, amount_currencies, dim_vendors
-- key: _company, group_id, doc_id
-- references: doc_id -> invoices.doc_id
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: total_amount, at_stake_amount by document_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column group_id: Which rows belong together: number or amount, and the invoice document that is the group's first.
-- column doc_id: The invoice document; it may be in one group of each way.
-- column grouped_by: What brought the group together: number or amount.
-- column reason: What the row has in common with another of the group: number, amount and date; number and amount; number and date; number; or amount and date.
-- column score: How many of these three agree, from 1 to 3.
-- column group_size: How many invoices the group has.
-- column member_number: Counts the group's members from 1 by their dates, those without one last, and unclear documents after all others.
-- column days_apart: Days since the group's member before it in time; null for the earliest and where a date is not known.
-- column vendor_id: Vendor the service resolved the invoices to.
-- column vendor_name: The vendor's label as in dim_vendors.
-- column document_number: Invoice number printed on the document; null where none was read.
-- column document_date: Calendar date on the invoice; null where none was read.
-- column matched_po_number: Purchase order the service matched the invoice with; null where it matched none.
-- column total_amount: Total of the invoice; null where none was read.
-- column paid: Whether the invoice is taken to be paid, as `meanings.paid` in the configuration says: paid, not paid or not known.
-- column is_unclear: Whether nothing says if the document is a credit.
-- column at_stake_amount: The total of the row if it is not the group's first and not counted in another group, else 0; null without a total and for unclear documents.
-- column currency_code: Currency of the amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
with bills as (
  select
    invoices._company,
    invoices.doc_id,
    nullif(invoices.vendor_id, '') as vendor_id,
    invoices.document_date,
    invoices.total_amount,
    -- Letters beyond ASCII have no lower case that is the same in every database.
    nullif(
      ltrim(
        translate(
          invoices.document_number,
          'ABCDEFGHIJKLMNOPQRSTUVWXYZ -./_#:,;()',
          'abcdefghijklmnopqrstuvwxyz'
        ),
        '0'
      ),
      ''
    ) as number_key,
    {{ meaning('credit', 'invoices') }} as is_credit,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source
  from procurement_analytics.invoices invoices
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = invoices._company
    and currencies.table_name = 'invoices'
    and currencies.row_key = invoices.doc_id
),
-- Windows by vendor or document first: sorted by company, PostgreSQL would meet each row with all of a company's vendors
-- for their names.
repeated as (
  select
    bills.*,
    count(number_key) over (partition by vendor_id, _company, number_key) as number_count,
    case
      when total_amount <> 0 and document_date is not null
        then document_date - lag(document_date) over same_amount
    end as days_before,
    case
      when total_amount <> 0 and document_date is not null
        then lead(document_date) over same_amount - document_date
    end as days_after
  from bills
  where vendor_id is not null and is_credit is not true
  window same_amount as (
    partition by vendor_id, _company, total_amount, currency_code
    order by document_date nulls last, doc_id collate "C"
  )
),
members as (
  select
    repeated.*,
    'number' as grouped_by,
    number_key as number_group,
    cast(null as decimal(38, 9)) as amount_group,
    cast(null as text) as currency_group,
    cast(null as bigint) as run_group
  from repeated
  where number_count > 1
  union all
  select
    repeated.*,
    'amount',
    null,
    total_amount,
    currency_code,
    -- A gap of more than five days begins a new run of equal amounts.
    cast(
      sum(case when days_before <= 5 then 0 else 1 end) over (
        partition by vendor_id, _company, total_amount, currency_code
        order by document_date, doc_id collate "C"
        rows unbounded preceding
      ) as bigint
    )
  from repeated
  where days_before <= 5 or days_after <= 5
),
placed as (
  select
    members.*,
    count(*) over same_group as group_size,
    row_number() over in_turn as member_number,
    first_value(doc_id) over in_turn as first_doc_id,
    document_date - lag(document_date) over in_time as days_apart,
    lead(document_date) over in_time - document_date as days_to_next,
    count(total_amount) over (
      partition by
        vendor_id, _company, grouped_by, number_group, amount_group, currency_group, run_group, total_amount, currency_code
    ) as alike_count,
    min(coalesce(number_key, doc_id) collate "C") over same_group as lowest_number,
    max(coalesce(number_key, doc_id) collate "C") over same_group as highest_number
  from members
  window
    same_group as (
      partition by vendor_id, _company, grouped_by, number_group, amount_group, currency_group, run_group
    ),
    in_time as (
      partition by vendor_id, _company, grouped_by, number_group, amount_group, currency_group, run_group
      order by document_date nulls last, doc_id collate "C"
    ),
    in_turn as (
      partition by vendor_id, _company, grouped_by, number_group, amount_group, currency_group, run_group
      order by case when is_credit is null then 1 else 0 end, document_date nulls last, doc_id collate "C"
    )
),
found as (
  select
    placed.*,
    alike_count > 1 as is_same_amount,
    coalesce(days_apart <= 5, false) or coalesce(days_to_next <= 5, false) as is_near
  from placed
  -- What bears one number is a group of that number already.
  where group_size > 1 and (grouped_by = 'number' or lowest_number <> highest_number)
),
staked as (
  select
    found.*,
    -- Of a document in two groups the first row that is to be counted, that of the number before that of the amount.
    case
      when member_number > 1
        then row_number() over (
          partition by doc_id, _company, case when member_number > 1 then 1 else 0 end
          order by grouped_by desc
        )
    end as stake_number
  from found
)
select
  staked._company,
  staked.grouped_by || '/' || staked.first_doc_id as group_id,
  staked.doc_id,
  staked.grouped_by,
  case
    when staked.grouped_by = 'amount' then 'amount and date'
    when staked.is_same_amount and staked.is_near then 'number, amount and date'
    when staked.is_same_amount then 'number and amount'
    when staked.is_near then 'number and date'
    else 'number'
  end as reason,
  case when staked.grouped_by = 'number' then 1 else 0 end
    + case when staked.is_same_amount then 1 else 0 end
    + case when staked.is_near then 1 else 0 end as score,
  staked.group_size,
  staked.member_number,
  cast(staked.days_apart as bigint) as days_apart,
  staked.vendor_id,
  names.vendor_name,
  invoices.document_number,
  staked.document_date,
  nullif(invoices.matched_po_number, '') as matched_po_number,
  staked.total_amount,
  case {{ meaning('paid', 'invoices') }} when true then 'paid' when false then 'not paid' else 'not known' end as paid,
  staked.is_credit is null as is_unclear,
  case
    when staked.is_credit is null or staked.total_amount is null then null
    when staked.stake_number = 1 then staked.total_amount
    else 0
  end as at_stake_amount,
  staked.currency_code,
  staked.currency_source
from staked
join procurement_analytics.invoices invoices
  on invoices._company = staked._company and invoices.doc_id = staked.doc_id
left join procurement_analytics.dim_vendors names
  on names._company = staked._company and names.vendor_id = staked.vendor_id
