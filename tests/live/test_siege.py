# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Hostile clients of all kinds at once, and honest ones beside them, one after the other: from a seed, for a time.

    python3 -m pytest tests/live/test_siege.py -k ping-sr-4-RoCE --seconds 600 --seed 7

A server holds out if each honest client succeeds, during the siege and after it; if it has said nothing but what these
clients explain; if it then holds what it held before, and at most 16 MiB more memory; and if it ends with status 0.
Over soft-iWARP only by name: the kernel of its driver does not survive this (tests/evidence.md).
"""

from __future__ import annotations

import re
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

import pytest
from live.conftest import ENDLESS, Client, Peer, Run, Server
from live.processes import Process, until
from live.table import NEVER, Link, Stage, each

GROWN_KIB = 16384  # malloc(3) keeps an arena for each thread that there has been, up to eight a processor
GONE_S = 100  # the kernel may take a minute to destroy an id: docs/pitfalls.md
ONE_AT_A_TIME = "ping-sr-0 ping-sr-1 ping-sr-2e talk-rdma-0 ping-rc-0"
WITHOUT_DATA = "ping-sr-0 ping-rc-0"  # stages whose clients send no private data to connect

# ---- What a server says of these clients, and nothing else ----

LEFT = "most likely the client has left meanwhile"
EXPECTED = re.compile("|".join((
    "listening on .*",
    "[0-9]+ lines said, [0-9]+ heard",
    "counted to [0-9]+, and the clients' counts add up to [0-9]+(, without those who left early)?",
    "client refused: .*",  # if this client was an honest one, it says so
    # The kernel has destroyed the id of a client that has died, has lost patience, or never finished its handshake.
    rf"rdma_(create_qp|accept): (Invalid argument|Connection (refused|reset by peer|timed out)) \(\d+\): {LEFT}.*",
    "the client ended its run after [0-9]+ of 1000000000 messages",  # a client was interrupted
    r"the client left after [0-9]+ messages(; what was sent to it last failed \(local QP operation error\))?",
    "the client said nothing for [0-9]+ s, after [0-9]+ messages",
    "the client sent more than the [0-9]+ messages due",
    "received a message of [0-9]+ bytes where [0-9]+ were expected: .*",
    r"recv: Connection reset by peer \(104\): the client at .* ended the exchange: its own messages say why",
    r"recv: Protocol error \(71\): the client at .* did not say LID:QPN:PSN:GID, or done, .*",
    # soft-RoCE, seen rarely: a client was killed, and its memory was gone before its QP (tests/drivers.md)
    r"completion of the send, write or read .*: remote (operation|access) error .*it was just killed.*",
    r"completion of the receive .*: local (QP operation|length) error .*: most likely the message is longer than .*",
    # The errors of an access without the right: soft-RoCE, soft-iWARP
    "a work request was flushed after [0-9]+ messages, although the client has not disconnected: .*",
    r"siw0, QP of the connection with .*: the peer .* \(IBV_EVENT_QP_(REQ|ACCESS)_ERR\)",
)))  # fmt: skip


def surprises(server: Process) -> set[str]:
    """The server's lines that no hostile client explains, with N for each number."""
    lines = [line.partition(": ")[2] for line in server.err.splitlines()]
    return {re.sub(r"\b(0x[0-9a-f]+|[0-9]+)\b", "N", line) for line in lines if not EXPECTED.fullmatch(line)}


# ---- The ways in which clients are hostile ----


@dataclass(frozen=True)
class Way:
    """One kind of hostile client: its command for a stage, with what is drawn; and what ends it, after a moment of up to
    so many seconds: one of these signals, or, without them, the end of its stdin."""

    command: Callable[[Stage, Random], str]
    lasts_s: float = 0.0
    signals: tuple[str, ...] = ()
    fits: Callable[[Stage, Link], bool] = field(default=lambda stage, link: True)


def asks(stage: Stage, link: object = None) -> bool:
    """Returns whether the stage's clients say in their connect request what they want."""
    return stage.name not in WITHOUT_DATA.split()


def has_cm(stage: Stage, link: Link) -> bool:
    """Returns whether the stage takes clients from the connection manager."""
    return stage.name != "ping-rc-0"


def one(stage: Stage) -> bool:
    """Returns whether the stage serves one client at a time."""
    return stage.name in ONE_AT_A_TIME.split()


def independent(stage: Stage, how: str) -> str:
    """A client that shares no code with the stage."""
    kind = "--blast" if stage.name.startswith("blast-sr") else f"--stage {int(asks(stage))}"
    return f"peer --client {kind} -a {{address}} -p {{port}} --timeout 10 -s 64 {how}"


def crowd(way: str, number: int, window: int, size: int = 64, buffers: int = 4) -> str:
    """Many clients in one process."""
    how = f"-c {number} --window {window} -s {size} -n {buffers} --timeout 240"
    return f"peer --client --crowd {way} {how} -a {{address}} -p {{port}}"


def nonsense(stage: Stage, _: Random) -> str:
    """Connect requests as fast as it can, with private data that nobody understands."""
    return crowd("nonsense", 60, 4) if one(stage) else crowd("nonsense", 300, 16)


def silent(stage: Stage, rng: Random) -> str:
    """Clients with sound requests, which once connected say not a word."""
    number = 1 if one(stage) else rng.randint(1, 4)
    return crowd("silent", number, number)


def half(stage: Stage, rng: Random) -> str:
    """Clients with handshakes that are never finished."""
    return silent(stage, rng).replace("silent", "half")


def claims(stage: Stage, rng: Random) -> str:
    """Clients that ask for much memory: more than there is for all, or some of what there is."""
    if rng.random() < 0.7:
        return crowd("silent", 4, 4, *rng.choice([(65536, 4096), (200 << 20, 4), (1 << 30, 1)]))
    return crowd("silent", 1, 1, *((65536, 128) if stage.name.startswith("blast") else (8 << 20, 4)))


def dies(stage: Stage, rng: Random) -> str:
    """A client dies in mid-run, or is interrupted there."""
    size = f"-s {rng.choice(('64', '1000', '4k'))}"
    if stage.name in ("ping-sr-0", "count-atomic-1", "ping-rc-0"):
        size = ""
    if stage.name.startswith("pubsub"):
        size = "-s 1k"  # a publisher has one size of records
    return "client" if stage.name == "talk-rdma-0" else f"client {ENDLESS} -q {size}"


def dies_connecting(stage: Stage, _: Random) -> str:
    """A client dies after it has sent its connect request."""
    return independent(stage, "--async --die-connecting --die-after 0 --rounds 5")


def private(stage: Stage, rng: Random) -> str:
    """Clients with private data that are cut, or say what cannot be; or noise."""
    sound = [200, 64, 4]
    sound[rng.randrange(3)] = rng.choice([0, 1 << 31, 1 << 63, (1 << 64) - 1])
    data = struct.pack(">QQQ", *sound)
    if rng.random() < 0.5:
        data += struct.pack(">IHH", rng.choice([0x4F555231, 1]), rng.randrange(4), rng.choice([0, 8, 32, 56, 65535]))
    if rng.random() < 0.3:
        data = data[: rng.randrange(len(data))]
    if rng.random() < 0.2:
        data = rng.randbytes(rng.randint(1, 56))
    return independent(stage, f"-c 10 --raw-private {data.hex()}")


def sizes(stage: Stage, rng: Random) -> str:
    """Messages of another size than was announced, one message more, or no word of leaving."""
    ways = "--send-size 65,--send-size 63,--send-size 1,--one-more,--exit-without-disconnect,--leave-after 5"
    return independent(stage, f"-c 100 {rng.choice(ways.split(','))}")


WRONG = "write-rkey write-beyond read-rkey read-beyond stale"
REACHES = {
    "ping-rdma-1": WRONG,
    "ping-rdma-2": WRONG,
    "ping-rdma-3": f"{WRONG} read",
    "blast-rdma-1": f"{WRONG} read atomic",
    "pubsub-rdma-1": WRONG,
    "count-atomic-1": "write read write-rkey",
}


def reaches(stage: Stage, rng: Random) -> str:
    """Clients with accesses to memory without the right to it."""
    return f"peer --client --reach {rng.choice(REACHES[stage.name].split())} -a {{address}} -p {{port}}"


# To add a hostile client, add a row.
WAYS = {
    "nonsense": Way(nonsense, fits=asks),
    "silent": Way(silent, 8, fits=has_cm),
    # soft-iWARP connects no id without a QP, which finishes its handshake by itself.
    "half": Way(half, 4, fits=lambda stage, link: has_cm(stage, link) and link.transport == "RoCE"),
    "claims": Way(claims, 4, fits=asks),
    "dies": Way(dies, 3, ("KILL", "KILL", "STOP", "INT", "TERM")),
    "dies connecting": Way(dies_connecting, fits=has_cm),
    "private": Way(private, fits=asks),
    "sizes": Way(sizes, fits=lambda stage, link: stage.name.startswith(("ping-sr", "blast-sr"))),
    "reaches": Way(reaches, fits=lambda stage, link: stage.name in REACHES),
}


class Hostile:
    """Clients of some ways, one after the other."""

    def __init__(self, ways: dict[str, Way], rng: Random, client: Client, peer: Peer) -> None:
        """Starts without a client."""
        self.ways, self.rng, self.client, self.peer = ways, rng, client, peer
        self.process: Process | None = None

    def go_on(self, done: dict[str, int]) -> None:
        """Starts, strikes or forgets a client; to be called again and again."""
        if not self.process:
            self.name = self.rng.choice(list(self.ways))
            self.way = self.ways[self.name]
            program, _, options = self.way.command(self.client.server.stage, self.rng).partition(" ")
            if program == "client":
                self.process = self.client(options, stdin=subprocess.PIPE)
            else:
                self.process = self.peer(f"{program} {options}", stdin=subprocess.PIPE)
            self.strikes = time.monotonic() + self.rng.uniform(0.05, max(0.05, self.way.lasts_s))
        elif self.process.has_ended():
            done[self.name] += 1
            self.leave()
        elif time.monotonic() > self.strikes:
            self.strikes = time.monotonic() + 30  # by then it has not ended by itself
            sent = self.rng.choice(self.way.signals) if self.way.signals else ""
            self.process.signal(sent) if sent else self.process.hang_up()
            if sent == "STOP":
                self.leave()

    def leave(self) -> None:
        """Ends the client, if there is one."""
        if self.process:
            self.client.server.run.forget(self.process)
            self.process = None


HONEST = {
    "blast-sr-2": "-c 500 -v",
    "blast-rdma-1": "-c 500 -v",
    "pubsub-rdma-1": "-s 1k -c 20 -v",
    "pubsub-rdma-2": "-s 1k -c 20 -v",
    "talk-rdma-0": "",
}


def honest(client: Client, stage: Stage) -> Process:
    """A client that does what it should."""
    typed = "a line\nand one more\n" if stage.name == "talk-rdma-0" else None
    return client("-q -w 20", HONEST.get(stage.name, "-c 200 -v"), stdin=typed)


OPTIONS = {"ping-sr-0": "-c 200", "ping-rc-0": "-c 200", "pubsub-rdma-1": "--record 1k", "pubsub-rdma-2": "--record 1k"}


@pytest.fixture
def done() -> Iterator[dict[str, int]]:
    """Returns how many hostile clients of each way there were."""
    counts = dict.fromkeys(WAYS, 0)
    yield counts
    print("hostile clients:", counts)


# The stages with their own way to admit, wait or hold memory; the others run by name, because each takes more than a minute.
SOME = "ping-sr-1 ping-sr-3 ping-sr-4 ping-srq-4 blast-sr-2 ping-rdma-1 pubsub-rdma-2"


def are_besieged(stage: Stage) -> bool:
    """Returns whether a stage is besieged: all are but ping-ep-0, which serves one client, whoever it is, and ends."""
    return stage.name != "ping-ep-0" and not stage.nine


@pytest.mark.timeout(0)
@each(are_besieged, check=NEVER, fragile=lambda stage, link: link.transport == "iWARP" or stage.name not in SOME.split())
def test_a_server_holds_out(
    server: Server,
    client: Client,
    peer: Peer,
    stage: Stage,
    link: Link,
    rng: Random,
    seconds: float,
    done: dict[str, int],
) -> None:
    s = server("-n 0 --timeout", 60 if "rdma" in stage.name or "atomic" in stage.name else 5,
               OPTIONS.get(stage.name, ""), "--max-memory 100m" if asks(stage) else "")  # fmt: skip
    threads = s.threads()
    honest(client, stage).ends(0)  # objects that are made once for all clients are no growth
    until(lambda: s.threads() == threads, "the thread of the first client has ended")
    held, kib = s.holds(), s.memory_kib()
    ways = {name: way for name, way in WAYS.items() if way.fits(stage, link)}
    groups = [{name: way} for name, way in ways.items()]
    if one(stage):  # the other servers wait for a client that is silent
        groups = [{name: ways.pop(name)} for name in ("nonsense",) if name in ways] + [ways]
    hostile = [Hostile(group, rng, client, peer) for group in groups]
    end, beside = time.monotonic() + seconds, honest(client, stage)
    while time.monotonic() < end or not beside.has_ended():
        for each_of_them in hostile:
            each_of_them.go_on(done)
        if beside.has_ended(0.02) and time.monotonic() < end:
            client.server.run.forget(beside.ends(0))
            beside = honest(client, stage)
    beside.ends(0)
    for each_of_them in hostile:
        each_of_them.leave()
    honest(client, stage).ends(0)
    until(lambda: s.holds() == held, f"the server holds what it held before: {held}", GONE_S)
    assert s.memory_kib() - kib <= GROWN_KIB
    s.signal("TERM").ends(0)
    assert not surprises(s)
    assert sum(done.values())  # otherwise nobody was hostile


@each("ping-sr-4", check=NEVER, fragile=lambda stage, link: True, where=lambda stage, link: link.transport == "iWARP")
def test_connections_that_are_reset_before_they_are_accepted(server: Server, client: Client, stage: Stage) -> None:
    """iWARP's connections are TCP connections. A socket that is reset leaves nothing in TIME_WAIT."""
    reset = struct.pack("ii", 1, 0)  # struct linger: on, and no time for what is not sent
    s = server("-n 0 --timeout 5")
    for _ in range(100):
        with socket.socket() as leaver:
            leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            leaver.connect((server.link.address, server.port))
    honest(client, stage).ends(0)
    s.signal("TERM").ends(0)
    assert not surprises(s)


# ---- Soak: a server that dies at any moment, and the clients of one that does not ----

SIZES, COUNTS = ("64", "1000", "4k", "64k"), ("1000000000", "1000000000", "50")
DIE = "ping-sr-2 ping-sr-3 ping-sr-4 blast-sr-2"


def client_of_any_size(client: Client, rng: Random) -> Process:
    """A client that goes on forever, or has little to do."""
    return client(f"-v -q -s {rng.choice(SIZES)} -c {rng.choice(COUNTS)}")


@pytest.mark.timeout(0)
@each(DIE, check=NEVER)
def test_four_clients_are_struck_at_random(
    server: Server, client: Client, run: Run, rng: Random, seconds: float
) -> None:
    """In the second half of the time the server grows by less than 1 MiB: a leak grows with every client."""
    s = server("-n 0")
    held, kib = s.holds(), [0]
    for half_of_time in range(2):
        clients = [client_of_any_size(client, rng) for _ in range(4)]
        end = time.monotonic() + seconds / 2
        while time.monotonic() < end:
            time.sleep(rng.uniform(0, 0.5))  # the signal comes at any moment, not when something is ready
            struck = clients.pop(rng.randrange(4))
            name = rng.choice(("KILL", "INT", "TERM", "STOP"))
            struck.signal(name)
            if name == "STOP":
                time.sleep(rng.uniform(0, 0.5))
                struck.signal("KILL")
            # Before the program handles signals, it may end by one; with few messages it may have ended before.
            struck.ends(0, -9 if name in ("KILL", "STOP") else -2 if name == "INT" else -15)
            run.forget(struck)
            clients.append(client_of_any_size(client, rng))
        for each_of_them in clients:
            run.forget(each_of_them)
        until(lambda: s.holds() == held, f"the server holds what it held before: {held}", GONE_S)
        kib.append(s.memory_kib())
    assert kib[2] - kib[1] < 1024
    client("-v").ends(0)
    s.signal("INT").ends(0)
    assert not surprises(s)


@pytest.mark.timeout(0)
@each(DIE, check=NEVER)
def test_a_server_is_killed_at_random(server: Server, client: Client, run: Run, rng: Random, seconds: float) -> None:
    """The server's clients fail, except for those that are done, and another server serves their next attempt."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        s = server("-n 0")
        clients = [client(f"-v -q -s {rng.choice(SIZES)} {ENDLESS}", "--timeout 5") for _ in range(4)]
        time.sleep(rng.uniform(0, 2))
        run.forget(s.kill())
        for each_of_them in clients:
            run.forget(each_of_them.ends(1))
