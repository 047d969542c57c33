"""One load with a declarative source in PyAirbyte into its DuckDB cache, in PyAirbyte's environment.

Called by peers.py with "merge" or "replace" and a file of JSON: `origin`, `key`, `folder`, `tables` and their `properties`.
"""

import json
import os
import sys
from pathlib import Path

# Before the import: it is read then.
os.environ.setdefault("AIRBYTE_LOGGING_ROOT", os.path.join(os.getcwd(), "logs"))

import airbyte  # noqa: E402

KEYS = {"items": "item_id", "purchase_orders": "po_number", "purchase_order_details": "po_number"}
PATHS = {
    "items": "items",
    "purchase_orders": "po",
    "purchase_order_details": "po/{{ stream_partition.number | urlencode }}",
}
PAGES = {
    "type": "DefaultPaginator",
    "page_token_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "cursor"},
    "page_size_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "limit"},
    "pagination_strategy": {
        "type": "CursorPagination",
        "page_size": 100,
        "cursor_value": "{{ response.pagination.next_cursor }}",
        "stop_condition": "{{ not response.pagination.has_more }}",
    },
}


def manifest(origin: str, key: str, tables: list[str], properties: dict[str, dict]) -> dict:
    """What Airbyte's connector builder makes: a list is paged, an order's details are a substream of its list."""

    def stream(name: str) -> dict:
        is_list = name != "purchase_order_details"
        retriever = {
            "type": "SimpleRetriever",
            "requester": {
                "type": "HttpRequester",
                "url_base": f"{origin}/api/v1/",
                "path": PATHS[name],
                "authenticator": {"type": "BearerAuthenticator", "api_token": key},
            },
            "record_selector": {
                "type": "RecordSelector",
                "extractor": {"type": "DpathExtractor", "field_path": ["data", name] if is_list else ["data"]},
            },
        }
        parent = {"type": "ParentStreamConfig", "parent_key": "po_number", "partition_field": "number"}
        if is_list:
            retriever["paginator"] = PAGES
        else:
            parents = [{**parent, "stream": stream("purchase_orders")}]
            retriever["partition_router"] = {"type": "SubstreamPartitionRouter", "parent_stream_configs": parents}
        schema = {"type": "object", "properties": properties[name]}
        return {
            "type": "DeclarativeStream",
            "name": name,
            "primary_key": [KEYS[name]],
            "retriever": retriever,
            "schema_loader": {"type": "InlineSchemaLoader", "schema": schema},
        }

    return {
        "version": "6.0.0",
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": [tables[0]]},
        "spec": {"type": "Spec", "connection_specification": {"type": "object", "properties": {}}},
        "concurrency_level": {"type": "ConcurrencyLevel", "default_concurrency": 8},
        "streams": [stream(name) for name in tables],
    }


def main(strategy: str, given: dict) -> None:
    made = manifest(given["origin"], given["key"], given["tables"], given["properties"])
    source = airbyte.get_source("source-procurement", config={}, source_manifest=made, streams="*")
    folder = Path(given["folder"])
    cache = airbyte.DuckDBCache(db_path=folder / "warehouse.duckdb", schema_name="procurement", cache_dir=folder / "files")
    source.read(cache=cache, write_strategy=strategy, force_full_refresh=strategy == "replace")


if __name__ == "__main__":
    main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text()))
