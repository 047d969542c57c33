"""What runs in PyAirbyte's environment: `discover`, `read` into a DuckDB cache, `dump` of that cache, `validate` of lines.

Called by interop.py with a JSON object of what it needs.
"""

import json
import os
import sys

os.environ.update(AIRBYTE_OFFLINE_MODE="1", DO_NOT_TRACK="1", AIRBYTE_LOGGING_ROOT=os.path.join(os.getcwd(), "logs"))

call, given = sys.argv[1], json.loads(sys.argv[2])


def source():
    import airbyte

    with open(given["config"], encoding="utf-8") as file:
        config = json.load(file)
    return airbyte.get_source("source-tributary", config=config, local_executable=given["executable"])


def cache():
    import airbyte

    return airbyte.DuckDBCache(db_path=given["cache"], schema_name="main", cache_dir=given["cache"] + ".files")


if call == "discover":
    found = source()
    found.check()
    catalog = found.discovered_catalog.model_dump_json(exclude_none=True)
    with open(given["catalog"], "w", encoding="utf-8") as file:
        file.write(catalog)
elif call == "read":
    found = source()
    found.select_all_streams()
    found.read(cache=cache())
elif call == "dump":
    import duckdb

    connection = duckdb.connect(given["cache"], read_only=True)
    connection.execute("set timezone = 'UTC'")
    for table in given["tables"]:
        rows = connection.execute(f'select * from main."{table}"')
        names = [column[0] for column in rows.description]
        while row := rows.fetchone():
            print(json.dumps({"table": table, "record": dict(zip(names, row))}, default=str))
else:
    from airbyte_protocol.models import AirbyteMessage

    with open(given["lines"], encoding="utf-8") as file:
        lines = file.read().split("\n")
    # A killed writer leaves a piece of a line.
    for line in lines[:-1]:
        message = AirbyteMessage.model_validate_json(line)
        names = {name for name, value in message if value is not None}
        assert names - {"type"} == {"connectionStatus" if message.type.value == "CONNECTION_STATUS" else message.type.value.lower()}, line
    print(len(lines) - 1)
