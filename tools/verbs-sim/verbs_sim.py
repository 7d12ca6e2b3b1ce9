# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs of programs over the simulated device, as verbs-sim makes them: for tests in Python.

Place: used by tests/ beside it, by those of the suite and by the course. Contract: a run has a bound in real time; what came of it is read from
verbs-sim's last line. It needs nothing but the standard library: it also runs in the grader's jail.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
ADDRESS = "192.0.2.1"
# Options of verbs-sim for each run, whatever its test wants, such as --strict.
ALWAYS = os.environ.get("VERBS_SIM_OPTIONS", "").split()
ALLOCATIONS = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "eventfd", "sigaction", "socket")
OF_ITS_OWN = range(120, 126)  # exit statuses of verbs-sim that are no program's
LAST = re.compile(
    r"verbs-sim: (?:status (?P<status>[\d/]+), calls (?P<calls>[\d/]+)|(?P<reason>.+?))(?:, told to stop: (?P<told>[\d/]+))?(?:, fault: (?P<fault>.+?))?(?:, wrong: (?P<wrong>.+?))?(?:, not simulated: (?P<missing>.+?))?, "
    r"left over: (?P<left>.+), (?P<ms>[\d.]+) ms, hash (?P<hash>[0-9a-f]{16}): (?P<command>.*)$"
)


class Lost(Exception):
    """verbs-sim has ended without its last line, or did not end."""


@dataclass(frozen=True)
class Run:
    """What came of one."""

    exit: int
    statuses: list[int]  # of the programs; [-1] if the run ended before they did
    calls: list[int]  # that they made
    reason: str  # why it ended before the programs did, or empty
    told: list[int]  # programs that were told to stop, as all slept
    wrong: str  # what programs did wrong though nothing told them, or empty
    missing: str  # what libraries asked the kernel, and is not simulated; or empty
    fault: str  # what went wrong as it was asked to, or empty
    left: str  # "nothing", or what was not destroyed
    ms: float  # simulated
    hash: str
    out: str
    err: str  # without the last line
    command: str  # that repeats it

    def why(self) -> str:
        """For a person, if it is not as it should be."""
        return f"{self.command}\n{self.err}exit {self.exit}, statuses {self.statuses}, {self.reason}, wrong: {self.wrong}, left: {self.left}"


def simulate(programs: list[list[str]], *options: str, within_s: float = 120) -> Run:
    """Programs with their arguments; `options` are verbs-sim's. Raises Lost."""
    words = [word for program in programs for word in [":::", *program]][1:]
    argv = ["tools/verbs-sim/verbs-sim", *ALWAYS, *options, "--", *words]
    try:
        done = subprocess.run(
            argv, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=within_s
        )
    except subprocess.TimeoutExpired as late:
        raise Lost(f"{' '.join(argv)}: it does not end within {within_s:g} s") from late
    return read(argv, done.returncode, done.stdout, done.stderr)


def read(argv: list[str], status: int, out: str, err: str) -> Run:
    """What came of a run, from what verbs-sim has left. Raises Lost."""
    *lines, last = err.splitlines() or [""]
    found = LAST.match(last)
    if not found:
        raise Lost(f"{' '.join(argv)}: exit status {status}, and no last line:\n{err}")
    statuses, calls, told = (
        [int(one) for one in (found[key] or "").split("/") if one] for key in ("status", "calls", "told")
    )
    said = "".join(f"{line}\n" for line in lines)
    return Run(
        status, statuses or [-1], calls, found["reason"] or "", told, found["wrong"] or "", found["missing"] or "", found["fault"] or "", found["left"], float(found["ms"]),
        found["hash"], out, said, found["command"],
    )  # fmt: skip


def calls_in(trace: str, side: int) -> list[str]:
    """The names of the calls that a program makes, in order: not its allocations, nor what its libraries ask the kernel for it."""
    found = re.findall(rf"^\[ *[\d.]+ us\] {side}\.\d+ +\d+ (\w+)(?:\(.*)?$", trace, re.MULTILINE)
    return [call for call in found if call not in ALLOCATIONS]


def calls_of(programs: list[list[str]], side: int, *options: str, run: Callable[..., Run] = simulate) -> list[str]:
    """The same, of a run that has not been made yet."""
    return calls_in(run(programs, *options, "--trace").err, side)


def nth(calls: list[str], number: int) -> str:
    """How --fail names the call with this number: by its name, and the number among those of the name."""
    return f"{calls[number - 1]}:{calls[:number].count(calls[number - 1])}"


def chosen(calls: list[str], often: int) -> list[int]:
    """Of each call the numbers of the first ones, and of the last one: so many at most."""
    at: dict[str, list[int]] = {}
    for number, call in enumerate(calls, 1):
        at.setdefault(call, []).append(number)
    return sorted({number for numbers in at.values() for number in [*numbers[: often - 1], numbers[-1]]})
