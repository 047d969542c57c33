"""The benchmark's part `cpu` for a peer: items and purchase orders into a DuckDB file, with dlt's rest_api source.

Written for Python 3.11, dlt 1.31.0, duckdb 1.5.5 (the engine that tributary has), pyarrow 26.0.1:

    python3 -m venv peer && peer/bin/pip install 'dlt[duckdb,parquet]==1.31.0' duckdb==1.5.5 pyarrow==26.0.1
    tributary simulate --items 200000 --orders 200000 --invoices 0 --findings 0 --ingested 0
    peer/bin/python bench/peer/dlt_rest_api.py http://127.0.0.1:8099 demo-key ./peer-warehouse

Each call is one run into the folder named last: the first call is the first load, the second one an unchanged night.
It prints what the run used, as JSON.
"""

import json
import os
import re
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path

started = time.perf_counter()
# Before the import: it is read then.
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")

import dlt  # noqa: E402
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator  # noqa: E402
from dlt.sources.rest_api import RESTAPIConfig, rest_api_source  # noqa: E402


def config_for(origin: str, key: str) -> RESTAPIConfig:
    """Both lists, page after page, each row merged by its key as the service's documents name it."""

    def listing(name: str, path: str, primary_key: str) -> dict:
        endpoint = {"path": path, "params": {"limit": 100}, "data_selector": f"data.{name}"}
        return {"name": name, "primary_key": primary_key, "endpoint": endpoint}

    return {
        "client": {
            "base_url": f"{origin}/api/v1/",
            "auth": {"type": "bearer", "token": key},
            "paginator": JSONResponseCursorPaginator(cursor_path="pagination.next_cursor", cursor_param="cursor"),
        },
        # Nested values become JSON columns, as they do in our tables of these two streams. Parquet takes less than half
        # the CPU of the INSERT statements that dlt writes unless it is told otherwise.
        "resource_defaults": {"write_disposition": "merge", "max_table_nesting": 0, "file_format": "parquet"},
        "resources": [listing("items", "items", "item_id"), listing("purchase_orders", "po", "po_number")],
    }


def peak_bytes() -> int:
    """Of this process; Linux counts the process that forked us into ru_maxrss."""
    try:
        return int(re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)[1]) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def cpu_seconds() -> float:
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in of)


def main(origin: str, key: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pipeline = dlt.pipeline(
        pipeline_name="peer",
        pipelines_dir=str(folder / "pipelines"),
        destination=dlt.destinations.duckdb(str(folder / "peer.duckdb")),
        dataset_name="procurement",
    )
    pipeline.run(rest_api_source(config_for(origin, key))).raise_on_failed_jobs()
    counts = pipeline.last_trace.last_normalize_info.row_counts
    rows = counts["items"] + counts["purchase_orders"]
    wall = time.perf_counter() - started
    cpu = cpu_seconds()
    told = {
        "versions": {"python": sys.version.split()[0]} | {name: version(name) for name in ("dlt", "duckdb", "pyarrow")},
        "rows": rows,
        "wall_s": round(wall, 2),
        "rows_a_second": round(rows / wall),
        "cpu_s": round(cpu, 2),
        "cpu_us_a_row": round(cpu / rows * 1e6, 1),
        "peak_mb": round(peak_bytes() / 1e6),
        "file_mb": round((folder / "peer.duckdb").stat().st_size / 1e6),
    }
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
