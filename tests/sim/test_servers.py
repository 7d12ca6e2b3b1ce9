# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Resources that clients of a server share: the places of waiting clients, and receives of a pool. Refusals, and their texts, are in
transcripts/servers.txt.
"""

from __future__ import annotations

import re

import pytest
from sim.simulation import ADDRESS, TRANSPORTS, simulate

SRQ = "beyond/ping-srq-4"
SENDS = f"build/tests/peer --client --stage 0 -s 64 -a {ADDRESS} --greedy 8 --silent-after 0 --timeout 20"


def client(stage: str) -> list[str]:
    """Returns the client of a stage."""
    return f"{stage}/client -q -v -c 20 -s 64 -a {ADDRESS}".split()


def test_who_takes_its_messages_is_kept_when_others_keep_the_buffers() -> None:
    """The clients are those of srq_server."""
    last = f"build/examples/echo_client {ADDRESS} 12321 46000 4096".split()
    run = simulate([["build/examples/srq_server", ADDRESS], *[SENDS.split()] * 34, last])
    assert run.statuses == [0] * 36 and run.err.count("a send has not completed for 2 s") == 34, run.why()


def test_too_many_clients_wait() -> None:
    """The only one that is wanted says nothing: one more than the server keeps in mind, and it may serve a thousand at a time."""
    silent, server = client("ping-sr-2"), ["ping-sr-2/server", "-q", "-a", ADDRESS]
    waits = ["build/tests/sim/programs", "later", "1", *silent]
    run = simulate([server, silent, *[waits] * 65], "--fail", "1:rdma_get_cm_event:3:SILENCE")
    assert run.err.count("refused us: it is busy: too many clients wait to be served") == 1, run.why()
    assert "--max-clients" not in run.err and run.statuses[0] == 0, run.why()


MOVES = re.compile(r"^\[ *[\d.]+ us\] 0\.\d+ +\d+ (?:(ibv_post_srq_recv)|(= completion RECV)|(ibv_modify_srq))\b", re.MULTILINE)


@pytest.mark.parametrize("pool", [5, 6, 16])
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_the_limit_of_a_pool(pool: int, transport: list[str]) -> None:
    """A quarter of the receives: it is set anew as soon as twice as many are posted, but for a completion that the server has
    polled and not looked at yet. Over iWARP no more clients come than there are pairs of receives."""
    limit, clients = (pool + 3) // 4, pool // 2 if transport else pool
    server = f"{SRQ}/server -n {clients} --pool {pool} -a {ADDRESS}".split()
    run = simulate([server, *[[*client(SRQ), "-w", "9"]] * clients], *transport, "--trace")
    assert not run.exit, run.why()
    posted, armed = 0, []
    for post, receive, _ in MOVES.findall(run.err):
        posted += bool(post) - bool(receive)
        armed += [posted] if not post and not receive else []
    times = sum(map(int, re.findall(r" was low (\d+) times", run.err)))
    assert armed[0] == pool and min(armed) >= 2 * limit - 1, armed
    assert len(armed) - 1 <= times <= len(armed) and (times > 1 or transport), (times, armed)
