{#- Written by `tributary dbt`, which writes it anew: change the configuration, not this file. -#}
{% test unique_key(model, columns) %}
select {{ columns | join(', ') }}, count(*) as row_count
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}
