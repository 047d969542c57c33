{#- Written by `tributary dbt`, which writes it anew: change the configuration, not this file. -#}
{% test related_in_company(model, columns, to, to_columns, most_share=0, kind="''") %}
with pointing as (
  select distinct _company, {{ columns | join(', ') }}, coalesce(cast({{ kind }} as varchar), '') as row_kind
  from {{ model }}
  where {{ columns | join(' is not null and ') }} is not null
),
unmatched as (
  select _company, {{ columns | join(', ') }} from pointing
  except
  select _company, {{ to_columns | join(', ') }}
  from {{ to }}
),
looked_up as (
  select * from pointing natural left join (select unmatched.*, true as is_unmatched from unmatched) lacking
),
counted as (
  select * from looked_up
  where row_kind in (select row_kind from looked_up where is_unmatched is null)
    or not exists (select 1 from looked_up where is_unmatched is null)
)
select _company, {{ columns | join(', ') }}
from counted
where is_unmatched
  and (select count(*) from counted where is_unmatched) > {{ most_share }} * (select count(*) from counted)
{% endtest %}
