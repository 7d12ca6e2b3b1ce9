# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What tests run over the simulated device: a stage's server and its client, and the table of all of them.

Contract: tools/verbs-sim/verbs_sim.py runs them, and reads what came of a run.
"""

from __future__ import annotations

import functools
import signal
import subprocess

import pytest
from live.table import STAGES, Stage

from verbs_sim import ADDRESS, ALWAYS, OF_ITS_OWN, TOP, Run, calls_in, calls_of, chosen, nth, read, simulate

__all__ = ["ADDRESS", "ALWAYS", "OF_ITS_OWN", "TOP", "Run", "calls_in", "calls_of", "chosen", "nth", "read", "simulate"]  # for those who import this module


def pair(stage: Stage, count: int) -> list[list[str]]:
    """The stage's server and its client."""
    server, client = [f"{stage.folder}/server"], [f"{stage.folder}/client", "-a", ADDRESS]
    if stage.name == "talk-rdma-0":
        return [[*server, "-a", ADDRESS], client]
    if stage.name == "ping-ep-0":
        return [[*server, "-c", str(count)], [*client, "-c", str(count)]]
    agreed = [] if stage.negotiates else ["-c", str(count)]
    return [[*server, "-q", "-a", ADDRESS, *agreed], [*client, "-q", "-v", "-c", str(count)]]


@functools.cache
def counter_traps() -> bool:
    """Whether this machine lets verbs-sim simulate the processor's counter."""
    return subprocess.run(["build/tests/sim/odd", "trap-counter"], cwd=TOP, timeout=60, check=False).returncode == -signal.SIGSEGV


def skip_if_real(run: Run) -> None:
    """A run of a program that saw real time, as verbs-sim has to say."""
    if not counter_traps() and "which shows real time on this machine" in run.err:
        pytest.skip("this machine shows real time to programs that read the processor's counter")


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
