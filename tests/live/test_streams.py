# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Streams by blast-sr-2: with every size, number of buffers and way of posting; credits that are wrong, late or missing;
and limits on what a client asks for.
"""

import time

import pytest
from live import results
from live.conftest import Client, Pair, Server
from live.table import NEVER, Link, Stage, each
from live.test_pools import rnr_naks

# The numbers of messages, and the options of the client and of the server. The first row runs over each address.
STREAMS = [
    ("-c 300 -s 5001", "--sge 4", "--sge 3"),
    ("-c 1 -s 1", "", ""),
    ("-c 1000 -s 1", "-b 1", ""),
    ("-c 5000 -s 64", "", ""),
    ("-c 3000 -s 64", "-b 2000", ""),
    ("-c 500 -s 4096", "-b 7 --signal-every 1000", "--credit-batch 1000"),
    ("-c 500 -s 100", "-b 5 --signal-every 3", "--credit-batch 2"),
    ("-c 500 -s 64", "--chain 1 --signal-every 1", "--chain 1"),
    ("-c 500 -s 32", "--inline 0", ""),
    ("-c 500 -s 300", "--inline 512", ""),
    ("-c 100 -s 2", "--sge 4", ""),
    ("-c 20 -s 1048576", "-b 4", ""),
]


def every_message_arrives(pair: Pair, stage: Stage, link: Link, stream: tuple[str, str, str]) -> None:
    """Checks that every message arrives, in order."""
    agreed, of_client, of_server = stream
    s, c = pair(agreed, f"-v -j {of_server}", f"-v -j {of_client}")
    c.ends(0)
    s.ends(0)
    _, count, _, size = agreed.split()
    results.whole(c, stage, link, int(size), int(count))
    assert results.whole(s, stage, link, int(size), int(count))["verified"]


@each("blast-sr-2", links=lambda link: True)
def test_every_message_arrives(pair: Pair, stage: Stage, link: Link) -> None:
    every_message_arrives(pair, stage, link, STREAMS[0])


@pytest.mark.parametrize("stream", STREAMS[1:], ids=lambda stream: " ".join(stream))
@each("blast-sr-2", check={"RoCE": "blast-sr-2"})
def test_every_message_arrives_in_each_way(pair: Pair, stage: Stage, link: Link, stream: tuple[str, str, str]) -> None:
    every_message_arrives(pair, stage, link, stream)


@each("blast-sr-2", check={"RoCE": "blast-sr-2"})
def test_verifying_takes_both_sides(server: Server, client: Client, stage: Stage, link: Link) -> None:
    """Messages that were not filled in are not taken for verified."""
    s = server("-n 2 -v -j")
    client("-c 50").ends(1)
    client("-c 50 -v").ends(0)
    assert "message 0 is garbled" in s.ends(1).err
    first = results.of(s, stage, link, index=0)
    assert not first["verified"] and not first["complete"]


@each("blast-rdma-1", check=NEVER)
def test_what_the_last_write_has_left_is_compared(server: Server, client: Client) -> None:
    """The server compares it behind its answer, with which the client's measurement ends."""
    s = server("-v")
    client("-c 50").ends(0)
    assert "what the last WRITE left is not the last message" in s.ends(1).err


@each("blast-sr-2", check={"RoCE": "blast-sr-2"})
def test_a_stream_for_a_time(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair("-D 1", "-j -v", "-v -j")
    c.ends(0)
    s.ends(0)
    sent, got = results.of(c, stage, link), results.of(s, stage, link)
    assert sent["complete"] and got["complete"] and got["verified"]
    assert sent["count"] + sent["warm_up"] == got["count"] + got["warm_up"]


@each("blast-sr-2", check={"RoCE": "blast-sr-2"})
def test_a_stream_for_people(pair: Pair) -> None:
    s, c = pair("-c 1000", "-x -v", "-x -v")
    c.ends(0)
    s.ends(0)
    for text in ("  rate ", "  WRs a post ", "  WCs a poll ", "  credits "):
        assert text in c.out and text in s.out
    assert "every byte verified" in s.out
    assert "each way" not in c.out and not c.err


@each("blast-sr-2", check=NEVER)
def test_a_rate_holds_the_sender_back(server: Server, client: Client) -> None:
    """The last of fifty messages, a hundred a second, is due after 490 ms, however fast the link is."""
    s, begun = server("-v"), time.monotonic()
    c = client("-c 50 --rate 100 -v -j -q").ends(0)
    assert time.monotonic() - begun >= 0.49
    s.ends(0)
    assert c.json[0]["count"] == 50


@each("blast-sr-2", check=NEVER)
def test_a_slow_receiver_holds_the_sender_back_by_credits_alone(server: Server, client: Client) -> None:
    before = rnr_naks()
    s = server("-v --sleep 500")
    c = client("-c 600 -v -j -q").ends(0)
    s.ends(0)
    assert c.json[0]["stream"]["credit_stalls"] > 0
    assert rnr_naks() == before


@each("blast-sr-2", check=NEVER)
def test_without_credits(server: Server, client: Client, link: Link) -> None:
    """RoCE and InfiniBand answer with RNR NAKs, and go on; iWARP ends the connection."""
    before = rnr_naks()
    s = server("-v --sleep 500")
    c = client("-c 600 -v --no-credits").ends(1 if link.transport == "iWARP" else 0)
    s.ends(0)
    if link.transport == "iWARP":
        assert "completion of the send, write or read" in c.err or "server left" in c.err
        assert "the client left after" in s.err
    else:
        assert before is None or (rnr_naks() or 0) > before


LIMITS = {
    "-b 1000000": "1000000 buffers (-b) are more than",
    "-b 101": "it takes 1 to 100 buffers (-b)",
    "-b 17 -s 64k": "of its memory for clients 1060000 bytes are left (--max-memory, there)",
    "-s 65537": "it takes messages of 1 to 65536 bytes (-s)",
}


@each("blast-sr-2", check=NEVER)
def test_one_that_asks_for_too_much_is_told_the_limit(server: Server, client: Client) -> None:
    """A client that is refused does not count for -n."""
    s = server("--max-size 64k --max-buffers 100 --max-memory 1060000")
    for options, limit in LIMITS.items():
        assert limit in client(options).ends(1, 2).err
    assert "it takes 1 to 100 buffers (-b)" in client(stage="ping-sr-2").ends(1).err
    client("-b 16 -s 64k -c 200").ends(0)
    s.ends(0)
    assert "client refused: it wants 101 buffers, and 1 to 100" in s.err


@each("blast-sr-2", check=NEVER)
def test_many_messages_arrive_in_order(server: Server, client: Client) -> None:
    s = server("-v -j")
    client("-c 50000 -b 512 -v -q").ends(0)
    s.ends(0)
    assert s.json[0]["verified"]
