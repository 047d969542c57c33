-- What invoices call for week by week: totals by the week in which payment is due, with all that is overdue and all that
-- has no due date in groups of their own. Which invoices are paid, `meanings.paid` in the configuration says: take the rows
-- that are not. Where it says nothing, paid is not known, and payment_status and settlement_state are the service's words.
-- Totals count whole, for parts that are paid already are not given. Credits (`meanings.credit`) are no requirement; their
-- amounts stand beside with the sign that the service gives them, and so do documents of which nothing says whether they
-- are credits.
-- needs: invoices, amount_currencies, calendar_today
-- key: _company, payment_status, settlement_state, paid, due_group, due_week, currency_code, currency_source
-- reported: due_amount, on_hold_amount, discount_amount, credit_amount, unclear_amount by today
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column payment_status: Whether and how far the invoices are paid, in the service's words; values not documented, null where it says nothing.
-- column settlement_state: Where their settlement stands, in the service's words; values not documented, null where it says nothing.
-- column paid: Whether the invoices are taken to be paid: paid, not paid or not known.
-- column due_group: overdue (due before today), week (due in the week of due_week, today or later), or no due date.
-- column due_week: Monday of the week in which payment is due; null for overdue invoices and those without a due date.
-- column weeks_ahead: Weeks from the present one: 0 this week, 1 the next; null where due_week is.
-- column currency_code: Currency of all amounts of the row, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
-- column invoice_count: How many invoices fall due, those without an amount included.
-- column due_amount: Sum of their totals, tax and shipping included; 0 where no invoice has an amount.
-- column without_amount_count: How many of them have no total, so that the sum lacks them.
-- column on_hold_count: How many of them are on hold, as `meanings.held` says: those that give a reason for it.
-- column on_hold_amount: The part of due_amount that is on hold.
-- column discount_amount: Discounts that can still be had on them, by the service's account; as a rule by paying earlier.
-- column oldest_due_date: Earliest due date among them.
-- column credit_count: How many documents with such a due date are credits.
-- column credit_amount: Sum of their totals, with the sign that the service gives them; not part of due_amount.
-- column unclear_count: How many documents with such a due date nothing says of whether they are credits.
-- column unclear_amount: Sum of their totals; not part of due_amount.
with documents as (
  select
    invoices._company,
    invoices.payment_status,
    invoices.settlement_state,
    invoices.due_date,
    case
      when invoices.due_date < calendar.today then 'overdue'
      when invoices.due_date is null then 'no due date'
      else 'week'
    end as due_group,
    case
      when invoices.due_date >= calendar.today then cast(date_trunc('week', invoices.due_date) as date)
    end as due_week,
    cast(date_trunc('week', calendar.today) as date) as this_week,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source,
    invoices.total_amount,
    invoices.discount_capturable_amount,
    {{ meaning('held', 'invoices') }} as is_held,
    case {{ meaning('paid', 'invoices') }} when true then 'paid' when false then 'not paid' else 'not known' end as paid,
    {{ meaning('credit', 'invoices') }} as is_credit
  from procurement_analytics.invoices invoices
  join procurement_analytics.calendar_today calendar on true
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = invoices._company
    and currencies.table_name = 'invoices'
    and currencies.row_key = invoices.doc_id
)
select
  _company,
  payment_status,
  settlement_state,
  paid,
  due_group,
  due_week,
  cast((due_week - this_week) / 7 as bigint) as weeks_ahead,
  currency_code,
  currency_source,
  count(*) filter (where not is_credit) as invoice_count,
  coalesce(sum(total_amount) filter (where not is_credit), 0) as due_amount,
  count(*) filter (where not is_credit and total_amount is null) as without_amount_count,
  count(*) filter (where not is_credit and is_held) as on_hold_count,
  coalesce(sum(total_amount) filter (where not is_credit and is_held), 0) as on_hold_amount,
  coalesce(sum(discount_capturable_amount) filter (where not is_credit), 0) as discount_amount,
  min(due_date) filter (where not is_credit) as oldest_due_date,
  count(*) filter (where is_credit) as credit_count,
  coalesce(sum(total_amount) filter (where is_credit), 0) as credit_amount,
  count(*) filter (where is_credit is null) as unclear_count,
  coalesce(sum(total_amount) filter (where is_credit is null), 0) as unclear_amount
from documents
group by _company, payment_status, settlement_state, paid, due_group, due_week, this_week, currency_code, currency_source
