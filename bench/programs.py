"""What the Python programs of this folder share: environments, and programs of the repository that run beside them."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE = shutil.which("node")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def environments(folder: Path, requirements: Path, sides: Iterable[str]) -> None:
    """A virtual environment for each side, with what `requirements` pins for it: what they need does not fit together."""
    for side in sides:
        ready = folder / side / "ready"
        wanted = (requirements / f"{side}.txt").read_text()
        if ready.exists() and ready.read_text() == wanted:
            continue
        say(f"installing {side}")
        subprocess.run([sys.executable, "-m", "venv", folder / side], check=True)
        pip = [folder / side / "bin/pip", "install", "--quiet", "--requirement", requirements / f"{side}.txt"]
        subprocess.run(pip, check=True)
        ready.write_text(wanted)


class Node:
    """A program of the repository that says a line of JSON when it is ready, and ends with its standard input or a signal."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [NODE, *words], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        text = ""
        while line := self.process.stdout.readline():
            text += line
            try:
                self.said = json.loads(text)
                return
            except json.JSONDecodeError:
                pass
        raise RuntimeError(f"{words} said {text!r}")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
