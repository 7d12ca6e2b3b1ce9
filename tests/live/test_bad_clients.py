# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Clients that do not keep to what they have announced: the server says what they did, and serves the next."""

from live.conftest import Client, Peer, Server
from live.processes import until
from live.table import Stage, each

SENDS = "peer --client --stage {stage} -a {{address}} -p {{port}} -c 100"
LADDER = "ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5"


@each(LADDER, check={"RoCE": "ping-sr-4"})
def test_too_few_messages_or_one_too_many(server: Server, client: Client, peer: Peer, stage: Stage) -> None:
    """A stage that does not notice that its client leaves ends by --timeout. The server has not failed, although
    three of its clients have."""
    s = server("-n 4 --timeout 1 -c 100")
    sends = SENDS.format(stage=int(stage.name != "ping-sr-0"))
    for how in ("--leave-after 0", "--leave-after 7", "--one-more"):
        peer(f"{sends} {how}").ends(0)
    client("-c 100 -v").ends(0)
    s.ends(0)
    for messages in (0, 7):
        said = f"{'the client left ' if stage.notices_death else ''}after {messages} messages"
        assert s.err.count(said) == 1
    assert "the client sent more than the 100 messages due" in s.err


NOTICED = "received a message of 63 bytes where 64 were expected"


@each("ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5", check={"RoCE": "ping-sr-4"})
def test_messages_of_another_size(server: Server, client: Client, peer: Peer) -> None:
    s = server("-n 0 --timeout 2")
    sends = SENDS.format(stage=1)
    peer(f"{sends} --send-size 65").ends(1)
    # soft-iWARP may overlook a first message (tests/drivers.md): then the server ends this client, as it is silent.
    for _ in range(4):
        peer(f"{sends} --send-size 63").ends(1)
        if NOTICED in s.err:
            break
    client("-c 20 -v").ends(0)
    s.signal("INT").ends(0)
    assert NOTICED in s.err


@each("ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5", check={"RoCE": "ping-sr-4"})
def test_half_a_connection(server: Server, client: Client, peer: Peer) -> None:
    """They are killed after their connect request, before the answer. What the server sees of that depends on the
    moment; it holds nothing of it in the end."""
    s = server("-n 0 --timeout 2")
    held = s.holds()
    peer(f"{SENDS.format(stage=1)} --async --die-connecting --die-after 0 --rounds 10").ends(0)
    client("-c 20 -v").ends(0)
    until(lambda: s.holds() == held, f"the server holds what it held before: {held}", 100)  # docs/pitfalls.md tells why this may take long
    s.signal("INT").ends(0)
