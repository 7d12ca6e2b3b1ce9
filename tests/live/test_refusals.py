# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Clients that a server refuses: each is told the reason, does not try again, and the next client is served."""

from live.conftest import Client, Server
from live.table import each


@each("ping-sr-1 ping-sr-4", check={"RoCE": "ping-sr-4"})
def test_one_that_is_over_the_limits(server: Server, client: Client) -> None:
    """A client that is refused does not count for -n."""
    s = server("--max-size 4k --max-count 1000")
    large = client("-w 5 -s 4097").ends(1)
    many = client("-w 5 -c 1001").ends(1)
    client("-w 5 -c 1000 -s 4k -v").ends(0)
    s.ends(0)
    assert "refused us: it takes messages of 1 to 4096 bytes (-s)" in large.err
    assert "refused us: it takes 1 to 1000 messages (-c)" in many.err
    assert s.err.count("client refused: its messages have 4097 bytes") == 1
    assert s.err.count("client refused: it wants to send 1001 messages") == 1


@each(
    "ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2 ping-srq-4",
    check={"RoCE": "ping-sr-2 ping-sr-4", "iWARP": "ping-sr-4"},
)
def test_one_that_comes_when_all_are_there(server: Server, client: Client) -> None:
    """The server has not failed, although its client leaves early."""
    s = server("-n 1")
    first = client("-c 1000000000 -T").awaits("SUCCESS, RECV")
    second = client("-w 5").ends(1)
    first.signal("INT").ends(0)
    s.ends(0)
    assert "refused us: it is busy: it was to serve 1 clients (-n)" in second.err
