# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs a program under verbs-trace, and reads the trace.

Place: used by the tests of verbs-trace. Contract: every process has a limit on its time.
"""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[3]
TOOL = str(TOP / "tools/verbs-trace/verbs-trace")
BUILT = TOP / "build/tests/tracer"
LIMIT = 60
ADDRESSES = {
    name: os.environ[variable]
    for name, variable in (("RoCE", "LAB_ROCE_ADDR"), ("iWARP", "LAB_IWARP_ADDR"))
    if variable in os.environ
}
# The accusations of verbs-trace: arguments of sins.c.
SINS = (
    "leak",
    "cm-event",
    "cq-event",
    "async-event",
    "unseen-error",
    "posted-after-error",
    "rnr",
    "cq-overrun",
    "retry-count-0",
    "armed-not-polled",
    "private-data-after-ack",
)
NOT_ON = {("iWARP", "rnr")}  # iWARP has no RNR: the connection dies
ALSO = {"async-event": {"cq-overrun"}}  # a way to cause the event
# A program that has left an event unacked must not destroy its object: that would wait forever.
ALSO_GUILTY = {s: {"leak"} for s in ("cm-event", "cq-event", "async-event", "cq-overrun")}
Ended = subprocess.CompletedProcess[str]


def run(*command: str | Path, env: dict[str, str] | None = None) -> Ended:
    """Runs a command to its end."""
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=TOP, text=True, timeout=LIMIT, check=False, capture_output=True, env=env
    )


def trace(*words: str | Path, env: dict[str, str] | None = None) -> Ended:
    """Runs verbs-trace with these options, program and arguments."""
    return run(TOOL, *words, env=env)


def records(text: str) -> list[dict[str, Any]]:
    """Returns the JSON objects of -j, one from each line."""
    return [json.loads(line) for line in text.splitlines()]


def accusations(text: str) -> list[str]:
    """Returns the kinds of the accusations in the output of -j."""
    return [r["accusation"] for r in records(text) if "accusation" in r]


class Server:
    """A program that runs beside another, and is killed if it does not end by itself."""

    def __init__(self, *command: str | Path) -> None:
        """Starts the program."""
        words = [str(word) for word in command]
        self.process = subprocess.Popen(
            words, cwd=TOP, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def wait_for(self, text: str, path: Path) -> None:
        """Waits until the file, which the program writes, has the text, or the program has ended."""
        deadline = time.monotonic() + LIMIT
        while self.process.poll() is None and time.monotonic() < deadline:
            if path.exists() and text in path.read_text():
                break
            time.sleep(0.05)

    def end(self) -> tuple[int, str]:
        """Waits for the program; returns its exit status and output."""
        try:
            said, _ = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            said, _ = self.process.communicate()
        return self.process.returncode, said
