"""The same job for tributary and for other tools that load an HTTP API into DuckDB, side by side, as one table.

Each tool loads the same recorded answers of the simulated service: for the first time, in a night in which nothing changed, and
in one in which 1 % of the rows changed and some are gone. Tools take turns, so that a slow moment of the machine meets all.

Needs Linux, Python 3.11 or later, Node.js 24 on the PATH and `npm ci`; versions are pinned in requirements/. From the
repository's root:

    python3 bench/peers/peers.py                          # makes its environments in a temporary folder
    python3 bench/peers/peers.py --venvs FOLDER           # keeps them there
    python3 bench/peers/peers.py --only tributary,dlt --items 2000 --orders 2000 --runs 1
"""

import argparse
import http.client
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from programs import NODE, ROOT, Node, environments, say  # noqa: E402

LOADS = {"first load": "base", "nothing changed": "base", "1 % changed": "night"}
KEYS = {"items": "item_id", "purchase_orders": "po_number", "purchase_order_details": "po_number"}
AMOUNTS = {"items": "total_spend", "purchase_orders": "total_amount"}
# Builds the command as it is installed, and says where it is.
BUILD = """
import { build } from "./bench/build.ts";
console.log(JSON.stringify(await build(process.argv[1])));
"""

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


@dataclass(frozen=True)
class Place:
    """What a tool's command is made of: a folder of its own, and the service."""

    folder: Path
    venvs: Path
    recording: Recording
    cli: str


@dataclass(frozen=True)
class Tool:
    title: str
    """How it was told to work."""
    choices: str
    """Programs that are started together, each reading what the one before it writes."""
    pipeline: Callable[[Place], list[list[str]]]
    """Its folders in requirements/, and the packages whose versions are told."""
    environments: dict[str, tuple[str, ...]]
    """The file that analysts open, in its folder; the schema of its tables, and what says that a row is gone."""
    database: str = "warehouse.duckdb"
    schema: str = "procurement"
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
        "as it comes; the built command",
        tributary,
        {},
        gone="_deleted_at is not null",
    ),
    "dlt-merge": Tool(
        "dlt, merge",
        "rest_api source, write disposition merge, Parquet files, resources side by side, nested values as JSON, money as decimal",
        dlt("merge"),
        DLT,
    ),
    "dlt-replace": Tool("dlt, replace", "the same with the write disposition replace", dlt("replace"), DLT),
    "singer": Tool(
        "Singer",
        "a tap with Meltano's SDK and its faster writer, target-duckdb",
        singer,
        {"singer-tap": ("singer-sdk",), "target-duckdb": ("target-duckdb", "duckdb")},
    ),
    "airbyte-merge": Tool(
        "PyAirbyte, merge",
        "a declarative source with a concurrency of 8, details as its substream, write strategy merge into the DuckDB cache",
        airbyte("merge"),
        AIRBYTE,
    ),
    "airbyte-replace": Tool(
        "PyAirbyte, replace", "the same with the write strategy replace", airbyte("replace"), AIRBYTE
    ),
}


@dataclass(frozen=True)
class Used:
    wall_s: float
    cpu_s: float
    peak_bytes: int


def resident(process: int) -> int:
    """Bytes of a process and all below it, now."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        below = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")]
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize() + sum(resident(int(child)) for text in below for child in text.split())


def measure(pipeline: list[list[str]], folder: Path, log: IO[bytes]) -> Used:
    """Runs programs to their end; CPU and memory are theirs and that of all processes below them."""
    env = {**os.environ, "HOME": str(folder), "AIRBYTE_OFFLINE_MODE": "1", "DO_NOT_TRACK": "1"}
    started = time.perf_counter()
    processes: list[subprocess.Popen] = []
    for words in pipeline:
        before = processes[-1].stdout if processes else subprocess.DEVNULL
        out = log if words is pipeline[-1] else subprocess.PIPE
        processes.append(subprocess.Popen(words, cwd=folder, env=env, stdin=before, stdout=out, stderr=log))
        if processes[1:]:
            before.close()
    ended, peak = threading.Event(), 0

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.05):
            peak = max(peak, sum(resident(process.pid) for process in processes))

    watcher = threading.Thread(target=watch)
    watcher.start()
    cpu, failed = 0.0, []
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu += usage.ru_utime + usage.ru_stime
        if process.returncode != 0:
            failed.append(f"{process.args} ended with {process.returncode}")
    wall = time.perf_counter() - started
    ended.set()
    watcher.join()
    if failed:
        log.flush()
        raise RuntimeError("\n".join([*failed, Path(log.name).read_text(errors="replace")[-3000:]]))
    return Used(wall, cpu, peak)


@dataclass(frozen=True)
class Result:
    used: Used
    rows: int
    requests: int
    """Amounts that are not those of the service."""
    lost: int
    """Rows that are shown as gone, of those that are; None where none are."""
    seen: tuple[int, int] | None


def load(tool: Tool, place: Place, name: str) -> Result:
    recording = place.recording
    recording.serve(LOADS[name])
    with (place.folder / "log").open("ab") as log:
        used = measure(tool.pipeline(place), place.folder, log)
    requests = recording.serve(LOADS[name])
    truth = recording.truth[LOADS[name]]
    found = shown(tool, place)
    live = {table: {key for key, (_, gone) in rows.items() if not gone} for table, rows in found.items()}
    removed = {table: recording.removed["items" if table == "items" else "purchase_orders"] for table in truth}
    for table, rows in truth.items():
        missing, more = rows.keys() - live[table], live[table] - rows.keys() - set(removed[table])
        if missing or more:
            raise RuntimeError(f"{tool.title}, {name}, {table}: {len(missing)} rows are missing, {len(more)} too many")
    lost = sum(found[table][key][0] != amount for table, rows in truth.items() for key, amount in rows.items())
    unseen = [key in live[table] for table in truth for key in removed[table]]
    seen = (unseen.count(False), len(unseen)) if LOADS[name] == "night" else None
    return Result(used, sum(map(len, truth.values())), requests, lost, seen)


def shown(tool: Tool, place: Place) -> dict[str, dict[str, tuple[Decimal | None, bool]]]:
    """By table and key the amount, as exact as the destination has it, and whether the row is gone."""
    queries = {
        table: f"select {KEYS[table]}, {AMOUNTS.get(table, 'null')}::varchar, {tool.gone} from {tool.schema}.{table}"
        for table in place.recording.tables
    }
    words = [place.venvs / "reader/bin/python", HERE / "read_side.py", place.folder / tool.database, json.dumps(queries)]
    found = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
    return {
        table: {key: (None if amount is None else Decimal(amount), gone) for key, amount, gone in rows}
        for table, rows in found.items()
    }


def lines(results: dict[tuple[str, str, str], list[Result]]) -> list[dict]:
    """One for each job, load and tool: medians, and what is the same in every run."""

    def line(job: str, name: str, tool: str, runs: list[Result]) -> dict:
        median = {
            of: statistics.median(getattr(run.used, of) for run in runs) for of in ("wall_s", "cpu_s", "peak_bytes")
        }
        last = {field: value for field, value in asdict(runs[-1]).items() if field != "used"}
        return {"job": job, "load": name, "tool": TOOLS[tool].title, **median, **last}

    return [line(*at, runs) for at, runs in results.items()]


def table(told: list[dict]) -> str:
    """The lines as Markdown."""
    titles = ("job", "load", "tool", "rows a second", "CPU", "peak memory", "requests", "digits lost", "deletions seen")
    rows = [
        (
            *(line[name] for name in ("job", "load", "tool")),
            f"{line['rows'] / line['wall_s']:,.0f}",
            f"{line['cpu_s']:.1f} s",
            f"{line['peak_bytes'] / 1e6:,.0f} MB",
            f"{line['requests']:,}",
            f"{line['lost']:,}",
            "" if line["seen"] is None else "{} of {}".format(*line["seen"]),
        )
        for line in told
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (titles, ["---"] * 3 + ["---:"] * 6, *rows))


def versions(tool: str, venvs: Path) -> str:
    if tool == "tributary":
        return json.loads((ROOT / "package.json").read_text())["version"]
    asked = "import sys; from importlib.metadata import version; print(*(f'{n} {version(n)}' for n in sys.argv[1:]), sep=', ')"
    words = [[venvs / side / "bin/python", "-c", asked, *names] for side, names in TOOLS[tool].environments.items()]
    return ", ".join(subprocess.run(one, check=True, stdout=subprocess.PIPE, text=True).stdout.strip() for one in words)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venvs", type=Path, help="where the environments are kept")
    parser.add_argument("--only", help=f"some of {','.join(TOOLS)}")
    parser.add_argument("--items", type=int, default=20_000, help="items of the job 'lists' (default: %(default)s)")
    parser.add_argument("--orders", type=int, default=20_000, help="orders of the job 'lists' (default: %(default)s)")
    parser.add_argument("--details", type=int, default=2_000, help="orders of the job 'details' (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each; medians are told (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args()
    given.tools = given.only.split(",") if given.only else list(TOOLS)
    if unknown := set(given.tools) - TOOLS.keys():
        parser.error(f"--only: expected some of {','.join(TOOLS)}, got {','.join(sorted(unknown))}")
    return given


def main() -> None:
    given = options()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    recordings: dict[str, Recording] = {}
    results: dict[tuple[str, str, str], list[Result]] = {}
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        venvs = (given.venvs or folder / "venvs").resolve()
        sides = {side for tool in given.tools for side in TOOLS[tool].environments}
        environments(venvs, HERE / "requirements", ["reader", *sorted(sides)])
        say("building")
        (folder / "built").mkdir()
        words = [NODE, "--input-type=module", "--eval", BUILD, folder / "built"]
        built = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        cli = json.loads(built.splitlines()[-1])["cli"]
        os.chmod(cli, 0o755)
        try:
            say("recording")
            orders = ("purchase_orders", "purchase_order_details")
            recordings["lists"] = Recording(("items", "purchase_orders"), {"items": given.items, "orders": given.orders})
            recordings["details"] = Recording(orders, {"items": 0, "orders": given.details})
            for run in range(given.runs):
                for job, recording in recordings.items():
                    for load_name in LOADS:
                        for tool in given.tools:
                            own = folder / f"{job}-{tool}-{run}"
                            own.mkdir(exist_ok=True)
                            say(f"run {run + 1}, {job}, {load_name}, {TOOLS[tool].title}")
                            result = load(TOOLS[tool], Place(own, venvs, recording, cli), load_name)
                            results.setdefault((job, load_name, tool), []).append(result)
        finally:
            for recording in recordings.values():
                recording.close()
        told = {
            "date": datetime.now(timezone.utc).date().isoformat(),
            "machine": machine,
            "sizes": {size: getattr(given, size) for size in ("items", "orders", "details", "runs")},
            "tools": [
                {"tool": TOOLS[tool].title, "versions": versions(tool, venvs), "choices": TOOLS[tool].choices}
                for tool in given.tools
            ],
            "lines": lines(results),
        }
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=2) + "\n")
    sizes = ", ".join(f"{count:,} {size}" for size, count in told["sizes"].items())
    notes = [f"- {tool['tool']}: {tool['versions']}; {tool['choices']}" for tool in told["tools"]]
    print("\n".join([f"{told['date']}; {machine}; {sizes}", "", table(told["lines"]), "", *notes]))


main()
