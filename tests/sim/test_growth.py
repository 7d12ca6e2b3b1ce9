# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A server that has served twelve clients, one after the other, holds as much as after two: descriptors, threads, heap and registered
memory. What a cache or a pool takes, it has taken by then. So do both sides of sixty connections, of which each broke.

Contract: at each look no client is there. verbs-sim has the figures from the kernel, its ledger, and calls of malloc(3).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import answers
from sim.simulation import ADDRESS, TRANSPORTS, simulate
from sim.test_crowd import MEMBERS, Crowd

FIRST, LAST = 2, 12
HOLDS = ("threads", "descriptors", "heap_blocks", "heap_bytes", "locked_bytes")


Held = dict[str, int]


def held(server: str, client: str, *options: str) -> tuple[Held, Held, list[int]]:
    """Returns what the server holds after two clients and after the last, and the statuses of the clients."""
    lines = [f"start {server}", "wait 1"]
    for number in range(1, LAST + 1):
        lines += [f"start {client}", f"wait 60 {number}", "wait 30"]
    states = answers([*lines, "end"], *options)[1:-1:3]
    first, last = ({key: states[number]["programs"][0][key] for key in HOLDS} for number in (FIRST, LAST))
    return first, last, [one["status"] for one in states[-1]["programs"][1:]]


@pytest.mark.parametrize("crowd, transport", MEMBERS)
def test_nothing_is_kept_of_a_client(crowd: Crowd, transport: list[str]) -> None:
    first, last, statuses = held(crowd.server.format(a=ADDRESS), crowd.honest.replace("-w 90", "").format(a=ADDRESS), *transport)
    assert not any(statuses) and first == last, f"from {FIRST} to {LAST} clients it grows"


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_nothing_is_kept_of_a_connection(transport: list[str], tmp_path: Path) -> None:
    """Sixty connections use one control of the client, each after the one before it broke."""
    stage, breaks = "beyond/ping-reconnect-2", 60
    faults = [f"--fail=1:ibv_post_send:{5 * number}:WR_FLUSH_ERR" for number in range(1, breaks + 1)]
    lines = [f"start {stage}/server -n 0 -a {ADDRESS} --journal {tmp_path}", f"start {stage}/client -a {ADDRESS} -w 900 -D 1000"]
    lines += [f"until 1 err {number} goes on with message" for number in (FIRST, breaks - 1)]
    *_, first, last, _ = answers([*lines, "end"], *transport, *faults)
    for side in (0, 1):
        one, other = ({key: state["programs"][side][key] for key in HOLDS} for state in (first, last))
        assert one == other, f"from {FIRST} to {breaks} connections program {side} grows"


JOURNAL = Crowd("beyond/ping-reconnect-2/server -q -n 0 -a {a} --journal {folder}", "beyond/ping-reconnect-2/client -q -c 20 -a {a}", "")
SERVERS = {row.id: row.values[0] for row in MEMBERS if not row.values[1]} | {"ping-reconnect-2-RoCE": JOURNAL}


@pytest.mark.parametrize("crowd", SERVERS.values(), ids=SERVERS)
def test_nothing_is_kept_of_a_client_that_cannot_be_served(crowd: Crowd, tmp_path: Path) -> None:
    """All of twelve clients but the first two and the last two meet a call of the server that fails; each of these calls that it makes."""
    server, client = crowd.server.format(a=ADDRESS, folder=tmp_path), crowd.honest.replace("-w 90", "").format(a=ADDRESS)
    once = simulate([server.split(), client.split()], "--trace").err
    made = {call: len(re.findall(rf" 0\.\d+ +\d+ {call}\(", once)) for call in ("rdma_create_qp", "ibv_post_recv", "rdma_accept")}
    assert made["rdma_create_qp"] and made["rdma_accept"]
    for call in filter(made.get, made):
        first, last, statuses = held(server, client, *(f"--fail=0:{call}:{FIRST * made[call] + number}" for number in range(1, LAST - 3)))
        assert not any(statuses[:FIRST] + statuses[-2:]) and all(statuses[FIRST:-2]), statuses
        assert first == last, f"from {FIRST} to {LAST} clients it grows"
