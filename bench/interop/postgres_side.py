"""What runs in target-postgres' environment: the tables that it has filled, as JSON lines."""

import json
import sys

import psycopg

given = json.loads(sys.argv[1])

with psycopg.connect(given["url"], options="-c timezone=UTC") as connection:
    for table in given["tables"]:
        rows = connection.execute(f'select * from "{given["schema"]}"."{table}"')
        names = [column.name for column in rows.description]
        for row in rows:
            print(json.dumps({"table": table, "record": dict(zip(names, row))}, default=str))
