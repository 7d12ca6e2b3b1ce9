# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Faults that only an order of events shows, which real drivers nearly never have: a record that is read while it changes; a server
that counts its clients wrong; a message too many."""

from __future__ import annotations

import pytest
from sim.simulation import ADDRESS, TRANSPORTS, Run, simulate

TORN = "a torn record was taken for a whole one"
over_each = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


def subscribe(transport: list[str], seed: int, check: str) -> Run:
    """Subscribes to a record of 4 KiB that changes all the time."""
    server = ["beyond/pubsub-rdma-1/server", "-q", "-a", ADDRESS, "--record", "4k", "--rate", "200000"]
    client = ["beyond/pubsub-rdma-1/client", "-q", "-a", ADDRESS, "-s", "4k", "-c", "100", "-v", "--check", check]
    return simulate([server, client], *transport, "--seed", str(seed))


@over_each
def test_a_torn_record_is_found(transport: list[str]) -> None:
    """A reader who does not look whether the record is whole finds it torn; one who does is not misled."""
    for seed in range(5):
        careless, careful = (subscribe(transport, seed, check) for check in ("none", "both"))
        assert careless.statuses == [0, 1] and TORN in careless.err, careless.why()
        assert not careful.exit, careful.why()


@pytest.mark.parametrize("stage", ["ping-sr-2", "ping-sr-3", "ping-sr-4", "blast-sr-2", "beyond/ping-srq-4"])
@over_each
def test_many_clients_at_once(stage: str, transport: list[str]) -> None:
    """More than 64 clients come, after which a server may have counted wrong."""
    server = [f"{stage}/server", "-q", "-a", ADDRESS, "-n", "70", *(["--pool", "256"] if "srq" in stage else [])]
    client = [f"{stage}/client", "-q", "-v", "-a", ADDRESS, "-c", "3", "-w", "60"]
    run = simulate([server, *[client] * 70], *transport)
    assert {*run.statuses} == {0} and not run.exit and not run.told, run.why()


@pytest.mark.parametrize("stage", ["ping-sr-0", "ping-sr-1", "ping-sr-2e", "ping-sr-2", "ping-sr-3", "ping-sr-4"])
@over_each
def test_a_message_too_many_is_seen(stage: str, transport: list[str]) -> None:
    """The message is seen whether it comes before the completion of the last send, or after it."""
    told = ["-c", "10"] if stage == "ping-sr-0" else []
    peer = ["build/tests/peer", "--client", "--stage", "0" if told else "1", "-a", ADDRESS, "-c", "10", "--one-more"]
    for seed in range(8):
        run = simulate([[f"{stage}/server", "-q", "-a", ADDRESS, *told], peer], *transport, "--seed", str(seed))
        assert "the client sent more than the 10 messages due" in run.err, run.why()


def test_a_server_is_not_held_up_before_its_client_starts() -> None:
    """The client would find that nobody listens: this server makes thousands of calls before it does."""
    server = ["beyond/ping-ud-0/server", "-a", ADDRESS, "-r", "4096"]
    run = simulate([server, ["beyond/ping-ud-0/client", "-a", ADDRESS, "-c", "2"]], "--strategy", "busy")
    assert not run.exit, run.why()
