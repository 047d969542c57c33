"""One load with dlt's rest_api source into a DuckDB file, in dlt's environment: lists, and orders' details if they are asked for.

Called by peers.py with the service's origin, its key, a folder, "merge" or "replace", and the tables.
"""

import os
import sys
from pathlib import Path

# Before the import: it is read then.
os.environ.setdefault("RUNTIME__DLTHUB_TELEMETRY", "false")

import dlt  # noqa: E402
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator  # noqa: E402
from dlt.sources.rest_api import RESTAPIConfig, rest_api_source  # noqa: E402

RESOURCES = {
    "items": ("items", "item_id", "data.items"),
    "purchase_orders": ("po", "po_number", "data.purchase_orders"),
    "purchase_order_details": ("po/{resources.purchase_orders.po_number}", "po_number", "data"),
}
# Money is declared, as dlt recommends; all else is guessed from the values.
MONEY = {"items": "total_spend", "purchase_orders": "total_amount"}


def config_for(origin: str, key: str, disposition: str, tables: list[str]) -> RESTAPIConfig:
    """The lists page after page, and a request for each order's details; each row has the service's own key."""

    def resource(name: str) -> dict:
        path, primary_key, rows = RESOURCES[name]
        endpoint = {"path": path, "data_selector": rows}
        endpoint |= {"paginator": "single_page"} if rows == "data" else {"params": {"limit": 100}}
        amount = {MONEY[name]: {"data_type": "decimal", "precision": 38, "scale": 9}} if name in MONEY else {}
        return {"name": name, "primary_key": primary_key, "endpoint": endpoint, "columns": amount}

    return {
        "client": {
            "base_url": f"{origin}/api/v1/",
            "auth": {"type": "bearer", "token": key},
            "paginator": JSONResponseCursorPaginator(cursor_path="pagination.next_cursor", cursor_param="cursor"),
        },
        # Nested values become JSON columns. Parquet takes less than half the CPU of the INSERT statements that dlt writes
        # unless it is told otherwise, and resources side by side are what dlt's documents recommend for requests.
        "resource_defaults": {
            "write_disposition": disposition,
            "max_table_nesting": 0,
            "file_format": "parquet",
            "parallelized": True,
        },
        "resources": [resource(name) for name in tables],
    }


def main(origin: str, key: str, folder: Path, disposition: str, tables: list[str]) -> None:
    pipeline = dlt.pipeline(
        pipeline_name="peer",
        pipelines_dir=str(folder / "pipelines"),
        destination=dlt.destinations.duckdb(str(folder / "warehouse.duckdb")),
        dataset_name="procurement",
    )
    pipeline.run(rest_api_source(config_for(origin, key, disposition, tables))).raise_on_failed_jobs()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4], sys.argv[5:])
