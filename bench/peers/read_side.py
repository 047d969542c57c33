"""What runs in the reader's environment: prints the rows of queries of a DuckDB file as one JSON object, by their names."""

import json
import sys

import duckdb

path, queries = sys.argv[1], json.loads(sys.argv[2])
with duckdb.connect(path, read_only=True) as connection:
    print(json.dumps({name: connection.execute(query).fetchall() for name, query in queries.items()}))
