{#- Written by `tributary dbt`, which writes it anew: change the configuration, not this file. -#}
{% test related_in_company(model, columns, to, to_columns, most_share=0) %}
with pointing as (
  select distinct _company, {{ columns | join(', ') }}
  from {{ model }}
  where {{ columns | join(' is not null and ') }} is not null
),
unmatched as (
  select * from pointing
  except
  select _company, {{ to_columns | join(', ') }}
  from {{ to }}
)
select * from unmatched
where (select count(*) from unmatched) > {{ most_share }} * (select count(*) from pointing)
{% endtest %}
