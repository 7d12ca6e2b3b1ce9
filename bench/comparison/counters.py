# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The processor's hardware counters for client and server, by perf(1), on machines that have them.

Place: below runner.py. Contract: absent() returns the reason if there are none. If the counters of a run could not be
read, the run is complete without these figures.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess

from .children import Child, Children

EVENTS = ("cycles", "instructions", "cache-misses")
CLOCK = "duration_time"  # in perf's output: the nanoseconds in which it counted
LIMIT_S = 20.0


def parse(text: str) -> dict[str, float]:
    """The output of 'perf stat -x,' by event; events that could not be counted are left out."""
    found = {}
    for line in text.splitlines():
        words = line.split(",")
        if len(words) > 2 and re.fullmatch(r"[\d.]+", words[0]):
            found[words[2].partition(":")[0]] = float(words[0])
    return found


def absent(events: tuple[str, ...] = EVENTS) -> str:
    """The reason why nothing can be counted here; empty if something can."""
    if shutil.which("perf") is None:
        return "perf is not installed (linux-perf)"
    command = ["perf", "stat", "-x,", "-e", ",".join(events), "true"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"perf did not answer within {LIMIT_S:.0f} s"
    if said.returncode:
        return "perf cannot count: " + " ".join(said.stderr.split())[:200]
    missing = [event for event in events if event not in parse(said.stderr)]
    return f"neither the processor nor its hypervisor offers {', '.join(missing)}" if missing else ""


def begin(children: Children, pids: list[int], events: tuple[str, ...] = EVENTS) -> Child:
    """Counts, from now on, for running processes with all their threads."""
    chosen = ",".join((CLOCK, *events))
    return children.start("perf", ["perf", "stat", "-x,", "-e", chosen, "-p", ",".join(map(str, pids))])


def end(children: Children, perf: Child) -> dict[str, float]:
    """Each event per second, under the name of a figure; empty if perf printed nothing that can be used."""
    children.tell(perf, signal.SIGINT)
    if not children.wait(perf, LIMIT_S):
        children.end(perf)
    found = parse(perf.err.read_text(errors="replace"))
    seconds = found.pop(CLOCK, 0.0) / 1e9
    return {f"perf_{event.replace('-', '_')}": count / seconds for event, count in found.items()} if seconds else {}
