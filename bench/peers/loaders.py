"""The tools that peers.py compares: how each is started, and how it was told to work."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recorded import Recording

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Place:
    """What a tool's command is made of: a folder of its own, and the service."""

    folder: Path
    venvs: Path
    recording: Recording
    cli: str


@dataclass(frozen=True)
class Tool:
    """A way to load into the tables of the schema `procurement` in the file `warehouse.duckdb` of its folder."""

    title: str
    # How it was told to work, and what it cannot do.
    choices: str
    # Programs that are started together, each reading what the one before it writes.
    pipeline: Callable[[Place], list[list[str]]]
    # Its folders in requirements/, and the packages whose versions are told.
    environments: dict[str, tuple[str, ...]]
    # What says that a row in its tables is gone.
    gone: str = "false"


def tributary(place: Place) -> list[list[str]]:
    config = place.folder / "config.yaml"
    api = {"base_url": place.recording.url, "key": place.recording.key}
    # JSON is YAML.
    config.write_text(json.dumps({"api": api, "company": "acme", "destination": {"path": "./warehouse.duckdb"}}))
    words = ["sync", *place.recording.tables, "--config", str(config), "--no-progress", "--log-level", "warn"]
    # By its first line, which says how Node is started.
    return [[place.cli, *words]]


def dlt(disposition: str) -> Callable[[Place], list[list[str]]]:
    def pipeline(place: Place) -> list[list[str]]:
        python, given = str(place.venvs / "dlt/bin/python"), (place.recording.url, place.recording.key, str(place.folder))
        return [[python, str(HERE / "dlt_side.py"), *given, disposition, *place.recording.tables]]

    return pipeline


def source(place: Place) -> dict:
    """What a tool's own source is told of the service."""
    recording = place.recording
    return {"origin": recording.url, "key": recording.key, "tables": recording.tables, "properties": recording.properties}


def singer(place: Place) -> list[list[str]]:
    tap, target = place.folder / "tap.json", place.folder / "target.json"
    tap.write_text(json.dumps(source(place)))
    warehouse = str(place.folder / "warehouse.duckdb")
    target.write_text(json.dumps({"path": warehouse, "default_target_schema": "procurement"}))
    return [
        [str(place.venvs / "singer-tap/bin/python"), str(HERE / "singer_tap.py"), "--config", str(tap)],
        [str(place.venvs / "target-duckdb/bin/target-duckdb"), "--config", str(target)],
    ]


def airbyte(strategy: str) -> Callable[[Place], list[list[str]]]:
    def pipeline(place: Place) -> list[list[str]]:
        config = place.folder / "source.json"
        config.write_text(json.dumps({**source(place), "folder": str(place.folder)}))
        return [[str(place.venvs / "airbyte/bin/python"), str(HERE / "airbyte_side.py"), strategy, str(config)]]

    return pipeline


AIRBYTE = {"airbyte": ("airbyte", "airbyte-cdk", "duckdb")}
DLT = {"dlt": ("dlt", "duckdb", "pyarrow")}
TOOLS = {
    "tributary": Tool(
        "tributary",
        "as it comes, the command as it is built; a row that is gone is marked, nested lists become tables of their own",
        tributary,
        {},
        gone="_deleted_at is not null",
    ),
    "dlt-merge": Tool(
        "dlt, merge",
        "rest_api source, write disposition merge, Parquet files, resources side by side, nested values as JSON, amounts "
        "declared as decimals: those sent as numbers are doubles before; merging keeps rows that are gone",
        dlt("merge"),
        DLT,
    ),
    "dlt-replace": Tool(
        "dlt, replace", "the same with write disposition replace: all rows written each time", dlt("replace"), DLT
    ),
    "singer": Tool(
        "Singer",
        "a tap with Meltano's SDK and its faster writer, target-duckdb: numbers are doubles there, rows that are gone stay",
        singer,
        {"singer-tap": ("singer-sdk",), "target-duckdb": ("target-duckdb", "duckdb")},
    ),
    "airbyte-merge": Tool(
        "PyAirbyte, merge",
        "a declarative source with a concurrency of 8, details as its substream, write strategy merge into the DuckDB cache: "
        "amounts sent as numbers are doubles before; merging keeps rows that are gone",
        airbyte("merge"),
        AIRBYTE,
    ),
    "airbyte-replace": Tool(
        "PyAirbyte, replace",
        "the same with write strategy replace: all rows written each time",
        airbyte("replace"),
        AIRBYTE,
    ),
}
