# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plays on two machines the rows by which verbs-sim was made: a link goes down, or an address moves, and each side says what
comes to it. What differs between driver and simulation is said in the row. On emulated machines completions pause
at any time, so that is not compared.
"""

from __future__ import annotations

import time

import pytest
from flaps import PAUSE, TABLE, Flap, said
from hosts.case import TYPES
from hosts.conftest import Machines

LONG = ("down-2-server", "move-server")
START_S = 30
WATCHED_S = 45
ENDS_S = 5  # seconds before the end of a run: from then on the other side may have left
BUSY_S = 60  # a longer time than a run should take


def rows() -> list[object]:
    """Each case on both devices."""
    return [
        pytest.param(row, device, marks=pytest.mark.long if row.name in LONG else pytest.mark.by_name, id=f"{row.name}-{device}")
        for row in TABLE
        for device in TYPES
    ]


@pytest.mark.parametrize("row, device", rows())
def test_what_comes(machines: Machines, row: Flap, device: str) -> None:
    """The machines end with it: after a link was down, soft-RoCE of 6.1 answers no connect request."""
    pair, (_, net, network) = machines.get(), TYPES[device]
    kind = ("roce" if device == "rxe0" else "iwarp") + ("-6.12" if pair.kernel.startswith("6.12") else "")
    if kind not in row.comes:
        pytest.skip(f"not measured on {kind}")
    outs = {}
    try:
        for side, host in zip(("server", "client"), pair.hosts):
            host.ask(["start", side, ["build/tests/sim/flap", side, f"{network}.1", str(WATCHED_S)], {}])
            time.sleep(1)  # wait until the server listens: it says nothing before it is connected
        end = time.monotonic() + START_S
        while not all("connected" in host.ask(["state", side])[0]["out"] for side, host in zip(("server", "client"), pair.hosts)):
            assert time.monotonic() < end, "they do not connect"
        number = ("server", "client").index(row.side)
        command = f"sleep 2; {row.apply}; sleep {row.hold_s}; {row.undo}"
        for word, value in {"net": net, "address": f"{network}.{number + 1}"}.items():
            command = command.replace("{" + word + "}", value)
        pair.hosts[number].shell(command, row.hold_s + BUSY_S)
        for side, host in zip(("server", "client"), pair.hosts):
            end = time.monotonic() + WATCHED_S + BUSY_S
            while (state := host.ask(["state", side])[0])["status"] is None:
                assert time.monotonic() < end, f"the {side} does not end"
                time.sleep(0.5)
            outs[side] = said(state["out"], side, WATCHED_S - ENDS_S) - PAUSE
    finally:
        machines.give_up()
    assert (outs["server"], outs["client"]) == tuple(comes - PAUSE for comes in row.comes[kind])
