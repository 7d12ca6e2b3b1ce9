# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs of programs over the simulated device: a stage's server and its client, and the table of all of them.

Contract: tools/verbs-sim/verbs_sim.py runs them, and reads what came of a run.
"""

from __future__ import annotations

import pytest
from live.table import STAGES, Stage
from running import TRANSPORTS, counter_traps, skip_if_real

from verbs_sim import ADDRESS, ALWAYS, OF_ITS_OWN, TOP, Run, calls_in, calls_of, chosen, nth, read, simulate

__all__ = ["ADDRESS", "ALWAYS", "OF_ITS_OWN", "TOP", "Run", "calls_in", "calls_of", "chosen", "nth", "read", "simulate", "TRANSPORTS", "counter_traps", "skip_if_real"]  # for those who import this module


def pair(stage: Stage, count: int) -> list[list[str]]:
    """The stage's server and its client."""
    server, client = [f"{stage.folder}/server"], [f"{stage.folder}/client", "-a", ADDRESS]
    if stage.name == "talk-rdma-0":
        return [[*server, "-a", ADDRESS], client]
    if stage.name == "ping-ep-0":
        return [[*server, "-c", str(count)], [*client, "-c", str(count)]]
    agreed = [] if stage.negotiates else ["-c", str(count)]
    return [[*server, "-q", "-a", ADDRESS, *agreed], [*client, "-q", "-v", "-c", str(count)]]


def again(times: int, ending: str, window: int = 1) -> str:
    """Returns the options for many clients in one program: number, how many at a time, and how each ends: see peer/crowd.c. {a} is the server's address."""
    return f"build/tests/peer --client --crowd {ending} -c {times} --window {window} -s 64 -n 4 -a {{a}}"


SIDES = ("server", "client")
ROWS = [
    pytest.param(stage, options, id=f"{stage}-{transport}")
    for stage in STAGES
    if not stage.nine
    for transport, options in TRANSPORTS.items()
    if not (stage.roce_only and options)
]
each_stage = pytest.mark.parametrize("stage, transport", ROWS)
# Rows that do not depend on the transport: over iWARP, too, if -m asks for long rows.
each_stage_once = pytest.mark.parametrize(
    "stage, transport", [pytest.param(*row.values, id=row.id, marks=[pytest.mark.long] if row.values[1] else []) for row in ROWS]
)
