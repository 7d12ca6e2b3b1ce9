# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Waiting: for messages, for a client, for a turn, and for a peer that says nothing any more."""

import pytest
from live.conftest import Client, Server, next_port
from live.table import NEVER, Link, Stage, each
from tools.place import IN_GUEST

ENDLESS = "-c 1000000000 -T"
LADDER = "ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5"


def looks_right(stage: Stage, looks: dict[str, int]) -> bool:
    """One that polls finds nothing all the time, one that sleeps looks a few times for each message, or, ping-sr-5, for
    as long as its spin budget before each sleep: a thousandth of the time, and of the polls, of one that polls."""
    if not stage.sleeps:
        return looks["empty_polls"] > 1000 and looks["sleeps"] == 0
    most = 100_000 * looks["sleeps"] if stage.name == "ping-sr-5" else 100
    return looks["sleeps"] >= 3 and looks["empty_polls"] < most


@each(
    "ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5",
    check={"RoCE": "ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5", "iWARP": "ping-sr-4"},
)
def test_nearly_idle_it_sleeps_or_polls(server: Server, client: Client, stage: Stage) -> None:
    s = server("-j")
    c = client("-c 5 --rate 5 -j -q").ends(0)
    s.ends(0)
    for program in (c, s) if stage.sleeps else (c,):
        assert looks_right(stage, program.json[0]["cq"]), program.name


@each(f"{LADDER} blast-sr-2", check={"RoCE": "ping-sr-0"})
def test_a_server_waits_for_a_client_for_longer_than_timeout(server: Server, client: Client) -> None:
    s = server("--timeout 1")
    assert not s.has_ended(2.5)
    client("-q -c 20").ends(0)
    s.ends(0)


@each(f"{LADDER} blast-sr-2", check=NEVER)
def test_a_client_that_falls_silent_is_given_up_after_timeout(server: Server, client: Client, stage: Stage) -> None:
    s = server("--timeout 1 -c 1000000000")
    silent = client(ENDLESS).awaits("SUCCESS, RECV", 20).signal("STOP")
    s.ends(0)
    assert "said nothing for 1 s" in s.err
    if stage.notices_death:
        silent.signal("CONT").ends(1)


@each("ping-sr-0 ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5", check=NEVER)
def test_a_client_ends_when_its_time_is_over_though_no_answer_comes(server: Server, client: Client) -> None:
    """The server is stopped, not killed: there is no event, either."""
    s = server("-D 1000")
    c = client("-D 3 -T").awaits("SUCCESS, RECV", 20)
    s.signal("STOP")
    c.ends(1)
    assert "waited in vain for the server's answer to message" in c.err


@each("ping-sr-0", check={"iWARP": "ping-sr-0"})
def test_a_server_that_expects_more_than_its_client_sends(server: Server, client: Client, link: Link) -> None:
    """Problem 1 of ping-sr-0: on soft-RoCE the server waits forever. It only polls its CQ, so its client waits in vain
    for the answer to its disconnect, for 20 s. iWARP flushes what the server has posted."""
    s = server("-c 1000")
    client("-c 5").ends(0)
    if link.transport != "iWARP":
        assert not s.has_ended()
        s.signal("INT")
    s.ends(0)


@pytest.mark.skipif(not IN_GUEST, reason="another driver may not let a client wait for so long")
@each("ping-sr-1", check=NEVER, links=lambda link: link.transport == "RoCE" and link.family == 4)
def test_a_client_that_was_refused_may_wait_behind_another(server: Server, client: Client) -> None:
    """First there is no server; then it waits for longer than for an answer to its disconnect. soft-iWARP would stop
    waiting after 10 s: docs/pitfalls.md."""
    server.port = next_port()
    waiting = client("-w 60 -t").awaits("rdma_destroy_id").signal("STOP")
    s = server("-n 2", port=server.port)
    first = client("-c 15 --rate 1 -T").awaits("ibv_post_send")
    waiting.signal("CONT")
    first.ends(0)
    waiting.ends(0)
    s.ends(0)
