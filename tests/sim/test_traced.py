# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace over the simulated device: who makes a mistake is accused of that, and who makes none of nothing; a summary has the
time that the calls take, which is known here."""

from __future__ import annotations

import re

import pytest
from drivers.test_sins import ALSO, ALSO_GUILTY, NOT_ON, SINS
from live.table import Stage
from sim.simulation import ADDRESS, TRANSPORTS, each_stage, pair, simulate

TRACE = "verbs-trace/verbs-trace"
ACCUSATION = re.compile(r'^\{"accusation":"([\w-]+)"', re.MULTILINE)
ARMED = re.compile(r"^ *\S+ +\S+ +(\S+) +(\d+) +0 ibv_req_notify_cq$", re.MULTILINE)
# verbs-sim needs SIGSEGV itself, for programs that read the TSC; and a post during a disconnect of soft-iWARP fails for one seed,
# and not for another.
NOT_HERE = NOT_ON | {("RoCE", "private-data-after-ack"), ("iWARP", "private-data-after-ack"), ("iWARP", "posted-after-error")}
EACH_SIN = [(sin, transport) for sin in SINS for transport in TRANSPORTS if (transport, sin) not in NOT_HERE]


def accused(programs: list[list[str]], *options: str) -> list[str]:
    """Of what, if all programs run under verbs-trace and end well."""
    run = simulate([[TRACE, "-j", *program] for program in programs], *options)
    assert not any(run.statuses) and run.statuses, run.why()
    return ACCUSATION.findall(run.err)


@pytest.mark.parametrize("sin, transport", EACH_SIN)
def test_who_is_guilty(sin: str, transport: str) -> None:
    also = ALSO.get(sin, set())
    guilty, innocent = (accused([["build/tests/tracer/sins", sin, how, ADDRESS]], *TRANSPORTS[transport]) for how in ("guilty", "innocent"))
    assert set(guilty) == {sin} | also | ALSO_GUILTY.get(sin, set())
    assert set(innocent) == also


@each_stage
def test_no_stage_is(stage: Stage, transport: list[str]) -> None:
    assert not accused(pair(stage, 100), *transport)


@pytest.mark.parametrize("stage", ["ping-sr-2", "ping-sr-4", "beyond/ping-srq-4"])
def test_no_server_of_many_clients_is(stage: str) -> None:
    """Those that came first leave first."""
    clients = [[f"{stage}/client", "-q", "-a", ADDRESS, "-c", str(count)] for count in (20, 40, 60, 20)]
    assert not accused([[f"{stage}/server", "-q", "-a", ADDRESS, "-n", "4"], *clients])


def test_a_summary_has_the_time_of_the_calls() -> None:
    """To arm a CQ takes the same time whenever it is done. The first calls are timed, and some of the others."""
    run = simulate([["ping-sr-3/server", "-q", "-a", ADDRESS], [TRACE, "-c", "ping-sr-3/client", "-q", "-a", ADDRESS, "-c", "40"]])
    found = ARMED.search(run.err)
    assert found and not run.exit, run.why()
    assert int(found[2]) > 20 and 0.12 <= float(found[1]) < 0.14  # microseconds
