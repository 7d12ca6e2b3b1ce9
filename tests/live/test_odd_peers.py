# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Peers that do what no program of ours does, a row for each: what the program says of it, its exit status, and that a
server serves the next client.

To add one, add a row; if the peer cannot do it yet, an option to tests/peer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from live.conftest import Client, Peer, Server
from live.table import Link, Stage, each

PING = "ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5"
TELL = "ping-sr-1 ping-sr-4"  # their clients say what they want; the other stages have the same listeners and agents
POOL = "ping-srq-4"
RECORDS, READ_BACK = "pubsub-rdma-1 pubsub-rdma-2", "ping-rdma-1 ping-rdma-2"
REFUSED = f"ping-sr-1 ping-sr-4 blast-sr-2 {POOL} ping-rdma-1"
WIRES = {"ping-rdma-1": 1, "ping-rdma-2": 1, "ping-rdma-3": 3, "count-atomic-1": 4, "blast-rdma-1": 1, "pubsub-rdma-1": 1, "pubsub-rdma-2": 1}
UNLIMITED = 10**12  # a count that a peer announces
TYPED = "one\ntwo\nthree\n"


def talks(stage: Stage) -> bool:
    """These stages have lines of text, not messages."""
    return stage.name == "talk-rdma-0"


def wire(stage: Stage) -> str:
    """Returns the protocol by which the independent program talks to the stage."""
    if talks(stage):
        return f"--talk -s 256 --announce {UNLIMITED} --timeout 20"
    kind = f"--one-sided {WIRES[stage.name]}" if stage.name in WIRES else "--blast" if "blast" in stage.name else f"--stage {int(stage.name != 'ping-sr-0')}"
    return f"{kind} -s {8 if 'count' in stage.name else 64} -c 20 --timeout 20"


@dataclass(frozen=True)
class Odd:
    """One odd peer."""

    what: str
    stages: str
    peer: str  # the peer's options
    said: str = ""  # the words that the program says, which says nothing at all without them
    options: str = ""  # options of the program
    status: int = 1  # a client's exit status
    refused: int = 0  # a server's reason for a refusal; 0: it does not refuse
    limit: int = 0  # the limit that a server gives with the reason
    transports: str = "RoCE iWARP"
    check: bool = False  # make check runs it over the drivers, too


def over(rows: Iterable[Odd]) -> pytest.MarkDecorator:
    """Each odd peer for its stages and links."""
    made = []
    for row in rows:
        marks = [] if row.check else [pytest.mark.long]
        for param in each(row.stages).args[1]:
            if param.values[1].transport not in row.transports.split():
                continue
            made.append(pytest.param(row, *param.values, id=f"{param.id}-{row.what.replace(' ', '-')}", marks=marks))
    return pytest.mark.parametrize("row, stage, link", made)


# ---- Servers ----------------------------------------------------------------------------------------------

ON_LOCK = "--lock --hold 10000 --timeout 2"
SLOT, TORN = "--talk --timeout 9", "a torn record was taken for a whole one"
NO_READS = "let it set responder_resources to 1 or more"
SERVERS = [
    Odd("leaves after six messages", "ping-sr-2 ping-sr-4", "--leave-after 6", "the server left after 6 messages", "--rate 10"),
    Odd("falls silent", f"{PING} blast-sr-2 {READ_BACK} ping-rdma-3", "--silent-after 0", " said nothing for 1 s, after 0 messages", "--timeout 1"),
    Odd("falls silent before the end", "ping-sr-2 ping-sr-3", "--silent-after 3", "waited in vain for the server's answer to message", "-D 2"),
    # Odd private data of a peer that accepts or refuses.
    Odd("says nonsense when it accepts", f"ping-sr-0 {REFUSED.replace(POOL, '')}", "--accept-data 196", status=0),
    Odd("says a byte when it accepts", "ping-sr-2 ping-rdma-1", "--accept-data 1", status=0),
    *(Odd(f"refuses with {data[:16] or 'nothing'}{' in short' if len(data) == 30 else ''}", "ping-sr-3 blast-sr-2 ping-rdma-1",
          f"--refuse --raw-private={data}", said)
      for data, said in {
        "4f555231000100030000000000000100": "refused us: it takes messages of 1 to 256 bytes (-s)",
        "4f5552310001000200000000000003e8": "refused us: it takes 1 to 1000 messages (-c)",
        "4f555231000100040000000000000007": "refused us: it takes 1 to 7 buffers (-b)",
        "4f555231000100ff0000000000000000": "refused us: for a reason unknown here (255)",
        "4f555231000200030000000000000100": "refused us: it gave no reason",  # the peer has another version,
        "4f555232000100030000000000000100": "refused us: it gave no reason",  # the peer has another magic number
        "": "refused us: it gave no reason",
      }.items()),
    # With padding the reason has a limit of 0, for its last byte is missing.
    Odd("refuses with a byte too few", "ping-sr-3 ping-rdma-1", "--refuse --raw-private=4f5552310001000300000000000001",
        "refused us: it gave no reason", transports="iWARP"),
    # Odd buffers of a peer.
    Odd("has no room for a message", f"{READ_BACK} ping-rdma-3", "--short-by 1", "the peer's buffer has 63 bytes, and a message has 64 (-s)"),
    Odd("has no room for a record", "pubsub-rdma-1", "--memory record --short-by 1", "the peer's buffer has 63 bytes, and a message has 64 (-s)"),
    Odd("has no room for a mark", "talk-rdma-0", "--short-by 1", "the peer's buffer has 255 bytes, and a message has 256 (-s)"),
    # On iWARP a client does not learn that nobody may read.
    Odd("lets nobody read", READ_BACK, "--depth 0", NO_READS, transports="RoCE"),
    Odd("lets nobody read its record", "pubsub-rdma-1", "--memory record --depth 0", NO_READS, transports="RoCE"),
    Odd("lets nobody read its stream", "blast-rdma-1", "--memory stream --depth 0", NO_READS, "--read", transports="RoCE"),
    Odd("lets one READ at a time", "blast-rdma-1", "--memory stream", "at most 1 READs are under way: the server agreed to no more",
        "--read --depth 8 -v", status=0, transports="RoCE"),
    Odd("has the stream that is due", "blast-rdma-1", "--memory stream", options="-q --read -v", status=0),
    Odd("has another stream", "blast-rdma-1", "--memory another-stream", "byte 63 is ", "-q --read -v"),
    # Peers with a record.
    Odd("has a record", "pubsub-rdma-1", "--memory record", options="-v", status=0),
    Odd("has a torn record with the same number twice", "pubsub-rdma-1", "--memory same-numbers", TORN, "-v --check numbers", check=True),
    Odd("has a torn record and the sum of the first half's", "pubsub-rdma-1", "--memory same-numbers",
        " said nothing for 1 s, after 0 messages", "-v --check sum --timeout 1"),
    Odd("has a torn record with a sum that fits", "pubsub-rdma-1", "--memory another-sum", TORN, "-v"),
    Odd("goes back to an older record", "pubsub-rdma-1", "--memory older", "record 1 came after record 4", "-v -c 1000000"),
    Odd("changes its record forever", "pubsub-rdma-1", "--memory changing", " said nothing for 1 s, after 0 messages", "--timeout 1"),
    # Peers with a counter, and a lock.
    Odd("counts", "count-atomic-1", "--memory counter", options="-v", status=0),
    Odd("has a lock", "count-atomic-1", "--memory counter", options=f"-v {ON_LOCK}", status=0),
    Odd("has a counter alone", "count-atomic-1", "--memory counter --short-by 16", options="-v", status=0),
    Odd("has no lock", "count-atomic-1", "--memory counter --short-by 16", ", but must be in 24 at a multiple of 8", ON_LOCK),
    # Peers that take lines of text.
    Odd("takes all lines", "talk-rdma-0", SLOT, "3 lines said, 0 heard", status=0),
    Odd("takes one line", "talk-rdma-0", f"{SLOT} --silent-after 1", " said nothing for 1 s, after 0 messages", "--timeout 1"),
    Odd("counts a line that it has not said", "talk-rdma-0", f"{SLOT} --count-off 1", "the other side has said 1 lines, and 0 were heard"),
    Odd("counts in four bytes", "talk-rdma-0", f"{SLOT} --short-count", "3 lines said, 0 heard", status=0),
]  # fmt: skip


@over(SERVERS)
def test_a_server_that(server: Server, client: Client, row: Odd, stage: Stage) -> None:
    s = server("--server", wire(stage), row.peer, program="build/tests/peer")
    how: dict[str, Any] = {"stdin": TYPED} if talks(stage) else {}
    usual = "" if talks(stage) else "-c 20" if stage.name == "count-atomic-1" else "-c 20 -s 64"
    quiet = "" if talks(stage) or "--depth" in row.options else "-q" if "-v" not in row.options else "-q -j"
    c = client(quiet, usual, row.options, **how).ends(row.status)
    assert row.said in c.err and (row.said or not c.err)
    assert '"verified": true' not in c.out or not row.status
    s.ends(0, 1, 3)


# ---- Clients ----------------------------------------------------------------------------------------------

SOUND, MAGIC = "00000000000000140000000000000040" + "0000000000000000", "4f555231"
FOR_BLAST = "00000000000000140000000000000040" + "0000000000000010"


def private(data: str) -> str:
    """The peer's option for private data."""
    return f"--raw-private {SOUND}{data}"


NO_RECEIVE = "--greedy 1 --silent-after 0"  # a peer that sends a message, and stays
NONSENSE = "client refused: its private data ("
CLIENTS = [
    # Odd private data of a peer that connects.
    Odd("has a higher version", f"{TELL} ping-rdma-1", private(f"{MAGIC}00020028{1:016x}")),
    Odd("has another magic number", "ping-sr-1 ping-rdma-1", private("4f55523200010020"), NONSENSE, refused=1),
    Odd("says more than its length", "ping-sr-1 ping-sr-4", private(f"{MAGIC}00010020{1:016x}"), NONSENSE, refused=1),
    Odd("is cut short", "ping-sr-1 ping-sr-4", private(f"{MAGIC}000100"), NONSENSE, refused=1, transports="iWARP"),
    Odd("says nothing", "ping-sr-1 ping-sr-4 ping-rdma-1", "--raw-private=", NONSENSE, refused=1, transports="iWARP"),
    Odd("says nothing, padded", "ping-sr-1 ping-sr-4 ping-rdma-1", "--raw-private=", "client refused: it wants to send 0 messages of 0 bytes; is it a client",
        refused=2, limit=UNLIMITED, transports="RoCE"),
    Odd("sends too much", f"{TELL} {POOL} ping-rdma-1", "-c 21", "client refused: ", "--max-count 20", refused=2, limit=20, check=True),
    Odd("sends what is too long", f"{TELL} {POOL} ping-rdma-1", "-s 65", "client refused: ", "--max-size 64", refused=3, limit=64),
    Odd("sends what is too long for 32 bits", "ping-sr-1 ping-sr-4", f"--raw-private {20:016x}{(1 << 32) + 64:016x}", "client refused: ",
        "--max-size 64", refused=3, limit=64),
    Odd("wants too many buffers", "blast-sr-2", "-n 8", "client refused: ", "--max-buffers 7", refused=4, limit=7),
    Odd("needs more memory than there is", f"{TELL} blast-sr-2", "-s 65536 -n 4", "client refused: it would take ",
        "--max-memory 20k", refused=8),
    Odd("is longer than a receive of the pool", POOL, "-s 65", "its messages have 65 bytes, and a receive of the pool 64 (--buffer)",
        "--buffer 64", refused=3, limit=64),
    Odd("wants another record", RECORDS, "-s 64", "client refused: it wants a record of 64 bytes, and this one has 256 (--record)",
        "--record 256", refused=3, limit=256),
    Odd("has lines of another length", "talk-rdma-0", "-s 255", "client refused: ", refused=3, limit=256),
    # The messages that it sends, or does not send.
    Odd("sends more than its share of the pool", POOL, "--greedy 9 --silent-after 0", "it would take more than its share of the pool",
        "--pool 8 --timeout 9", transports="RoCE"),
    # On iWARP the answer that finds no receive may end the connection first.
    Odd("sends more than its share of the pool", POOL, "--greedy 9 --silent-after 0",
        "it would take more than its share of the pool | the client left after ", "--pool 8 --timeout 9", transports="iWARP"),
    Odd("has no receive for the answer", f"{PING} {POOL}", NO_RECEIVE, "the client said nothing for 2 s, after 1 messages", "--timeout 2", transports="RoCE"),
    Odd("has no receive for the answer", f"{PING} {POOL}", NO_RECEIVE, "the client left after 1 messages", transports="iWARP"),
    Odd("has no receive, and is not asked again", f"{PING} {POOL}", f"{NO_RECEIVE} --rnr-retries 0", "RNR retry counter exceeded", transports="RoCE"),
    Odd("falls silent", f"{PING} blast-sr-2 {POOL} ping-rdma-1 ping-rdma-3", "--silent-after 9", " said nothing for 2 s, after ", "--timeout 2"),
    Odd("stays when it is done", f"{PING} {POOL}", "--silent-after 20", "the client said nothing for 2 s, after 20 messages", "--timeout 2"),
    Odd("leaves early", "ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2", "--leave-after 7", "the client left after "),
    # Peers of one-sided stages: an odd buffer, an odd count.
    Odd("does not say where its buffer is", f"{READ_BACK} ping-rdma-3 blast-rdma-1 count-atomic-1 {RECORDS}", "--silent-after 0",
        "the client said nothing for 2 s, after 0 messages", "--timeout 2"),
    Odd("has no room for a message", "ping-rdma-3 pubsub-rdma-2", "--short-by 1", "the peer's buffer has 63 bytes, and a message has 64 (-s)"),
    Odd("has no room for a mark", "talk-rdma-0", "--short-by 1", "the peer's buffer has 255 bytes, and a message has 256 (-s)"),
    Odd("leaves without its count", "pubsub-rdma-2 ping-rdma-1", f"--leave-after 0 --announce {UNLIMITED}", "the client left after "),
    Odd("leaves the talk", "talk-rdma-0", "--leave-after 1", "the client left after "),
    Odd("counts one more", READ_BACK, "--count-off 1", "the client says that it is done after 21 messages, and 20 were due"),
    Odd("ends before it has sent all", "ping-rdma-3", "-c 10 --announce 20", "the client left after 10 messages"),
    Odd("counts in four bytes", READ_BACK, "--short-count"),
    Odd("counts one more in four bytes", READ_BACK, "--short-count --count-off 1", "done after 90194313216 messages, and 20 were due"),
    Odd("counts less than it says", "count-atomic-1", f"--announce {UNLIMITED} --count-off 1",
        "but the clients' counts add up to"),
    Odd("counts a line that it has not said", "talk-rdma-0", "--count-off 1", "the other side has said 1 lines, and 0 were heard"),
]  # fmt: skip
HONEST = {"talk-rdma-0": "-q", "pubsub-rdma-1": "-q -v -s {record} -c 5", "pubsub-rdma-2": "-q -v -s {record} -c 5", "blast-sr-2": "-q -v -c 20 -b 4"}


@over(CLIENTS)
def test_a_client_that(server: Server, client: Client, peer: Peer, row: Odd, stage: Stage, link: Link) -> None:
    """The next client is served. A client that is refused does not count."""
    typed: dict[str, Any] = {"stdin": TYPED} if talks(stage) else {}
    serves = 1 if row.refused or talks(stage) else 2
    usual = "-c 20 -s 64" if stage.name == "ping-sr-0" else "" if talks(stage) else f"-n {serves}"
    s = server(usual, "-n 2" if stage.name == "ping-sr-0" else "", row.options, **typed)
    how = row.peer.replace(SOUND, FOR_BLAST) if "blast" in stage.name else row.peer
    odd = peer(f"peer --client {wire(stage)} {how} -a {{address}} -p {{port}}").ends(0, 1, 3)
    if row.refused:
        assert f"{MAGIC}0001{row.refused:04x}{row.limit:016x}" in odd.out or not row.limit and f"{MAGIC}0001{row.refused:04x}" in odd.out
    if not talks(stage) or row.refused:
        record = "256" if "--record" in row.options else "64"
        client("-w 60", HONEST.get(stage.name, "-q -v -c 20" + ("" if "count" in stage.name else " -s 64")).format(record=record), **typed).ends(0)
    s.ends(0, 1) if talks(stage) else s.ends(0)
    assert any(text in s.err for text in row.said.split(" | ")) and (row.said or len(s.said) == 1)
