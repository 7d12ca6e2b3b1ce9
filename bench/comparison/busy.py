# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Workers beside a run, the work that they lose, and what helps: bench/busy.c.

Place: below runner.py and remote.py. Contract: workers are measured alone before the programs start, and again in the window, both
by the clock of their own machine. What they lose is in CPUs: 1 is the work of a worker that has a CPU for itself.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from .children import Child, Children

BUSY = "build/bench/busy"
ALONE_S, LIMIT_S = 0.4, 20.0
# Each changes the programs, not the workers. The second word: what it needs.
HELPS = {"nice": "CAP_SYS_NICE", "batch": "", "fifo": "CAP_SYS_NICE", "slack": "", "own": "root, to keep others off"}


class Lost(Exception):
    """The workers could not be measured; the message is for people."""


def helped(how: str, argv: list[str]) -> list[str]:
    """The command of a program that `how` helps; empty: nothing does."""
    return [BUSY, how, *argv] if how in HELPS else argv


def work(ratio: float, how: str) -> list[str]:
    """The command of workers, as a multiple of the CPUs of their machine."""
    return [BUSY, "work", f"{ratio:g}", *(["own"] if how == "own" else [])]


def speeds(first: dict[str, Any], last: dict[str, Any]) -> tuple[float, float, float]:
    """Returns the work of computers and walkers a second, and their CPUs."""
    seconds = (last["ns"] - first["ns"]) / 1e9
    if seconds <= 0:
        raise Lost("the workers did not say what they have done in the window")
    return tuple((last[name] - first[name]) / seconds / scale for name, scale in (
        ("computed", 1), ("walked", 1), ("cpu_ns", 1e9)))  # type: ignore[return-value]  # fmt: skip


@dataclass
class Workers:
    """The workers of one machine. A mark is the number of lines that they have printed."""

    children: Children
    child: Child
    marks: list[int] = field(default_factory=list)

    def laps(self) -> list[dict[str, Any]]:
        """The lines so far. The last one may be incomplete."""
        return [json.loads(line) for line in self.child.out.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def mark(self) -> None:
        """Notes that the time alone, or the window, begins or ends."""
        self.marks.append(len(self.laps()))

    def wait(self, seconds: float) -> None:
        """Lets them work."""
        if self.children.wait(self.child, seconds):
            raise Lost(f"the workers ended: {self.child.said()}")

    def alone(self) -> None:
        """Measures them before the programs start."""
        end = time.monotonic() + LIMIT_S
        while not (laps := self.laps()) or any(laps[-1][kind] and not laps[-1][did] for kind, did in (("computers", "computed"), ("walkers", "walked"))):
            self.wait(0.05)
            if time.monotonic() > end:
                raise Lost("the workers did not begin to work")
        self.mark()
        self.wait(ALONE_S)
        self.mark()

    def figures(self) -> dict[str, float]:
        """The figures of the time between the last two marks."""
        laps = self.laps()
        before, now = (speeds(laps[first - 1], laps[last - 1]) for first, last in (self.marks[:2], self.marks[2:]))
        kinds = laps[0]["computers"], laps[0]["walkers"]
        left = [now[n] / before[n] if kinds[n] and before[n] else 1.0 for n in (0, 1)]
        have = min(sum(kinds), laps[0]["free"]) / sum(kinds)  # CPUs of each, if nothing else runs
        got = have * sum(number * part for number, part in zip(kinds, left))
        found = {"lost_cpus": min(sum(kinds), laps[0]["cpus"]) - got, "worker_cpus": now[2]}
        return {**found, **{f"lost_by_{name}": 1 - left[n] for n, name in enumerate(("computing", "walking")) if kinds[n]}}


def add(workers: list[Workers], figures: dict[str, float]) -> None:
    """Adds what the workers of all machines lost. The machine's CPUs are then those of all else."""
    for one in (each.figures() for each in workers):
        for name, value in one.items():
            figures[name] = max(figures.get(name, value), value) if name.startswith("lost_by") else figures.get(name, 0.0) + value
    if workers and "machine_cpus" in figures:
        figures["machine_cpus"] = max(0.0, figures["machine_cpus"] - figures["worker_cpus"])
