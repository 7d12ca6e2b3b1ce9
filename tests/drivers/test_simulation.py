# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The simulated device against the drivers: what tools/verbs-sim/tests/probe asks a driver, it asks verbs-sim, and gets the same answers.

Contract: a question whose answers differ is in DIFFERENT, with the difference; one line that differs seldom is in SELDOM.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).resolve().parents[2]
MODELLED = "LAB_GUEST" in os.environ and os.uname().release.startswith("6.1.")
pytestmark = pytest.mark.skipif(not MODELLED, reason="the model is of the lab's drivers, on Linux 6.1")
LINKS: dict[str, tuple[str, list[str]]] = {"RoCE": ("LAB_ROCE_ADDR", []), "iWARP": ("LAB_IWARP_ADDR", ["--iwarp"])}
QUICK = "accept reject too-long ack-timeout datagrams multicast attributes gids pkeys pieces last close uc windows regions steps edges words reuse limits handles paths busy terms turns"  # asked in make check
SLOW = "leave solicited region-gone rnr empty empty-0 backlog write read pool pool-empty caps bad-key retries empty-gone full inline"
DIFFERENT = {
    ("bad-key", "iWARP"): "what was posted behind the wrong request is lost; here it is flushed",
    ("retries", "iWARP"): "who is told first that the QP has ended ends the probe: that differs from run to run",
    ("empty-gone", "iWARP"): "the same",
    ("steps", "iWARP"): "a QP goes from INIT to RTS, and where it fails it leaves other states behind",
    ("words", "iWARP"): "only the connection manager brings a QP to RTS",
    ("reuse", "iWARP"): "the same",
    ("turns", "iWARP"): "a disconnect while a request is under way succeeds",
    ("caps", "RoCE"): "the simulation has no memory for the largest queues",
}
SELDOM = {  # a line of the driver that no seed shows, and the one in whose place it comes: tests/drivers.md
    ("too-long", "iWARP"): ("client: send completed: local QP operation error", "client: send completed: success"),
}
SEEDS = ("1", "2", "3", "4")  # one of these seeds is to show what the driver shows


def marks(question: str) -> Any:
    """Returns the marks of a question: only the quick ones are in make check."""
    return () if question in QUICK.split() else pytest.mark.long


def rows() -> list[Any]:
    """Returns each question over each transport."""
    return [
        pytest.param(question, transport, id=f"{question}-{transport}", marks=marks(question))
        for question in f"{QUICK} {SLOW}".split()
        for transport in LINKS
        if (question, transport) not in DIFFERENT
    ]


@pytest.mark.long
def test_what_soft_roce_has_answered_makes_the_kind_roce(tmp_path: Path) -> None:
    """Read by a device of another kind; but for what DIFFERENT says, and when TIMEWAIT_EXIT comes, which no question tells."""
    subprocess.run(["tools/verbs-sim/tests/probe/ask", "build/tests/probe", os.environ["LAB_ROCE_ADDR"], str(tmp_path / "file")], cwd=TOP, timeout=120, check=True)
    for question in "attributes accept reject solicited bad-key region-gone too-long pool-recv".split():
        read, meant = (
            answers("bin/verbs-sim", "--device", f"{device},name=one", "--", "build/tests/probe", "192.0.2.1", question)
            for device in (f"roce-6.12={tmp_path}/file", "roce")
        )
        assert read == meant


def answers(*argv: str) -> list[str]:
    """Returns the output of the probe, without times, sorted: events on the two sides have no order."""
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout, f"{' '.join(argv)}: {done.stderr}"
    return sorted(re.sub(r"^ *[0-9.]+ ms +", "", line) for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    "question",
    [
        "fill 1", "fill 4", "overrun 2", "overrun 4", "write-wrongly 0", "write-wrongly 1", "write-wrongly 2", "write-here 0", "write-here 1", "write-here 2",
        "write-here 3", "read-twice 0", "read-twice 1", "read-twice 2", "send-what-is-read 1", "lose-peer 0",
    ],
)  # fmt: skip
def test_it_refuses_what_soft_roce_refuses(question: str) -> None:
    """The simulation refuses no more: the test asks the questions of adapter.c at the address of the lab's soft-RoCE."""
    program = ["build/tests/sim/adapter", *question.split()]
    assert answers(*program) == answers("tools/verbs-sim/verbs-sim", "--", *program)


@pytest.mark.parametrize("question, transport", rows())
def test_it_answers_as_the_driver_does(question: str, transport: str) -> None:
    variable, options = LINKS[transport]
    probe = ["build/tests/probe", os.environ[variable], question]
    said = answers(*probe)
    seldom, usually = SELDOM.get((question, transport), ("", ""))
    due, simulated = (said, sorted(usually if line == seldom else line for line in said)), []
    for seed in SEEDS:
        simulated.append(answers("tools/verbs-sim/verbs-sim", *options, "--seed", seed, "--", *probe))
        if simulated[-1] in due:
            return
    pytest.fail("\n".join(difflib.unified_diff(simulated[0], said, "verbs-sim, seed 1", "driver", lineterm="")))
