# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The link of a host goes down in mid-run: nobody notices, if it is up again before the retries are used up; or the sender does, and
the receiver only by its own limits. What the device does is tried with tools/verbs-sim/tests/test_links.py."""

from __future__ import annotations

import pytest
from live.table import STAGES, Stage
from sim.simulation import OF_ITS_OWN, SIDES, Run, each_stage_once, pair, simulate
from sim.test_stops import stops

AT = 4  # calls of a side, spread over all
COUNT = 4
KEEPS = ("adapter", "iwarp-6.12")  # devices that end nothing at once when their port goes down


def play(name: str, *options: str) -> Run:
    """A message each second, whose answer has been acknowledged before the next one."""
    (stage,) = (stage for stage in STAGES if stage.name == name)
    server, client = pair(stage, COUNT)
    return simulate([server, [*client, "--rate", "1"]], *options)


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@pytest.mark.parametrize("device", KEEPS)
@pytest.mark.parametrize("name", ["ping-sr-0", "ping-sr-2"])
def test_nobody_notices_that_a_link_was_down(name: str, device: str, side: int) -> None:
    run = play(name, "--device", device, "--fail", f"{side}:ibv_post_send:3:PORT_DOWN=2s")
    assert not run.exit and not run.err and run.ms > 2000, run.why()


@pytest.mark.parametrize(
    "name, server", [("ping-sr-0", "the client said nothing for 60 s, after 2 messages"), ("ping-sr-2", "completion of the keepalive")]
)
def test_a_link_is_down_for_longer_than_the_device_tries(name: str, server: str) -> None:
    """The receiver has no completion and no event that says so. It has sent all that it had to, a second before."""
    run = play(name, "--fail", "1:ibv_post_send:3:SILENCE=100s")
    of_client, of_server = sorted(run.err.splitlines())
    assert "client: completion of the send" in of_client and "transport retry counter exceeded" in of_client, run.why()
    assert f"server: {server}" in of_server and not run.told, run.why()


@pytest.mark.parametrize("how", ["PORT_DOWN=30s", "GID_MOVE"])
@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage_once
def test_it_ends_whatever_its_link_does(stage: Stage, transport: list[str], side: int, how: str) -> None:
    for run in stops(stage, transport, side, how, AT):
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
