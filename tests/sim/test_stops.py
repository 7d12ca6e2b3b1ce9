# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A program is told to stop, or is killed, at any of its calls. Told to, it ends with 0; its peer ends, too, with 0 or 1; and
who was not killed leaves nothing."""

from __future__ import annotations

import pytest
from sim.simulation import OF_ITS_OWN, SIDES, Run, each_stage, pair, simulate
from live.table import Stage

MESSAGES = 2
STOPS = 12  # calls of a side at which it is stopped in make check
KILLED = 128 + 9


def stops(stage: Stage, transport: list[str], side: int, how: str, number: int) -> list[Run]:
    """Returns so many stops, spread over all calls. Not every stage notices that its peer has left."""
    programs, transport = pair(stage, MESSAGES), [*transport, "--servers", "2"]
    calls = simulate(programs, *transport).calls[side]
    step = max(1, calls // number)
    return [simulate(programs, *transport, "--fail", f"{side}:{call}:{how}") for call in range(1, calls + 1, step)]


def judge(run: Run, side: int, statuses: set[int]) -> None:
    """Checks the status of the side."""
    assert run.exit not in OF_ITS_OWN and run.statuses[side] in statuses and side not in run.told, run.why()
    assert run.statuses[1 - side] in {0, 1}, run.why()


def tells(stage: Stage) -> set[int]:
    """Returns the statuses of a program that was told to stop. ping-ep-0 and talk-rdma-0 leave signals alone before they begin."""
    return {0, 1, 128 + 15} if stage.name in ("ping-ep-0", "talk-rdma-0") else {0}


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_it_is_told_to_stop(stage: Stage, transport: list[str], side: int) -> None:
    for run in stops(stage, transport, side, "SIGTERM", STOPS):
        judge(run, side, tells(stage))


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_it_is_killed(stage: Stage, transport: list[str], side: int) -> None:
    for run in stops(stage, transport, side, "SIGKILL", STOPS):
        judge(run, side, {KILLED, 0})  # 0: the program ended before


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_its_device_is_removed(stage: Stage, transport: list[str], side: int) -> None:
    """Both lose the device. A program that watches the connection manager says why it ends; the others end all the same."""
    runs = stops(stage, transport, side, "REMOVAL", STOPS)
    for run in runs:
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
    assert not stage.serves_many or any("RDMA_CM_EVENT_DEVICE_REMOVAL" in run.err for run in runs)


@pytest.mark.long
@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_at_each_call(stage: Stage, transport: list[str], side: int, how: str) -> None:
    for run in stops(stage, transport, side, how, 1 << 30):
        judge(run, side, tells(stage) if how == "SIGTERM" else {KILLED, 0})
