# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs of programs over the simulated device, as verbs-sim makes them.

Contract: a run has a bound in real time; what came of it is read from verbs-sim's last line.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from table import STAGES, Stage

TOP = Path(__file__).resolve().parents[2]
ADDRESS = "192.0.2.1"
OF_ITS_OWN = range(120, 126)  # exit statuses of verbs-sim that are no program's
LAST = re.compile(
    r"verbs-sim: (?:status (?P<status>[\d/]+), calls (?P<calls>[\d/]+)|(?P<reason>.+?))(?:, told to stop: (?P<told>[\d/]+))?(?:, fault: (?P<fault>.+?))?(?:, wrong: (?P<wrong>.+?))?, "
    r"left over: (?P<left>.+), (?P<ms>[\d.]+) ms, hash (?P<hash>[0-9a-f]{16}): (?P<command>.*)$"
)


@dataclass(frozen=True)
class Run:
    """What came of one."""

    exit: int
    statuses: list[int]  # of the programs
    calls: list[int]  # that they made
    reason: str  # why it ended before the programs did, or empty
    told: list[int]  # programs that were told to stop, as all slept
    wrong: str  # what programs did wrong though nothing told them, or empty
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
    """Programs with their arguments; `options` are verbs-sim's."""
    words = [word for program in programs for word in [":::", *program]][1:]
    argv = ["verbs-sim/verbs-sim", *options, "--", *words]
    done = subprocess.run(
        argv, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=within_s, check=False
    )
    return read(argv, done.returncode, done.stdout, done.stderr)


def read(argv: list[str], status: int, out: str, err: str) -> Run:
    """What came of a run, from what verbs-sim has left."""
    *lines, last = err.splitlines() or [""]
    found = LAST.match(last)
    if not found:
        pytest.fail(f"{' '.join(argv)}: exit status {status}, and no last line:\n{err}", pytrace=False)
    statuses, calls, told = (
        [int(one) for one in (found[key] or "").split("/") if one] for key in ("status", "calls", "told")
    )
    said = "".join(f"{line}\n" for line in lines)
    return Run(
        status, statuses, calls, found["reason"] or "", told, found["wrong"] or "", found["fault"] or "", found["left"], float(found["ms"]),
        found["hash"], out, said, found["command"],
    )  # fmt: skip


def pair(stage: Stage, count: int) -> list[list[str]]:
    """The stage's server and its client."""
    server, client = [f"{stage.folder}/server"], [f"{stage.folder}/client", "-a", ADDRESS]
    if stage.name == "talk-rdma-0":
        return [[*server, "-a", ADDRESS], client]
    if stage.name == "ping-ep-0":
        return [[*server, "-c", str(count)], [*client, "-c", str(count)]]
    agreed = [] if stage.negotiates else ["-c", str(count)]
    return [[*server, "-q", "-a", ADDRESS, *agreed], [*client, "-q", "-v", "-c", str(count)]]


SIDES = ("server", "client")
TRANSPORTS: dict[str, list[str]] = {"RoCE": [], "iWARP": ["--iwarp"]}  # options of verbs-sim
ROWS = [
    pytest.param(stage, options, id=f"{stage}-{transport}")
    for stage in STAGES
    if not stage.nine
    for transport, options in TRANSPORTS.items()
    if not (stage.roce_only and options)
]
each_stage = pytest.mark.parametrize("stage, transport", ROWS)
