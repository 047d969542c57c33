"""A Singer tap of the same lists and details with Meltano's SDK, in the tap's environment. Called by peers.py with --config."""

from collections.abc import Iterable

from singer_sdk import RESTStream, Tap
from singer_sdk.contrib.msgspec import MsgSpecWriter
from singer_sdk.helpers._typing import TypeConformanceLevel
from singer_sdk.pagination import BaseAPIPaginator, JSONPathPaginator, SinglePagePaginator
from singer_sdk.typing import ArrayType, ObjectType, PropertiesList, Property, StringType


class Procurement(RESTStream):
    # Nested values are stored as JSON, as they come.
    TYPE_CONFORMANCE_LEVEL = TypeConformanceLevel.ROOT_ONLY

    @property
    def schema(self) -> dict:
        return {"type": "object", "properties": self.config["properties"][self.name]}

    @property
    def url_base(self) -> str:
        return f"{self.config['origin']}/api/v1"

    @property
    def http_headers(self) -> dict:
        return {**super().http_headers, "Authorization": f"Bearer {self.config['key']}"}


class Listing(Procurement):
    def get_new_paginator(self) -> BaseAPIPaginator:
        return JSONPathPaginator("$.pagination.next_cursor")

    def get_url_params(self, context: dict | None, next_page_token: str | None) -> dict:
        return {"limit": 100, **({"cursor": next_page_token} if next_page_token else {})}

    @property
    def records_jsonpath(self) -> str:
        return f"$.data.{self.name}[*]"


class Items(Listing):
    name, path, primary_keys = "items", "/items", ("item_id",)


class PurchaseOrders(Listing):
    name, path, primary_keys = "purchase_orders", "/po", ("po_number",)

    def get_child_context(self, record: dict, context: dict | None) -> dict:
        return {"number": record["po_number"]}


class PurchaseOrderDetails(Procurement):
    name, path, primary_keys = "purchase_order_details", "/po/{number}", ("po_number",)
    parent_stream_type = PurchaseOrders
    records_jsonpath = "$.data"
    # One state for the stream instead of one for each order.
    state_partitioning_keys = ()
    has_schema_written = False

    def get_new_paginator(self) -> BaseAPIPaginator:
        return SinglePagePaginator()

    def _write_schema_message(self) -> None:
        # The SDK writes it again for each order, and at each the target loads what it has: several times the CPU.
        if not self.has_schema_written:
            super()._write_schema_message()
        self.has_schema_written = True


STREAMS = (Items, PurchaseOrders, PurchaseOrderDetails)


class ProcurementTap(Tap):
    name = "tap-procurement"
    # Faster than the SDK's own writer, and numbers keep their digits in its messages.
    message_writer_class = MsgSpecWriter
    config_jsonschema = PropertiesList(
        Property("origin", StringType, required=True),
        Property("key", StringType, required=True),
        Property("tables", ArrayType(StringType), required=True),
        Property("properties", ObjectType(additional_properties=True), required=True),
    ).to_dict()

    def discover_streams(self) -> Iterable[RESTStream]:
        return [stream(self) for stream in STREAMS if stream.name in self.config["tables"]]


if __name__ == "__main__":
    ProcurementTap.cli()
