"""Readers of a lake in one process, each with a connection of its own; as reader.ts, which says more."""

import json
import random
import sys
import threading
import time

import duckdb

order = json.loads(sys.argv[1])
over = threading.Event()
opened = threading.Barrier(order["readers"] + 1)
told = {"readers": 0, "looks": 0, "states": 0, "errors": [], "mixtures": []}
lock = threading.Lock()


def read():
    looks, states, mixtures, errors = 0, set(), [], []
    connection = duckdb.connect(config={"threads": 1})
    for file in order["extensions"]:
        connection.execute(f"load '{file}'")
    connection.execute(f"attach '{order['lake']}' as lake (read_only, metadata_schema 'ducklake')")
    connection.execute("use lake")
    ask = lambda question: str(connection.execute(question).fetchone())
    opened.wait()
    last = False
    while not last:
        last = over.wait(2 * order["pauseMs"] / 1000 * random.random())
        try:
            connection.execute("begin transaction")
            before = ask(order["questions"][0])
            time.sleep(0.05)
            after = ask(order["questions"][1])
            connection.execute("commit")
            looks += 1
            states.add(before)
            if before != after:
                mixtures.append(f"{before}, but {after}")
        except Exception as error:
            errors.append(str(error))
            last = True
    with lock:
        told["readers"] += 1
        told["looks"] += looks
        told["states"] = max(told["states"], len(states))
        told["errors"] += errors
        told["mixtures"] += mixtures


threads = [threading.Thread(target=read) for _ in range(order["readers"])]
for thread in threads:
    thread.start()
opened.wait()
print("open", flush=True)
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
print(json.dumps(told), flush=True)
