# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs that can be compared: how each waits, and its command lines.

Place: below plan.py and runner.py. Contract: a Way is one pair of programs with its options; commands() makes their
command lines. If programs of a way are not installed, missing() names them, and the way is left out. What a stage is like it
says itself (--describe), so the stages have to be built.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from tools.folders import folder
from tools.stages import facts

POLLS, SLEEPS, BOTH, ONE_SIDED = "polls", "sleeps", "polls, then sleeps", "one-sided"
MANY = 1_000_000_000  # messages: practically without end
HOUR_S = 3600  # seconds: practically without end
EVENTS = "ping-rc-0-events"  # ping-rc-0 with a completion channel
UNTOLD = [*(name for name, said in facts().items() if not said["negotiates"]), EVENTS]  # options for the number of messages
# Their servers wait for what a client has announced, even if it leaves: it announces a time, and no number.
UNHEARD = [name for name, said in facts().items() if said["negotiates"] and not said["notices_death"]]


@dataclass(frozen=True)
class Way:
    """One way to wait. program is a folder with client and server, or a command of another project."""

    name: str
    waits: str
    program: str
    family: str = "ours"
    options: tuple[str, ...] = ()
    client_options: tuple[str, ...] = ()
    server_options: tuple[str, ...] = ()
    stream: bool = False
    roce_only: bool = False
    sized: bool = True  # None: it has only one size, and no option for it

    def missing(self) -> str:
        """The programs that are not installed; empty if all are."""
        if self.family == "ours":
            gone = [role for role in ("client", "server") if not os.access(f"{self.program}/{role}", os.X_OK)]
            if not gone and "io_uring" in self.options and b"liburing" not in Path(f"{self.program}/client").read_bytes():
                return "it was built without liburing"
            return f"{self.program}/{gone[0]} is not built" if gone else ""
        if self.family == "threads":
            return "" if os.access(f"{self.program}/client", os.X_OK) else f"{self.program}/client is not built"
        if shutil.which(self.program) is None:
            return f"{self.program} is not there"
        return ""

    @property
    def has_rate(self) -> bool:
        """Returns whether it can send at a given rate."""
        return self.family in ("ours", "tcp")

    @property
    def unheard(self) -> bool:
        """Returns whether its server does not hear of a client that ends early; see UNHEARD."""
        return self.name in UNHEARD or self.name.startswith("nine-none-")

    @property
    def ends_by_signal(self) -> bool:
        """Returns whether client and server end with their statistics when the client is told to stop."""
        return self.family == "tcp" or (self.family == "ours" and self.name not in UNTOLD)


@dataclass(frozen=True)
class Wish:
    """The parameters of a run. rate 0: no limit; count is for programs that cannot be told to stop."""

    address: str
    port: int
    device: str
    gid: str
    rate: int
    size: int
    clients: int
    count: int
    seconds: float
    depth: int = 16
    until: int = 0  # seconds; 0: until it is told to stop


def ours(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """Our own stages. If the server is not told how many messages there will be, both sides get the same count."""
    messages = round(wish.rate * (wish.seconds + (0 if wish.until else 2))) if wish.rate else MANY
    if way.name in UNTOLD:
        messages = max(2, round(wish.rate * wish.seconds)) if wish.rate else wish.count
    size = ["-s", str(wish.size)] if way.sized else []
    both = ["-q", "-j", "-a", wish.address, "-p", str(wish.port), *size, *way.options]
    server = [f"{way.program}/server", *both, *way.server_options]
    client = [f"{way.program}/client", *both, *way.client_options]
    if not way.unheard:
        client += ["-c", str(max(2, messages))]
    if way.name in UNTOLD:
        server += ["-c", str(messages)]
    else:
        server += ["-n", str(wish.clients)]
        client += ["-w", "10"]
    if wish.until or way.unheard:
        client += ["-D", str(wish.until or HOUR_S)]
    if way.stream:
        client += ["-b", str(wish.depth)]
    if wish.rate:
        client += ["--rate", str(wish.rate)]
    return server, client


def perftest(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """perftest, with the CM as in our programs."""
    device = ["-d", wish.device] if wish.device else []
    size = ["-s", str(wish.size)] if way.sized else []
    common = [way.program, "-F", "-R", *device, "-p", str(wish.port), *size, *way.options]
    common += ["-n", str(wish.count)]
    if way.stream:
        common += ["-t", str(wish.depth)] + (["-r", str(wish.depth)] if "send" in way.program else [])
    return common, [*common, wish.address]


def pingpong(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """ibv_rc_pingpong, which does not use the CM."""
    common = [way.program, "-d", wish.device, "-g", wish.gid, "-n", str(wish.count)]
    common += ["-s", str(wish.size), "-p", str(wish.port), *way.options]
    return common, [*common, wish.address]


def qperf(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """qperf, whose server needs no options for the test."""
    listen = ["-lp", str(wish.port)]
    test = ["-t", str(max(1, round(wish.seconds))), "-m", str(wish.size), *way.options]
    return [way.program, *listen], [way.program, wish.address, *listen, *test]


def tcp(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """The same pattern over TCP: bench/tcp_ping.c."""
    common = [way.program, *way.options]
    place = [wish.address, str(wish.port), str(wish.size)]
    return [*common, "server", *place], [*common, "client", *place, str(wish.rate)]


def threads(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """Four threads of ping-mt-4, each with a connection. Its port is fixed, and its server ends by a signal."""
    return ["build/examples/store_server", wish.address], [f"{way.program}/client", wish.address, *way.options, str(wish.count)]


FAMILIES = {"threads": threads, "ours": ours, "perftest": perftest, "pingpong": pingpong, "qperf": qperf, "tcp": tcp}


def commands(way: Way, wish: Wish) -> tuple[list[str], list[str]]:
    """The server's command and the client's."""
    return FAMILIES[way.family](way, wish)


def stage(name: str, *options: str, called: str = "", sized: bool = True) -> Way:
    """A stage, under its own name or another."""
    said = facts()[name]
    spins = said["completions"].startswith("spinning")
    waits = ONE_SIDED if said["one_sided"] else BOTH if spins else SLEEPS if said["sleeps"] else POLLS
    return Way(called or name, waits, folder(name), "ours", options, stream=said["one_way"], roce_only=said["roce_only"], sized=sized)


NINE_WAITS = {"none": POLLS, "channel": SLEEPS, "nonblocking": SLEEPS}
NINE = [
    Way(f"nine-{cm}-{completions}", NINE_WAITS[completions], f"build/nine/{cm}-{completions}")
    for cm in NINE_WAITS
    for completions in NINE_WAITS
]
TCP = "build/bench/tcp_ping"
EVERY_WAY = {"poll": POLLS, "yield": POLLS, "nap": BOTH, "backoff": BOTH, "spin": BOTH, "channel": SLEEPS,
             "nonblocking": SLEEPS, "io_uring": SLEEPS, "event": SLEEPS}  # --completions  # fmt: skip
PARTS = {"none": "111", "chaining": "011", "signaling": "101", "credits": "110", "all": "000"}


def blast_part(name: str, off: str, depth: int = 16) -> Way:
    """blast-sr-2 without some of its optimizations: chains, selective signaling, credit batches."""
    client = ["--chain", "1"] if off[0] == "1" else []
    client += ["--signal-every", "1" if off[1] == "1" else str((depth + 3) // 4)]
    server = (["--chain", "1"] if off[0] == "1" else []) + (["--credit-batch", "1"] if off[2] == "1" else [])
    return replace(stage("blast-sr-2", called=f"blast-sr-2 {name}"), client_options=tuple(client), server_options=tuple(server))


WAYS = {
    way.name: way
    for way in [
        *(stage(f"ping-sr-{n}") for n in ("0", "1", "2e", "2", "3", "4", "5")),
        stage("ping-srq-4"),
        *(stage("ping-sr-5", "--spin", us, called=f"ping-sr-5 spin {us}") for us in ("20", "100", "500")),
        *NINE,
        *(Way(f"ways {name}", waits, "build/ways", "ours", ("--completions", name)) for name, waits in EVERY_WAY.items()),
        Way("each polls", POLLS, "build/beyond/ping-mt-4", "threads", ("nothing", "4")),
        Way("one polls", BOTH, "build/beyond/ping-mt-4", "threads", ("poller", "4")),
        *(stage(f"ping-rdma-{n}") for n in "123"),
        stage("ping-rc-0"),
        replace(stage("ping-rc-0", called=EVENTS), waits=SLEEPS, program=f"build/{EVENTS}"),
        stage("blast-sr-2"),
        stage("blast-sr-2", "-v", called="blast-sr-2 -v"),
        stage("blast-rdma-1"),
        stage("blast-rdma-1", "--read", "--depth", "16", called="blast-rdma-1 --read"),
        stage("count-atomic-1", sized=False),
        *(blast_part(name, off) for name, off in PARTS.items()),
        Way("ib_send_lat", POLLS, "ib_send_lat", "perftest"),
        Way("ib_send_lat -e", SLEEPS, "ib_send_lat", "perftest", ("-e",)),
        Way("ib_write_lat", ONE_SIDED, "ib_write_lat", "perftest"),
        Way("ib_read_lat", ONE_SIDED, "ib_read_lat", "perftest"),
        Way("ib_atomic_lat", ONE_SIDED, "ib_atomic_lat", "perftest", roce_only=True, sized=False),
        Way("ib_send_bw", POLLS, "ib_send_bw", "perftest", stream=True),
        Way("ib_write_bw", ONE_SIDED, "ib_write_bw", "perftest", stream=True),
        Way("ib_read_bw", ONE_SIDED, "ib_read_bw", "perftest", stream=True),
        Way("ibv_rc_pingpong", POLLS, "ibv_rc_pingpong", "pingpong", roce_only=True),
        Way("ibv_rc_pingpong -e", SLEEPS, "ibv_rc_pingpong", "pingpong", ("-e",), roce_only=True),
        Way("qperf", POLLS, "qperf", "qperf", ("-cm1", "-cp1", "rc_lat")),
        Way("tcp polling", POLLS, TCP, "tcp", ("poll",)),
        Way("tcp sleeping", SLEEPS, TCP, "tcp", ("sleep",)),
    ]
}
