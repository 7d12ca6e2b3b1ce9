# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""our_process over the simulated device: group.c has both ends of a connection in one loop, which sleeps in poll alone, and prints each event."""

from __future__ import annotations

import re

import pytest
from sim.simulation import Run, simulate

DEVICES = ["roce", "iwarp", "adapter"]
each_device = pytest.mark.parametrize("device", DEVICES)


def ask(question: str, device: str, *options: str) -> Run:
    """Runs a question. A sleep that lasts longer than anything the library waits for ends the program with status 1."""
    run = simulate([["build/tests/sim/group", question]], "--device", device, *options)
    assert not run.exit and run.left == "nothing", run.why()
    return run


def events(run: Run, who: str) -> list[str]:
    """What has happened to one of the ends, without the buffers; consecutive events that are alike count once."""
    said = [re.sub(r" \d+", "", line) for line in re.findall(rf"^{who}: (.*)$", run.out, re.MULTILINE)]
    return [one for one, before in zip(said, ["", *said]) if one != before]


@each_device
@pytest.mark.parametrize("question", ["live", "share"])
def test_the_life_of_a_connection(question: str, device: str) -> None:
    """The client leaves when it has sent all: the agent is handed all before the end. Hardly a wake-up is in vain, although the program takes one event each time."""
    run = ask(question, device)
    client, agent = events(run, "client"), events(run, "agent")
    assert client[:3] == ["resolved", "established", "completion of send"] and client[-1] == "end", run.out
    assert agent[:2] == ["request", "established"] and agent[-1] == "end, Connection reset by peer", run.out
    assert re.findall(r"^agent: completion of receive (\d+)$", run.out, re.MULTILINE) == [*map(str, range(40))], run.out
    wakes, empty = map(int, re.findall(r"(\d+) wake-ups, (\d+) of them empty", run.err)[0])
    assert wakes > 80 and empty < 20, run.err
