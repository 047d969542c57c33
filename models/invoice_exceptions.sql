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
    document_number,
    matched_po_number,
    total_amount,
    failed_checks,
    anomaly_count,
    critical_anomaly_count,
    open_findings_count,
    case
      when {{ meaning('credit', 'invoices') }} then null
      when trim(document_number) <> '' then nullif(vendor_id, '')
    end as payee,
    case when {{ meaning('held', 'invoices') }} then 1 else 0 end as holds,
    case when linked_invoice_doc_id = doc_id then 1 else 0 end as circles
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
    bills.total_amount,
    bills.holds,
    bills.circles,
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
    case when coalesce(matched_po_number, '') = '' then 1 else 0 end as orderless
  from bills
  left join repeated
    on repeated._company = bills._company
    and repeated.payee = bills.payee
    and repeated.document_number = bills.document_number
  left join off_lines on off_lines._company = bills._company and off_lines.doc_id = bills.doc_id
),
-- What is shown of the invoice comes last: here each of its rows stands once for every kind.
found as (
  select
    counted._company,
    counted.doc_id,
    kinds.kind,
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
    case kinds.kind when 5 then total_amount when 6 then price_amount when 7 then quantity_amount end as exception_amount
  from counted
  join kinds on true
),
numbered as (
  select found.*, row_number() over (partition by _company, doc_id order by kind) as exception_number
  from found
  where exception_count > 0
)
select
  invoices._company,
  invoices.doc_id,
  numbered.exception_number,
  numbered.exception,
  numbered.exception_count,
  cast(numbered.exception_amount as decimal(38, 9)) as exception_amount,
  case numbered.kind when 1 then invoices.hold_reason end as detail,
  invoices.vendor_id,
  coalesce(names.vendor_name, invoices.vendor_name) as vendor_name,
  invoices.document_number,
  invoices.document_date,
  cast(calendar.today - invoices.document_date as bigint) as days_since_document,
  invoices.due_date,
  invoices.matched_po_number,
  invoices.total_amount as invoice_amount,
  invoices.final_status,
  invoices.match_status,
  invoices.payment_status,
  invoices.settlement_state,
  invoices.current_status,
  currencies.currency_code,
  coalesce(currencies.currency_source, 'unknown') as currency_source
from numbered
join procurement_analytics.invoices invoices
  on invoices._company = numbered._company and invoices.doc_id = numbered.doc_id
join procurement_analytics.calendar_today calendar on true
left join procurement_analytics.amount_currencies currencies
  on currencies._company = invoices._company
  and currencies.table_name = 'invoices'
  and currencies.row_key = invoices.doc_id
left join procurement_analytics.dim_vendors names
  on names._company = invoices._company and names.vendor_id = invoices.vendor_id
