-- How far each contract is used: what has been spent against its limit, what is left, and whether it is used up faster
-- than its term passes. Spend is the service's own figure, because no table says which invoice belongs to which contract.
-- The service gives contracts no currency: amounts are in the company's base currency by assumption, or unknown.
-- needs: contracts, amount_currencies, calendar_today, dim_vendors
-- key: _company, contract_id
-- references: contract_id -> contracts.contract_id
-- references: vendor_id -> dim_vendors.vendor_id
-- reported: limit_amount, spent_amount, remaining_amount, projected_amount by today
-- column _company: Company of this warehouse that the row belongs to, as the configuration names it.
-- column contract_id: Which contract it is: joins to contracts.contract_id.
-- column contract_number: What is written on the contract as its number; null where none is known.
-- column contract_type: Type of contract in the service's words; values not documented.
-- column scope_category: What the contract is about in the service's words; values not documented.
-- column vendor_id: Vendor that the contract is with; null where the service resolved none.
-- column vendor_name: The vendor's label as in dim_vendors; where none is resolved, the name that the contract list shows.
-- column status: Where the contract stands in the service's words; values not documented.
-- column effective_date: First day of the contract's term; null where not known.
-- column expiration_date: Last day of the contract's term; null where it has none or it is not known.
-- column term: Where its term stands by these dates: not begun, running, expired, or not known where the dates that would tell are missing.
-- column days_to_expiration: Days from today until it expires, below 0 afterwards; null without an expiration date.
-- column auto_renewal: Whether it renews itself; null where that is not known.
-- column successor_contract_id: Contract that follows it; null where there is none.
-- column limit_amount: The most that may be spent under it; null where it sets no limit.
-- column spent_amount: What has been spent under it so far, by the service's account; null where it gives none.
-- column usage_complete: Whether the service holds that account to be complete; where it does not, more may have been spent.
-- column remaining_amount: The limit less what was spent, below 0 where it is exceeded; null where either is not known or beyond all measure.
-- column is_over_limit: Whether more was spent than the limit; null where either is not known.
-- column utilisation_pct: What was spent, in percent of the limit; null where either is not known or the limit is 0.
-- column service_utilisation_pct: The utilisation that the service itself gives, in its own percentage unit.
-- column elapsed_pct: How much of the term has passed, in percent from 0 to 100; null where a date is missing.
-- column pace_pct: utilisation_pct less elapsed_pct: above 0 the contract is used up faster than its term passes.
-- column projected_amount: What will have been spent at the end of the term if it goes on as it has; null before the term begins and where a figure is missing.
-- column currency_code: Currency of the amounts; null where it is not known.
-- column currency_source: Where that currency stands: company or unknown.
with dated as (
  select
    contracts._company,
    contracts.contract_id,
    contracts.contract_number,
    contracts.contract_type,
    contracts.scope_category,
    contracts.vendor_id,
    contracts.vendor_name,
    contracts.status,
    contracts.effective_date,
    contracts.expiration_date,
    contracts.auto_renewal,
    contracts.successor_contract_id,
    contracts.total_value_limit,
    contracts.cumulative_spend,
    contracts.usage_complete,
    contracts.utilization_pct,
    calendar.today,
    case
      when expiration_date < calendar.today then 'expired'
      when effective_date > calendar.today then 'not begun'
      when effective_date <= calendar.today and expiration_date >= calendar.today then 'running'
      else 'not known'
    end as term,
    -- Both days belong to the term.
    case when expiration_date >= effective_date then expiration_date - effective_date + 1 end as term_days,
    greatest(least(calendar.today, expiration_date) - effective_date + 1, 0) as passed_days,
    -- Larger figures have no room in DuckDB's widest decimal once they are reckoned with, and would end the whole query.
    case when abs(total_value_limit) < 1000000000000000 then total_value_limit end as bound,
    case when abs(cumulative_spend) < 1000000000000000 then cumulative_spend end as spent
  from procurement_analytics.contracts contracts
  join procurement_analytics.calendar_today calendar on true
),
measured as (
  select
    dated.*,
    round(
      cast(
        100 * cast(spent as double precision)
          / case when abs(bound) >= 0.000001 then cast(bound as double precision) end
        as decimal(38, 9)
      ),
      4
    ) as utilisation_pct,
    case
      when effective_date is not null
        then round(cast(100 * cast(passed_days as double precision) / term_days as decimal(38, 9)), 4)
    end as elapsed_pct
  from dated
)
select
  measured._company,
  measured.contract_id,
  measured.contract_number,
  measured.contract_type,
  measured.scope_category,
  measured.vendor_id,
  coalesce(names.vendor_name, measured.vendor_name) as vendor_name,
  measured.status,
  measured.effective_date,
  measured.expiration_date,
  measured.term,
  cast(measured.expiration_date - measured.today as bigint) as days_to_expiration,
  measured.auto_renewal,
  measured.successor_contract_id,
  measured.total_value_limit as limit_amount,
  measured.cumulative_spend as spent_amount,
  measured.usage_complete,
  measured.bound - measured.spent as remaining_amount,
  measured.cumulative_spend > measured.total_value_limit as is_over_limit,
  measured.utilisation_pct,
  measured.utilization_pct as service_utilisation_pct,
  measured.elapsed_pct,
  measured.utilisation_pct - measured.elapsed_pct as pace_pct,
  round(
    cast(
      cast(measured.spent as double precision) * measured.term_days / nullif(measured.passed_days, 0) as decimal(38, 9)
    ),
    2
  ) as projected_amount,
  currencies.currency_code,
  coalesce(currencies.currency_source, 'unknown') as currency_source
from measured
left join procurement_analytics.amount_currencies currencies
  on currencies._company = measured._company
  and currencies.table_name = 'contracts'
  and currencies.row_key = measured.contract_id
left join procurement_analytics.dim_vendors names
  on names._company = measured._company and names.vendor_id = measured.vendor_id
