-- What stands in the way of paying each invoice, one row an invoice and exception. Exceptions are found by what the
-- service says plainly or what figures show, never by its status labels, whose values are not documented: those stand
-- beside, so that paid or dismissed invoices can be left out. To add up invoices, take exception_number = 1.
-- needs: invoices, amount_currencies, calendar_today, dim_vendors
-- optional: invoice_line_differences
-- key: _company, doc_id, exception_number
-- references: doc_id -> invoices.doc_id
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: exception_amount, invoice_amount by document_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column doc_id: The invoice document.
-- column exception_number: Counts the invoice's exceptions from 1, the gravest first.
-- column exception: on hold, failed checks, critical anomalies, anomalies, possible duplicate, price above order, quantity above order or receipt, open findings, vendor not resolved, no order matched, or linked to itself.
-- column exception_count: How many there are of them: anomalies, findings, lines, or invoices of the vendor that bear the same number; 1 where there is nothing to count.
-- column exception_amount: What the exception is worth: for prices what is billed above the order's, for quantities what is billed and not received, for a duplicate the invoice itself; null for the others.
-- column detail: The reason of a hold in the service's words; null for the other exceptions.
-- column vendor_id: Vendor the service resolved the invoice to; null where it resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the invoice list shows.
-- column document_number: Invoice number printed on the document; null where none was read.
-- column document_date: Calendar date on the invoice; null where none was read.
-- column days_since_document: Days from that date until today; null where none was read.
-- column due_date: Day on which payment is due; null where it cannot be told.
-- column matched_po_number: Purchase order the service matched the invoice with; null where it matched none.
-- column invoice_amount: Total of the invoice, the same on each of its rows; null where none was read.
-- column final_status: Final status of the invoice in the service's words; values not documented.
-- column match_status: Outcome of matching in the service's words; the full list of values is not documented.
-- column payment_status: Whether and how far it is paid in the service's words; values not documented.
-- column settlement_state: Where settlement stands in the service's words; values not documented.
-- column current_status: Present status in the workflow in the service's words; values not documented.
-- column currency_code: Currency of the amounts, in no way converted; null where it is not known.
-- column currency_source: Where that currency stands: row, order, feed, list, company or unknown.
with kinds as (
  select *
  from (
    values
      (1, 'on hold'),
      (2, 'failed checks'),
      (3, 'critical anomalies'),
      (4, 'anomalies'),
      (5, 'possible duplicate'),
      (6, 'price above order'),
      (7, 'quantity above order or receipt'),
      (8, 'open findings'),
      (9, 'vendor not resolved'),
      (10, 'no order matched'),
      (11, 'linked to itself')
  ) listed (kind, exception)
),
-- A credit memo may bear the number of its invoice. Conditions here, not in a filter: PostgreSQL would expect a row or
-- two behind so many and compare every invoice with every other.
bills as not materialized (
  select
    _company,
    doc_id,
    vendor_id,
    vendor_name,
    document_number,
    document_date,
    due_date,
    matched_po_number,
    total_amount,
    hold_reason,
    final_status,
    match_status,
    payment_status,
    settlement_state,
    current_status,
    failed_checks,
    anomaly_count,
    critical_anomaly_count,
    open_findings_count,
    case when {{ meaning('held', 'invoices') }} then 1 else 0 end as holds,
    case when linked_invoice_doc_id = doc_id then 1 else 0 end as circles,
    case
      when {{ meaning('credit', 'invoices') }} then null
      when trim(document_number) <> '' then nullif(vendor_id, '')
    end as payee
  from procurement_analytics.invoices invoices
),
repeated as (
  select _company, payee, document_number, count(*) as invoice_count
  from bills
  group by _company, payee, document_number
  having count(*) > 1
),
off_lines as (
-- with invoice_line_differences
  select
    _company,
    doc_id,
    count(*) filter (where price_difference > 0) as price_lines,
    sum(price_effect_amount) filter (where price_difference > 0) as price_amount,
    count(*) filter (where quantity_over_order > 0 or quantity_over_receipt > 0) as quantity_lines,
    sum(not_received_amount) filter (where quantity_over_order > 0 or quantity_over_receipt > 0) as quantity_amount
  from procurement_analytics.invoice_line_differences
  where price_difference > 0 or quantity_over_order > 0 or quantity_over_receipt > 0
  group by _company, doc_id
-- end
-- without invoice_line_differences
-- |   select
-- |     cast(null as text) as _company,
-- |     cast(null as text) as doc_id,
-- |     cast(null as bigint) as price_lines,
-- |     cast(null as decimal(38, 9)) as price_amount,
-- |     cast(null as bigint) as quantity_lines,
-- |     cast(null as decimal(38, 9)) as quantity_amount
-- |   where false
-- end
),
counted as (
  select
    bills._company,
    bills.doc_id,
    bills.vendor_id,
    coalesce(names.vendor_name, bills.vendor_name) as vendor_name,
    bills.document_number,
    bills.document_date,
    bills.due_date,
    bills.matched_po_number,
    bills.total_amount,
    bills.hold_reason,
    bills.final_status,
    bills.match_status,
    bills.payment_status,
    bills.settlement_state,
    bills.current_status,
    currencies.currency_code,
    coalesce(currencies.currency_source, 'unknown') as currency_source,
    bills.holds,
    case
      when replace(cast(failed_checks as text), ' ', '') in ('[]', '{}', '""', 'null', 'false', '0') then 0
      when failed_checks is null then 0
      else 1
    end as checks,
    coalesce(critical_anomaly_count, 0) as criticals,
    coalesce(anomaly_count, 0) - coalesce(critical_anomaly_count, 0) as anomalies,
    coalesce(repeated.invoice_count, 0) as duplicates,
    coalesce(off_lines.price_lines, 0) as price_lines,
    off_lines.price_amount,
    coalesce(off_lines.quantity_lines, 0) as quantity_lines,
    off_lines.quantity_amount,
    coalesce(open_findings_count, 0) as findings,
    case when coalesce(bills.vendor_id, '') = '' then 1 else 0 end as strangers,
    case when coalesce(bills.matched_po_number, '') = '' then 1 else 0 end as orderless,
    bills.circles
  from bills
  left join repeated
    on repeated._company = bills._company
    and repeated.payee = bills.payee
    and repeated.document_number = bills.document_number
  left join off_lines on off_lines._company = bills._company and off_lines.doc_id = bills.doc_id
  left join procurement_analytics.amount_currencies currencies
    on currencies._company = bills._company
    and currencies.table_name = 'invoices'
    and currencies.row_key = bills.doc_id
  left join procurement_analytics.dim_vendors names
    on names._company = bills._company and names.vendor_id = bills.vendor_id
),
-- A digit a kind: those before a kind number its exception, where a window would sort all of them. Worked out once, before
-- each invoice meets every kind.
marked as materialized (
  select
    counted.*,
    case when holds > 0 then '1' else '0' end
      || case when checks > 0 then '1' else '0' end
      || case when criticals > 0 then '1' else '0' end
      || case when anomalies > 0 then '1' else '0' end
      || case when duplicates > 0 then '1' else '0' end
      || case when price_lines > 0 then '1' else '0' end
      || case when quantity_lines > 0 then '1' else '0' end
      || case when findings > 0 then '1' else '0' end
      || case when strangers > 0 then '1' else '0' end
      || case when orderless > 0 then '1' else '0' end
      || case when circles > 0 then '1' else '0' end as marks
  from counted
)
select
  marked._company,
  marked.doc_id,
  cast(length(replace(substr(marked.marks, 1, kinds.kind), '0', '')) as bigint) as exception_number,
  kinds.exception,
  case kinds.kind
    when 1 then holds
    when 2 then checks
    when 3 then criticals
    when 4 then anomalies
    when 5 then duplicates
    when 6 then price_lines
    when 7 then quantity_lines
    when 8 then findings
    when 9 then strangers
    when 10 then orderless
    when 11 then circles
  end as exception_count,
  cast(
    case kinds.kind when 5 then total_amount when 6 then price_amount when 7 then quantity_amount end
    as decimal(38, 9)
  ) as exception_amount,
  case kinds.kind when 1 then marked.hold_reason end as detail,
  marked.vendor_id,
  marked.vendor_name,
  marked.document_number,
  marked.document_date,
  cast(calendar.today - marked.document_date as bigint) as days_since_document,
  marked.due_date,
  marked.matched_po_number,
  marked.total_amount as invoice_amount,
  marked.final_status,
  marked.match_status,
  marked.payment_status,
  marked.settlement_state,
  marked.current_status,
  marked.currency_code,
  marked.currency_source
from marked
join kinds on substr(marked.marks, kinds.kind, 1) = '1'
join procurement_analytics.calendar_today calendar on true
