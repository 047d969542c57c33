"""The same job for tributary and for other tools that load an HTTP API into DuckDB, side by side, as one table.

Each tool loads the same recorded answers of the simulated service: for the first time, in a night in which nothing changed, and
in one in which 1 % of the rows changed and some are gone. Tools take turns, so that a slow moment of the machine meets all.

Needs Linux, Python 3.11 or later, Node.js 24 on the PATH and `npm ci`; versions are pinned in requirements/. From the
repository's root:

    python3 bench/peers/peers.py                          # makes its environments in a temporary folder
    python3 bench/peers/peers.py --venvs FOLDER           # keeps them there
    python3 bench/peers/peers.py --only tributary,dlt-merge --items 2000 --orders 2000 --runs 1
"""

import argparse
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
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from loaders import TOOLS, Place, Tool  # noqa: E402
from programs import NODE, ROOT, environments, say  # noqa: E402
from recorded import AMOUNTS, KEYS, Recording  # noqa: E402

LOADS = {"first load": "base", "nothing changed": "base", "1 % changed": "night"}
# Builds the command as it is installed, and says where it is.
BUILD = """
import { build } from "./bench/build.ts";
console.log(JSON.stringify(await build(process.argv[1])));
"""


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
    try:
        for process in processes:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu += usage.ru_utime + usage.ru_stime
            if process.returncode != 0:
                failed.append(f"{process.args} ended with {process.returncode}")
        wall = time.perf_counter() - started
    finally:
        ended.set()
        watcher.join()
        for process in processes:
            if process.returncode is None:
                process.kill()
    if failed:
        log.flush()
        raise RuntimeError("\n".join([*failed, Path(log.name).read_text(errors="replace")[-3000:]]))
    return Used(wall, cpu, peak)


@dataclass(frozen=True)
class Result:
    used: Used
    rows: int
    requests: int
    # Amounts that are not those of the service.
    lost: int
    # Rows that are shown as gone, of those that are; None where none are.
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
        table: f"select {KEYS[table]}, {AMOUNTS.get(table, 'null')}::varchar, {tool.gone} from procurement.{table}"
        for table in place.recording.tables
    }
    warehouse = place.folder / "warehouse.duckdb"
    words = [place.venvs / "reader/bin/python", HERE / "read_side.py", warehouse, json.dumps(queries)]
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
    before = os.getloadavg()[0]
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
        except KeyboardInterrupt:
            say("stopped: what there is so far is told")
        finally:
            for recording in recordings.values():
                recording.close()
        load_average = f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after"
        machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {load_average}"
        told = {
            "date": datetime.now(timezone.utc).date().isoformat(),
            "machine": machine,
            "sizes": {size: getattr(given, size) for size in ("items", "orders", "details")},
            "runs": min(map(len, results.values()), default=0),
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
    print("\n".join([f"{told['date']}; {machine}; {sizes}; runs: {told['runs']}", "", table(told["lines"]), "", *notes]))


main()
