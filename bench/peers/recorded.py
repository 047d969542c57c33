"""The recorded service as peers.py sees it: asked for all it has, so that it is recorded and the truth is known."""

import http.client
import json
import sys
import urllib.parse
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from programs import Node  # noqa: E402

KEYS = {"items": "item_id", "purchase_orders": "po_number", "purchase_order_details": "po_number"}
AMOUNTS = {"items": "total_spend", "purchase_orders": "total_amount"}
# By table and key the amount as it is told, None for none.
Amounts = dict[str, dict[str, Decimal | None]]


class Recording(Node):
    """The recorded service with so many rows: every page of the tables, in both states."""

    def __init__(self, tables: tuple[str, ...], sizes: dict[str, int]) -> None:
        super().__init__(str(HERE / "recording.ts"), json.dumps(sizes))
        self.tables = tables
        self.url, self.key, self.removed = (self.said[name] for name in ("url", "key", "removed"))
        self.properties: dict[str, dict[str, dict]] = {table: {} for table in tables}
        self.connection = http.client.HTTPConnection(self.url.removeprefix("http://"))
        self.truth = {state: self.read(state) for state in ("base", "night")}

    def get(self, path: str) -> dict:
        self.connection.request("GET", f"/api/v1/{path}", headers={"authorization": f"Bearer {self.key}"})
        return json.loads(self.connection.getresponse().read(), parse_float=Decimal)

    def serve(self, state: str) -> int:
        """Answers with this state from now on; how many requests there were since the last time."""
        self.connection.request("POST", "/_recording", state)
        return json.loads(self.connection.getresponse().read())["requests"]

    def read(self, state: str) -> Amounts:
        self.serve(state)
        truth: Amounts = {}
        for table, path in (("items", "items"), ("purchase_orders", "po")):
            if table not in self.tables:
                continue
            rows, cursor = truth.setdefault(table, {}), ""
            while cursor is not None:
                page = self.get(f"{path}?limit=100{cursor and f'&cursor={cursor}'}")
                for row in page["data"][table]:
                    self.learn(table, row)
                    amount = row[AMOUNTS[table]]
                    rows[row[KEYS[table]]] = None if amount is None else Decimal(amount)
                cursor = page["pagination"]["next_cursor"]
        if "purchase_order_details" in self.tables:
            truth["purchase_order_details"] = dict.fromkeys(truth["purchase_orders"])
            for number in truth["purchase_orders"]:
                self.learn("purchase_order_details", self.get(f"po/{urllib.parse.quote(number, safe='')}")["data"])
        return truth

    def learn(self, table: str, row: dict) -> None:
        """Adds to the JSON schemas, which tools that don't guess their columns would have had written by hand."""
        for name, value in row.items():
            types = self.properties[table].setdefault(name, {"type": ["null", "string"]})["type"]
            if isinstance(value, bool):
                types[1:] = ["boolean"]
            elif isinstance(value, (int, Decimal)):
                types[1:] = ["number"]
            elif isinstance(value, (dict, list)):
                types[1:] = ["object", "array"]
