-- What findings are worth and what became of it, one row a finding, those included that the service no longer lists:
-- savings still to be had, savings of resolved findings, and how old they are. The service's status labels stand beside
-- and are not interpreted, because their values are not documented; the outcome goes by what `meanings.dismissed` and
-- `meanings.resolved` in the configuration name: who resolved a finding, the remarks made on it, the reason of a dismissal.
-- needs: findings, calendar_today, dim_vendors
-- optional: finding_lineage
-- key: _company, finding_item_id
-- reported: savings_amount, recoverable_amount, resolved_amount by created_date
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column finding_item_id: Identifier of the row in findings.
-- column finding_id: The finding itself, which drafts and lineage refer to; null where a row has none.
-- column kind: Kind of row in the service's words; values not documented.
-- column finding_type: Type of finding in the service's words; values not documented.
-- column category: Area of purchasing: billing, contracts, payments, receiving or documents; null where it has none.
-- column severity: How severe the finding is in the service's words; values not documented.
-- column title: Headline of the finding, in words; null where it has none.
-- column status: Where the finding stands in the service's words; values not documented.
-- column verification_status: Whether the finding has been verified, in the service's words; values not documented.
-- column waiting_on: Whose move it is in the service's words, for example yours or the vendor's; values not documented.
-- column vendor_id: Vendor that the finding is about; null where the service resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the findings list shows.
-- column po_number: Order that the finding is about; null where there is none.
-- column doc_id: Document behind the finding; null where there is none.
-- column outcome: open, resolved, dismissed, superseded where another finding took its place, or no longer listed where the service dropped it without a word.
-- column created_date: Day on which the service made the finding, in the time zone of whoever asks; null for rows that give no time.
-- column closed_date: Day on which it was resolved or dismissed where its lineage is loaded, or on which a run first missed it; null for open findings and where nobody knows.
-- column days_open: Days from its making to its closing, to today for open findings; null where a day is not known.
-- column age_bucket: Those days in groups: 0-30 days, 31-60 days, 61-90 days, over 90 days, or no date.
-- column savings_amount: Savings the service puts to the finding; null where it puts none.
-- column recoverable_amount: The savings of open findings, which can still be had; 0 for the others, null where none are put to it.
-- column resolved_amount: The savings of resolved findings; 0 for the others, null where none are put to it.
-- column currency_code: Currency of the amounts: US dollars, as the service names them.
-- column currency_source: Where that currency stands: row.
with told as (
  select
    findings._company,
    findings.finding_item_id,
    findings.finding_id,
    findings.kind,
    findings.finding_type,
    findings.category,
    findings.severity,
    findings.title,
    findings.status,
    findings.verification_status,
    findings.waiting_on,
    findings.vendor_id,
    findings.vendor_name,
    findings.po_number,
    findings.doc_id,
    findings.surfaceable_savings_usd,
    findings.created_at,
    findings._deleted_at,
-- with finding_lineage
    {{ meaning('dismissed', 'findings', 'lineage') }} as is_dismissed,
    {{ meaning('resolved', 'findings', 'lineage') }} as is_resolved,
    lineage.resolved_at,
    lineage.dismissed_at,
    lineage.superseded_by_finding_id
-- end
-- without finding_lineage
-- |     {{ meaning('dismissed', 'findings') }} as is_dismissed,
-- |     {{ meaning('resolved', 'findings') }} as is_resolved,
-- |     cast(null as timestamp with time zone) as resolved_at,
-- |     cast(null as timestamp with time zone) as dismissed_at,
-- |     cast(null as text) as superseded_by_finding_id
-- end
  from procurement.findings findings
-- with finding_lineage
  left join procurement.finding_lineage lineage
    on lineage._company = findings._company and lineage.finding_id = findings.finding_id
-- end
),
ended as (
  select
    told.*,
    case
      when is_dismissed then 'dismissed'
      when is_resolved then 'resolved'
      when superseded_by_finding_id is not null then 'superseded'
      when _deleted_at is not null then 'no longer listed'
      else 'open'
    end as outcome
  from told
),
dated as (
  select
    ended.*,
    cast(created_at as date) as created_date,
    case
      when outcome = 'dismissed' then cast(coalesce(dismissed_at, _deleted_at) as date)
      when outcome = 'resolved' then cast(coalesce(resolved_at, _deleted_at) as date)
      else cast(_deleted_at as date)
    end as closed_date,
    calendar.today
  from ended
  join procurement_analytics.calendar_today calendar on true
),
aged as (
  select dated.*, case when outcome = 'open' then today else closed_date end - created_date as days_open
  from dated
)
select
  aged._company,
  aged.finding_item_id,
  aged.finding_id,
  aged.kind,
  aged.finding_type,
  aged.category,
  aged.severity,
  aged.title,
  aged.status,
  aged.verification_status,
  aged.waiting_on,
  aged.vendor_id,
  coalesce(names.vendor_name, aged.vendor_name) as vendor_name,
  aged.po_number,
  aged.doc_id,
  aged.outcome,
  aged.created_date,
  aged.closed_date,
  cast(days_open as bigint) as days_open,
  case
    when days_open is null then 'no date'
    when days_open <= 30 then '0-30 days'
    when days_open <= 60 then '31-60 days'
    when days_open <= 90 then '61-90 days'
    else 'over 90 days'
  end as age_bucket,
  surfaceable_savings_usd as savings_amount,
  case when outcome = 'open' or surfaceable_savings_usd is null then surfaceable_savings_usd else 0 end
    as recoverable_amount,
  case when outcome = 'resolved' or surfaceable_savings_usd is null then surfaceable_savings_usd else 0 end
    as resolved_amount,
  'USD' as currency_code,
  'row' as currency_source
from aged
left join procurement_analytics.dim_vendors names
  on names._company = aged._company and names.vendor_id = aged.vendor_id
