# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs on two hosts when something happens to one of the hosts, or to the link between them.

Each must succeed, or fail in bounded time with exit status 1 and one line that names a cause that it can have had. The
server must end that client's connection, serve the next one when it is over, and end with Ctrl-C; nothing may be left
on either host. What is harmless must make nothing fail. The rows are in disturbances.py, what is wrong in judge.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hosts.conftest import Machines
from hosts.disturbances import DEVICES, STAGES, TABLE, TOGETHER, Disturbance, stages_on
from hosts.judge import judge

# In make check those that wait for CM events in two ways, and the one that streams, over a link that loses packets, whose driver
# sends them again itself; in make check-long also over TCP, those with synchronous CM calls, and the two when worse happens.
TWO = ["ping-sr-2", "ping-sr-4"]
IN_CHECK = [*TWO, "blast-sr-2"]
SYNCHRONOUS = ["ping-sr-0", "ping-sr-1"]
LONG = ("cut-5-transfer", "cut-1-connecting", "cut-1-accepting", "freeze-3-client", "delete-server")


def rows() -> list[Any]:
    """Each disturbance with its devices and stages."""
    found: list[Any] = []
    for row in TABLE:
        for device in DEVICES:
            all_of_them = stages_on(device, list(STAGES))
            groups = {"by_name": [all_of_them[n : n + TOGETHER] for n in range(0, len(all_of_them), TOGETHER)]}
            if row.name == "loss-1":
                groups |= {"check": [IN_CHECK], "long": [SYNCHRONOUS]} if device == "rxe0" else {"long": [IN_CHECK, SYNCHRONOUS]}
            if row.name in LONG:
                groups["long"] = [TWO]
            for when, stages in groups.items():
                mark = getattr(pytest.mark, when) if when != "check" else ()
                found += [
                    pytest.param(row, device, group, marks=mark, id=f"{row.name}-{device}-{group[0]}-to-{group[-1]}")
                    for group in stages
                ]
    return found


@pytest.mark.parametrize("row, device, stages", rows())
def test_programs_end_as_they_should(
    machines: Machines, record_property: Callable[[str, object], None], row: Disturbance, device: str, stages: list[str]
) -> None:
    """Done: all arrived and nobody said a word; told: a program failed and said why."""
    seen, wrong = machines.play(device, stages, row)
    for stage in stages:
        verdict = judge(row, stage, seen[stage])
        record_property(stage, verdict.word)
        print(f"{stage}: {verdict.word}; client: {verdict.client or 'silent'}; server: {verdict.server or 'silent'}")
        wrong += [f"{stage}: {fault}" for fault in verdict.faults]
    if wrong:
        machines.give_up()  # the next test has new ones
    assert not wrong
