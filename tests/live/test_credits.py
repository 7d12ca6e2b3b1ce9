# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Streams by blast-sr-2: credits that are wrong, late or missing, limits on what a client asks for, and a long run."""

import pytest
from conftest import Client, Server
from table import NEVER, Link, each
from test_pools import rnr_naks

pytestmark = pytest.mark.long  # until planted faults have shown that the old suite has nothing more

PEER = "--server --blast --stage 1 -c 500 -s 64 --timeout 60"


@pytest.mark.parametrize("kind", ["huge", "short"])
@each("blast-sr-2", check=NEVER)
def test_more_credits_than_are_owed_or_half_a_message(server: Server, client: Client, kind: str) -> None:
    server(f"{PEER} --bad-credit {kind}", program="build/tests/peer")
    assert "bad credits: the server" in client("-c 500 -b 16").ends(1).err


@each("blast-sr-2", check=NEVER)
def test_a_credit_message_of_0_is_harmless(server: Server, client: Client) -> None:
    s = server(f"{PEER} --bad-credit zero", program="build/tests/peer")
    client("-c 500 -b 16").ends(0)
    s.ends(0)


@each("blast-sr-2", check=NEVER)
def test_a_rate_holds_the_sender_back(server: Server, client: Client) -> None:
    """The last of fifty messages, a hundred a second, is due after 490 ms, however fast the link is."""
    s = server("-v")
    c = client("-c 50 --rate 100 -v -j -q").ends(0)
    s.ends(0)
    assert c.json[0]["count"] == 50 and c.json[0]["seconds"] >= 0.49


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
    """One that is refused does not count for -n."""
    s = server("--max-size 64k --max-buffers 100 --max-memory 1060000")
    for options, limit in LIMITS.items():
        assert limit in client(options).ends(1).err
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
