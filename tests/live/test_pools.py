# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-srq-4: if the pool is too small, clients wait, and no client can keep all receives."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from live.conftest import Client, Peer, Server
from live.processes import Process
from live.table import NEVER, Link, each


def rnr_naks() -> int | None:
    """Returns how many receiver-not-ready NAKs the devices have sent, if they count them."""
    counters = [*Path("/sys/class/infiniband").glob("*/ports/*/hw_counters/send_rnr_err")]
    return sum(int(counter.read_text()) for counter in counters) if counters else None


def greedy(peer: Peer, number: int) -> Process:
    """A client that takes more than its share, once it has sent its messages."""
    return peer(f"peer --client --greedy {number} -a {{address}} -p {{port}}", stdin=subprocess.PIPE).awaits("sent", where="out")


@pytest.mark.parametrize("crowd", [4, 24])
@each("ping-srq-4", check=NEVER)
def test_two_receives_for_all(server: Server, client: Client, link: Link, crowd: int) -> None:
    """On RoCE the senders wait, on iWARP one client is admitted at a time."""
    before = rnr_naks()
    s = server("-n 0 --pool 2")
    clients = [client("-w 5 -c 200 -s 4k -v -q") for _ in range(crowd)]
    if link.transport == "iWARP":
        served = [c.ends(0, 1).status for c in clients].count(0)
        assert served and (served == crowd or "on iWARP each client needs 2 receives" in s.err)
    else:
        for c in clients:
            c.ends(0)
        assert before is None or (rnr_naks() or 0) > before
    s.signal("INT").ends(0)
    assert link.transport == "iWARP" or "was low" in s.err


@each("ping-srq-4", check=NEVER)
def test_one_that_sends_all_at_once_is_ended(server: Server, client: Client, peer: Peer, link: Link) -> None:
    s = server("-n 2 --pool 8")
    flood = greedy(peer, 100)
    client("-c 100 -v").ends(0)
    flood.ends(0)  # the server has disconnected it
    s.ends(0)
    assert link.transport == "iWARP" or "more than its share of the pool" in s.err


@each("ping-srq-4", check=NEVER, links=lambda link: link.transport != "iWARP" and link.family == 4)
def test_as_many_as_there_are_receives_hold_them(server: Server, client: Client, peer: Peer) -> None:
    """The server gives such clients up. Over iWARP, TCP has the echo. Linux 6.12 tells the server of a client that is never ready."""
    s = server("-n 0 --pool 4")
    for _ in range(4):
        greedy(peer, 1)
    client("-c 100 -v").ends(0)
    s.signal("INT").ends(0)
    assert "has not taken its message back" in s.err or "retry counter exceeded" in s.err


@each("ping-srq-4", check=NEVER)
def test_twenty_that_break_off_in_a_message(server: Server, client: Client, peer: Peer) -> None:
    """An honest client stays meanwhile, so that the pool stays, too."""
    s = server("-n 22 --pool 8")
    stays = client("-w 5 -c 100000 --rate 100 -q")
    for _ in range(20):
        peer("peer --client --torn -s 32768 -a {address} -p {port}").ends(0)
    client("-c 100 -v").ends(0)
    stays.signal("INT").ends(0)
    s.ends(0)
