# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which servers are besieged, and the ways in which clients are hostile to them.

Place: below besieged.py. Contract: a way makes the command of one hostile program, anew each time, with the
random numbers that it is given; it starts nothing itself.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from random import Random
from typing import Callable

from tools.folders import folder

SIZE = 64
MANY, ONE = "many", "one"  # clients that a server serves at a time
MAGIC = 0x4F555231
MAX_PRIVATE = 56  # bytes that fit into a connect request
SHORT_S = 5  # a limit on silence;
LONG_S = 60  # ... of servers that do not notice what clients write and read: on a whole run


@dataclass(frozen=True)
class Stage:
    """A server, and what an honest client of it does."""

    serves: str = MANY
    server: tuple[str, ...] = ()
    client: tuple[str, ...] = ("-c", "200", "-v")
    reach: tuple[str, ...] = ()  # of tests/trespass: hostile accesses to memory
    silence_s: int = 5  # --timeout
    only_roce: bool = False
    asks: bool = True  # a client says in its private data what it wants
    typed: str = ""  # on the stdin of an honest client
    tcp: bool = False  # it takes its clients from a TCP port


WRONG = ("write-rkey", "write-beyond", "read-rkey", "read-beyond", "stale")
STAGES = {
    "ping-sr-0": Stage(ONE, ("-c", "200"), silence_s=SHORT_S, asks=False),
    "ping-sr-1": Stage(ONE, silence_s=SHORT_S),
    "ping-sr-2e": Stage(ONE, silence_s=SHORT_S),
    "ping-sr-2": Stage(),
    "ping-sr-3": Stage(),
    "ping-sr-4": Stage(),
    "ping-sr-5": Stage(),
    "ping-srq-4": Stage(),
    "blast-sr-2": Stage(client=("-c", "500", "-v")),
    "ping-rdma-1": Stage(reach=WRONG, silence_s=LONG_S),
    "ping-rdma-2": Stage(reach=WRONG, silence_s=LONG_S),
    "ping-rdma-3": Stage(reach=(*WRONG, "read"), silence_s=LONG_S),
    "blast-rdma-1": Stage(client=("-c", "500", "-v"), reach=(*WRONG, "read", "atomic"), silence_s=LONG_S),
    "pubsub-rdma-1": Stage(
        server=("--record", "1k"), client=("-s", "1k", "-c", "20", "-v"), reach=WRONG, silence_s=LONG_S
    ),
    "pubsub-rdma-2": Stage(server=("--record", "1k"), client=("-s", "1k", "-c", "20", "-v"), silence_s=LONG_S),
    "count-atomic-1": Stage(reach=("write", "read", "write-rkey"), silence_s=LONG_S, only_roce=True),
    "talk-rdma-0": Stage(ONE, client=(), silence_s=LONG_S, typed="a line\nand one more\n"),
    "ping-rc-0": Stage(ONE, ("-c", "200"), silence_s=SHORT_S, asks=False, only_roce=True, tcp=True),
}  # but ping-ep-0, which serves one client, whoever it is, and ends


@dataclass(frozen=True)
class Where:
    """The server that is besieged."""

    name: str
    transport: str  # "RoCE" or "iWARP"
    address: str
    port: int

    @property
    def stage(self) -> Stage:
        """What kind of server."""
        return STAGES[self.name]

    def crowd(self, way: str, count: int, window: int, size: int = SIZE, buffers: int = 4) -> list[str]:
        """A command of tests/crowd."""
        numbers = [str(n) for n in (self.port, count, window, size, buffers)]
        return ["build/tests/crowd", way, self.address, *numbers]

    def peer(self, *words: str) -> list[str]:
        """A command of tests/peer, of a client that ends in its time."""
        kind = ["--blast"] if self.name.startswith("blast-sr") else ["--stage", "1" if self.stage.asks else "0"]
        where = ["-a", self.address, "-p", str(self.port), "--timeout", "10"]
        return ["build/tests/peer", "--client", *kind, *where, "-s", str(SIZE), *words]

    def client(self, *words: str) -> list[str]:
        """A command of the stage's own client."""
        return [f"{folder(self.name)}/client", "-a", self.address, "-p", str(self.port), *words]


@dataclass(frozen=True)
class Way:
    """One kind of hostile client."""

    what: str
    command: Callable[[Where, Random], list[str]]
    # How it goes on after its first line, or at once: for how many seconds at most; and what ends it then.
    lasts_s: float = 0.0
    end: tuple[str, ...] = ()  # names of signals; none: the end of its stdin
    fits: Callable[[Where], bool] = field(default=lambda where: True)


def nonsense(where: Where, _: Random) -> list[str]:
    """Connect requests as fast as it can, with private data that nobody understands."""
    one = where.stage.serves == ONE
    return where.crowd("nonsense", 60 if one else 300, 4 if one else 16)


def silent(where: Where, rng: Random) -> list[str]:
    """Sound requests; once connected, not a word."""
    count = 1 if where.stage.serves == ONE else rng.randint(1, 4)
    return where.crowd("silent", count, count)


def half(where: Where, rng: Random) -> list[str]:
    """Handshakes that are never finished."""
    count = 1 if where.stage.serves == ONE else rng.randint(1, 4)
    return where.crowd("half", count, count)


def claims(where: Where, rng: Random) -> list[str]:
    """Much memory: more than there is for all, or some of what there is."""
    if rng.random() < 0.7:
        return where.crowd("silent", 4, 4, *rng.choice([(65536, 4096), (200 << 20, 4), (1 << 30, 1)]))
    return where.crowd("silent", 1, 1, *((65536, 128) if "blast" in where.name else (8 << 20, 4)))


def killed(where: Where, rng: Random) -> list[str]:
    """The stage's own client, which has much to do and does not come to its end."""
    if where.stage.typed:
        return where.client()
    options = [word for word in where.stage.client if word != "-v"]
    options[options.index("-c") + 1] = "1000000000"
    # A publisher has one size of records; ping-sr-0 and count-atomic-1 have no say in it.
    if "-s" not in options and not where.name.startswith(("ping-sr-0", "count")):
        options += ["-s", rng.choice(["64", "1000", "4k", "64k"])]
    return where.client(*options, "-q")


def dies_connecting(where: Where, _: Random) -> list[str]:
    """Clients that die after they have sent their requests."""
    return where.peer("--async", "--die-connecting", "--die-after", "0", "--rounds", "5")


def wrong_private(rng: Random) -> bytes:
    """Private data that is cut, or says what cannot be; or noise."""
    sound = [200, SIZE, 4]
    sound[rng.randrange(3)] = rng.choice([0, 1 << 31, 1 << 63, (1 << 64) - 1])
    data = struct.pack(">QQQ", *sound)
    if rng.random() < 0.5:
        data += struct.pack(">IHH", rng.choice([MAGIC, 1]), rng.randrange(4), rng.choice([0, 8, 32, 56, 65535]))
    if rng.random() < 0.3:
        data = data[: rng.randrange(len(data))]
    return data if rng.random() < 0.8 else rng.randbytes(rng.randint(0, MAX_PRIVATE))


def private(where: Where, rng: Random) -> list[str]:
    """Wrong private data."""
    return where.peer("-c", "10", "--raw-private", wrong_private(rng).hex())


def sizes(where: Where, rng: Random) -> list[str]:
    """Messages of another size than was announced, one message more, or no word of leaving."""
    wrong = [["--send-size", str(SIZE + 1)], ["--send-size", str(SIZE - 1)], ["--send-size", "1"],
             ["--one-more"], ["--exit-without-disconnect"], ["--leave-after", "5"]]  # fmt: skip
    return where.peer("-c", "100", *rng.choice(wrong))


def lines(where: Where, rng: Random) -> list[str]:
    """Nothing, noise, part of a line, or a whole line and nothing after it."""
    line = "0000:000011:000000:" + "0" * 20 + "ffffc0000201\\0"
    text = rng.choice(["", "nonsense" * 7, line[:20], line, line + "done\\0"])
    program = f"exec 3<>/dev/tcp/{where.address}/{where.port} && printf '{text}' >&3 && read -r -t $1"
    return ["bash", "-c", program, "-", f"{rng.random():.2f}"]


def leavers(where: Where, rng: Random) -> list[str]:
    """TCP connections that are reset as soon as they are there."""
    return ["tests/sieges/leaver", where.address, str(where.port), str(rng.randint(1, 30))]


def reaches(where: Where, rng: Random) -> list[str]:
    """Accesses to memory without the right to it."""
    return ["build/tests/trespass", where.address, rng.choice(where.stage.reach), "-p", str(where.port)]


WAYS = {
    "nonsense": Way("nonsense connect requests at full speed", nonsense, fits=lambda w: w.stage.asks),
    "silent": Way("connects and is silent", silent, 8, fits=lambda w: not w.stage.tcp),
    # soft-iWARP connects no id without a queue pair, which finishes its handshake by itself.
    "half": Way("half-made handshake", half, 4, fits=lambda w: w.transport == "RoCE" and not w.stage.tcp),
    "claims": Way("claim of much memory", claims, 4, fits=lambda w: w.stage.asks),
    "killed": Way("killed in mid-run", killed, 3, ("KILL", "KILL", "STOP", "INT", "TERM")),
    "dies": Way("killed while it connects", dies_connecting, fits=lambda w: not w.stage.tcp),
    "private": Way("wrong private data", private, fits=lambda w: w.stage.asks),
    "sizes": Way("wrong sizes", sizes, fits=lambda w: w.name.startswith(("ping-sr", "blast-sr"))),
    "lines": Way("wrong lines over TCP", lines, 1, fits=lambda w: w.stage.tcp),
    "leavers": Way("leaves before it is accepted", leavers, fits=lambda w: w.transport == "iWARP"),
    "reaches": Way("access without the right", reaches, fits=lambda w: bool(w.stage.reach)),
}


def ways_to(where: Where) -> dict[str, Way]:
    """Those that this server can meet."""
    return {name: way for name, way in WAYS.items() if way.fits(where)}
