"""The programs that platforms run, on what `tributary airbyte` and `tributary singer` write.

PyAirbyte (its DuckDB cache), Airbyte's own models of its messages, target-postgres and target-jsonl read a simulated service's rows
out of a DuckDB and out of a PostgreSQL warehouse: everything, then what changed, with reads that are killed between. At the end
each has the rows of the warehouse, value by value, deleted ones and an amount of 29 digits among them.

Needs Python 3.11 or later, Node.js 24 on the PATH and `npm ci`; versions are pinned in requirements/. From the repository's root:

    python3 bench/interop/interop.py                     # makes its environments in a temporary folder
    python3 bench/interop/interop.py --venvs FOLDER      # keeps them there
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from datetime import date, datetime, timezone
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from programs import NODE, ROOT, Node, environments, say  # noqa: E402

SIDES = ("airbyte", "target-postgres", "target-jsonl")
SIZES = {"orders": 300, "invoices": 150, "items": 12000, "findings": 60, "ingested": 80}
MONEY = "12345678901234567890123456789.123456789"


POSTGRES = """
import { startPostgres } from "./test/support/server.ts";
const { url, close } = await startPostgres(["fsync=off"]);
process.on("SIGTERM", async () => { await close(); process.exit(0); });
console.log(JSON.stringify({ url }));
"""


class Service:
    """The simulated service; the first order's amount has as many digits as an exact decimal can have."""

    def __init__(self):
        sizes = [word for name, size in SIZES.items() for word in (f"--{name}", str(size))]
        self.simulator = Node("src/cli/main.ts", "simulate", "--port", "0", "--json", *sizes)
        origin = self.simulator.said["url"]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                headers = {"authorization": self.headers.get("authorization", "")}
                headers |= {name: value for name, value in self.headers.items() if name.lower().startswith("x-")}
                try:
                    answer = urllib.request.urlopen(urllib.request.Request(origin + self.path, headers=headers))
                except urllib.error.HTTPError as error:
                    answer = error
                body = answer.read()
                if re.match(r"/api/v1/po\?(?!.*cursor)", self.path):
                    body = re.sub(rb'"total_amount":-?[\d.]+', f'"total_amount":{MONEY}'.encode(), body, count=1)
                self.send_response(answer.status)
                self.send_header("content-type", answer.headers.get("content-type", "application/json"))
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.key = self.simulator.said["key"]
        self.origin = origin

    def change(self):
        body = {"update": {"findings": 5, "items": 400}, "delete": {"findings": 3, "items": 20}, "insert": {"items": 7}}
        request = urllib.request.Request(f"{self.origin}/_simulator/change", json.dumps(body).encode(), method="POST")
        urllib.request.urlopen(request).read()

    def close(self):
        self.server.shutdown()
        self.simulator.close()


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


class Trial:
    """One warehouse, and everything that reads it."""

    def __init__(self, folder, venvs, postgres, destination):
        self.folder, self.venvs, self.postgres = folder, venvs, postgres
        tools = folder / "bin"
        tools.mkdir(parents=True)
        self.service = Service()
        self.config = folder / "config.json"
        api = {"base_url": self.service.url, "key": self.service.key}
        self.config.write_text(json.dumps({"api": api, "company": "acme", "destination": destination}))
        executable(tools / "tributary", f'#!/bin/sh\nexec "{NODE}" "{ROOT}/src/cli/main.ts" "$@"\n')
        self.lines = folder / "lines"
        self.lines.mkdir()
        self.executable = executable(
            tools / "source-tributary",
            f'#!/bin/bash\nset -o pipefail\n"{ROOT}/deploy/airbyte/source-tributary" "$@" | tee "{self.lines}/$1.$$"\n',
        )
        self.env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder)}
        self.catalog = folder / "catalog.json"
        self.cache = folder / "cache.duckdb"

    def airbyte(self, call, **more):
        given = {
            "config": str(self.config),
            "executable": str(self.executable),
            "catalog": str(self.catalog),
            "cache": str(self.cache),
            **more,
        }
        words = [self.venvs / "airbyte/bin/python", HERE / "airbyte_side.py", call, json.dumps(given)]
        log = open(self.folder / "airbyte.log", "a")
        return subprocess.Popen(
            words, env=self.env, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )

    def done(self, process):
        out, _ = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{process.args[1:3]} ended with {process.returncode}: {self.folder}/airbyte.log")
        return out

    def kill_read(self):
        """Kills PyAirbyte and the source with it, as soon as rows are on their way."""
        process = self.airbyte("read")
        before = set(self.lines.iterdir())
        while process.poll() is None:
            new = [path for path in self.lines.iterdir() if path not in before and path.name.startswith("read.")]
            if any('"RECORD"' in path.read_text(errors="replace") for path in new):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return
            time.sleep(0.01)
        raise RuntimeError("the read was over before it could be killed")

    def tap(self, target, *options):
        """A tap and its target, with the state of the time before; the last state is kept for the next time."""
        states = self.folder / f"{target}.state.json"
        words = ["tributary", "singer", "--config", str(self.config), "--no-progress", "--log-level", "warn"]
        words += ["--state", str(states)] if states.exists() else []
        source = subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE)
        config = self.folder / f"{target}.json"
        config.write_text(json.dumps(dict(options)))
        sink = subprocess.run(
            [self.venvs / target / "bin" / target, "--config", config],
            env=self.env, cwd=self.folder, stdin=source.stdout, capture_output=True, text=True,
        )
        if source.wait() != 0 or sink.returncode != 0:
            raise RuntimeError(f"{target} ended with {sink.returncode}, its tap with {source.wait()}: {sink.stderr[-2000:]}")
        states.write_text(sink.stdout.strip().split("\n")[-1])

    def taps(self):
        self.tap("target-postgres", ("sqlalchemy_url", sqlalchemy(self.postgres)), ("default_target_schema", self.schema))
        self.tap("target-jsonl", ("destination_path", str(self.folder / "jsonl")), ("do_timestamp_file", False))

    @property
    def schema(self):
        return f"target_{self.folder.name}"

    def run(self):
        self.done(self.airbyte("discover"))
        self.streams = {stream["name"]: stream for stream in json.loads(self.catalog.read_text())["streams"]}
        say(f"  {len(self.streams)} tables discovered")
        self.kill_read()
        self.done(self.airbyte("read"))
        self.taps()
        self.service.change()
        self.kill_read()
        self.service.change()
        # A deletion may take two runs to be proven: each reader runs a sync of its own, and all are to find the same.
        for _ in range(2):
            subprocess.run(["tributary", "sync", "--config", self.config], env=self.env, capture_output=True, check=True)
        self.done(self.airbyte("read"))
        self.taps()
        lines = sum(int(self.done(self.airbyte("validate", lines=str(path)))) for path in self.lines.iterdir())
        say(f"  {lines} lines are valid Airbyte messages")
        self.compare()

    def compare(self):
        warehouse = self.records(self.warehouse())
        deleted = sum(row["_deleted_at"] is not None for rows in warehouse.values() for row in rows.values())
        order = max(warehouse["purchase_orders"].values(), key=lambda row: row["total_amount"] or 0)
        assert order["total_amount"] == Decimal(MONEY), order["total_amount"]
        assert deleted > 20, deleted
        tables = list(self.streams)
        cached = self.records(json_lines(self.done(self.airbyte("dump", tables=tables))), exact="_exact")
        given = {"url": self.postgres, "schema": self.schema, "tables": tables}
        words = [self.venvs / "target-postgres/bin/python", HERE / "postgres_side.py", json.dumps(given)]
        stored = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        written = (
            {"table": path.stem, "record": json.loads(line)}
            for path in (self.folder / "jsonl").iterdir()
            for line in path.read_text(encoding="utf-8").splitlines()
        )
        for name, records in (
            ("PyAirbyte's cache", cached),
            ("target-postgres", self.records(json_lines(stored))),
            ("target-jsonl", self.records(written)),
        ):
            for table in tables:
                requireSame(f"{name}: {table}", records.get(table, {}), warehouse.get(table, {}))
            rows = sum(len(rows) for rows in records.values())
            say(f"  {name}: {rows} rows, {deleted} of them deleted, as the warehouse has them")

    def warehouse(self):
        for table in self.streams:
            words = ["tributary", "query", "--config", str(self.config), "--format", "json", f"select * from procurement.{table}"]
            for row in json_lines(subprocess.run(words, env=self.env, capture_output=True, text=True, check=True).stdout):
                yield {**row, "table": table} if "record" in row else {"table": table, "record": row}

    def records(self, lines, exact=""):
        """By table and key the last that is said of a row, values in one spelling."""
        found = {}
        for line in lines:
            table, record = line["table"], line["record"]
            stream = self.streams[table]
            schema = stream["json_schema"]["properties"]
            row = {}
            for column, of in schema.items():
                if column.endswith("_exact"):
                    continue
                is_exact = f"{column}_exact" in schema
                row[column] = spelled(record[f"{column}{exact}" if is_exact else column], of, is_exact)
            key = tuple(row[column] for [column] in stream["source_defined_primary_key"])
            found.setdefault(table, {})[key] = row
        return found

    def close(self):
        self.service.close()


def json_lines(text):
    return (json.loads(line, parse_float=Decimal) for line in text.splitlines())


def spelled(value, of, is_exact):
    if value is None:
        return None
    types = [one for one in of["type"] if one != "null"]
    if of.get("format") == "date-time":
        moment = datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)
    if of.get("format") == "date":
        return date.fromisoformat(str(value)[:10])
    if types == ["number"]:
        return Decimal(str(value)) if is_exact else round(float(value), 9)
    if "object" in types:
        if isinstance(value, str):
            try:
                value = json.loads(value, parse_float=Decimal)
            except json.JSONDecodeError:
                pass
        return json.dumps(value, sort_keys=True, default=lambda number: float(number)) if value is not None else None
    return value


def requireSame(what, found, wanted):
    missing, more = wanted.keys() - found.keys(), found.keys() - wanted.keys()
    assert not missing and not more, f"{what}: {len(missing)} missing, {len(more)} more: {list(missing | more)[:3]}"
    for key, row in wanted.items():
        other = {column: (found[key][column], value) for column, value in row.items() if found[key][column] != value}
        assert not other, f"{what}: {key}: {other}"


def sqlalchemy(url):
    return url.replace("postgres://", "postgresql://").replace("postgresql://", "postgresql+psycopg://")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venvs", type=Path, help="where the environments are kept")
    parser.add_argument("--only", choices=("duckdb", "postgres"), help="one kind of warehouse")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="interop-") as name:
        folder = Path(name)
        venvs = (options.venvs or folder / "venvs").resolve()
        environments(venvs, HERE / "requirements", SIDES)
        server = Node("--input-type=module", "--eval", POSTGRES)
        url = server.said["url"]
        try:
            for kind in ("duckdb", "postgres"):
                if options.only not in (None, kind):
                    continue
                own = folder / kind
                path = {"path": str(own / "warehouse.duckdb")}
                say(f"a warehouse in {kind}")
                trial = Trial(own, venvs, url, path if kind == "duckdb" else {"type": "postgres", "url": url})
                try:
                    trial.run()
                except Exception:
                    log = own / "airbyte.log"
                    say(log.read_text()[-3000:] if log.exists() else "")
                    raise
                finally:
                    trial.close()
        finally:
            server.close()


main()
