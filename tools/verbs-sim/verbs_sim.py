# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs of programs over the simulated device, as verbs-sim makes them: for tests in Python.

Place: used by tests/ beside it, by those of the suite and by the course. Contract: a run has a bound in real time; its result is read from
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
# Options of verbs-sim for all runs, beside those of a test, such as --strict.
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
    """The result of a run."""

    exit: int
    statuses: list[int]  # exit statuses of the programs; [-1] if the run ended before they did
    calls: list[int]  # calls that each program made
    reason: str  # why it ended before the programs did, or empty
    told: list[int]  # programs that were told to stop, because all slept
    wrong: str  # errors of programs that nothing told them of, or empty
    missing: str  # requests of libraries to the kernel that are not simulated, or empty
    fault: str  # faults that were injected, or empty
    left: str  # "nothing", or the objects not destroyed
    ms: float  # simulated
    hash: str
    out: str
    err: str  # stderr without the last line
    command: str  # the command that repeats the run

    def why(self) -> str:
        """Describes a bad result for a person."""
        return f"{self.command}\n{self.err}exit {self.exit}, statuses {self.statuses}, {self.reason}, wrong: {self.wrong}, left: {self.left}"


def simulate(programs: list[list[str]], *options: str, within_s: float = 120) -> Run:
    """Runs programs with their arguments; `options` are verbs-sim's. Raises Lost."""
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
    """Reads the result of a run from the output of verbs-sim. Raises Lost."""
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
    """Returns the names of a program's calls, in order: without its allocations, and commands of its libraries to the kernel."""
    found = re.findall(rf"^\[ *[\d.]+ us\] {side}\.\d+ +\d+ (\w+)(?:\(.*)?$", trace, re.MULTILINE)
    return [call for call in found if call not in ALLOCATIONS]


def calls_of(programs: list[list[str]], side: int, *options: str, run: Callable[..., Run] = simulate) -> list[str]:
    """Makes the run, and returns the same."""
    return calls_in(run(programs, *options, "--trace").err, side)


def nth(calls: list[str], number: int) -> str:
    """Returns the form in which --fail names the call with this number: its name, and its number among calls of that name."""
    return f"{calls[number - 1]}:{calls[:number].count(calls[number - 1])}"


def chosen(calls: list[str], often: int) -> list[int]:
    """Returns for each call the numbers of its first occurrences, and of the last, `often` at most."""
    at: dict[str, list[int]] = {}
    for number, call in enumerate(calls, 1):
        at.setdefault(call, []).append(number)
    return sorted({number for numbers in at.values() for number in [*numbers[: often - 1], numbers[-1]]})
