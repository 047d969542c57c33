{#- Written by `tributary dbt`, which writes it anew: change the configuration, not this file. -#}
{% test related_in_company(model, columns, to, to_columns) %}
select _company, {{ columns | join(', ') }}
from {{ model }}
where {{ columns | join(' is not null and ') }} is not null
except
select _company, {{ to_columns | join(', ') }}
from {{ to }}
{% endtest %}
