# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Clients that access memory to which they have no right: each is refused, and the next client is served."""

import pytest
from live.conftest import Client, Peer, Server
from live.table import NEVER, Link, each


def is_refused(how: str, server: Server, client: Client, peer: Peer) -> None:
    """On RoCE the completion has the reason. On iWARP the connection ends: what is outstanding is flushed, or cannot
    be sent any more."""
    s = server("-n 2")
    trespasser = peer(f"peer --client --reach {how} -a {{address}} -p {{port}}").ends(0)
    client("-v -q -c 20").ends(0)
    s.ends(0)
    refused = ("Flushed", "local QP operation error") if server.link.transport == "iWARP" else ("remote access error",)
    assert any(reason in trespasser.out for reason in refused)
    # A client that has told its count has had its run before.
    assert how == "stale" or "the client left after 0 messages" in s.err


@each("ping-rdma-1")
def test_access_with_the_right_to_it(server: Server, client: Client, peer: Peer) -> None:
    """Otherwise the refusals would prove nothing."""
    s = server("-n 2")
    honest = peer("peer --client --reach honest -a {address} -p {port}").ends(0)
    client("-v -q -c 20").ends(0)
    s.ends(0)
    assert "honest: success" in honest.out


@pytest.mark.parametrize("how", ["write-rkey", "write-beyond", "read-rkey", "read-beyond", "stale"])
@each("ping-rdma-1")
def test_a_key_or_place_that_is_wrong(server: Server, client: Client, peer: Peer, how: str) -> None:
    is_refused(how, server, client, peer)


@pytest.mark.parametrize("how", ["write", "read-beyond", "stale"])
@each("pubsub-rdma-1", check=NEVER)
def test_a_record_that_is_not_theirs(server: Server, client: Client, peer: Peer, how: str) -> None:
    is_refused(how, server, client, peer)


def on_roce(link: Link) -> bool:
    """soft-iWARP serves a READ without the right to it (docs/drivers.md), and has no atomic operations."""
    return link.transport == "RoCE" and link.family == 4


@each("ping-rdma-3 blast-rdma-1 count-atomic-1", links=on_roce)
def test_a_read_that_is_not_permitted(server: Server, client: Client, peer: Peer) -> None:
    is_refused("read", server, client, peer)


@each("blast-rdma-1", links=on_roce)
def test_an_atomic_operation_that_is_not_permitted(server: Server, client: Client, peer: Peer) -> None:
    is_refused("atomic", server, client, peer)


@each("count-atomic-1", links=on_roce)
def test_a_write_that_is_not_permitted(server: Server, client: Client, peer: Peer) -> None:
    is_refused("write", server, client, peer)
