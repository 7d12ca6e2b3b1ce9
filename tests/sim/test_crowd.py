# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every server among clients of which several do wrong at once, drawn by a seed: an honest client that comes afterwards is
served, and nothing of the others is left.

Contract: what the server says is not looked at here, but that it is told to stop, ends with 0, and destroys what it had.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, TRANSPORTS, Run, again, simulate

LATER = ("build/tests/sim/programs later 300", "build/tests/sim/programs later 400")  # a pair that runs when all others are over
SEED = 3  # the seed in make check
FAULTS = ("", "", ":SIGTERM", ":WR_FLUSH_ERR", ":REM_OP_ERR", ":RNR_RETRY_EXC_ERR")  # errors of a call, or of the next completion
CLIENTS = 7
LEFT = 121
SIGPIPE = 128 + 13  # soft-iWARP raises it, and the independent program does not ignore it


@dataclass(frozen=True)
class Crowd:
    """A server, and its clients; {a} is its address."""

    server: str
    honest: str
    odd: str  # options that make the independent program such a client, or none
    ways: tuple[str, ...] = ()  # ways of odd clients, besides those of all crowds
    roce_only: bool = False
    most: int = 70  # the most clients that come, and leave, in one process


# Options of the independent program, for a kind of server. {n} is drawn.
ALL = "--die-after {n}|--leave-after {n}|--silent-after {n}|--async --die-connecting --die-after 0".split("|")
SENDS = ("--send-size 65", "--send-size 63", "--one-more", "--exit-without-disconnect", "--torn", "--greedy 9 --silent-after 0")
TELLS = tuple(f"--raw-private {data}" for data in ("0011", f"{20:016x}{1 << 31:016x}", f"{1 << 63:016x}{64:016x}"))
COUNTS = ("--count-off 1", "--short-by 1", "--silent-after 0")
REACHES = ("--reach write-rkey", "--reach read-beyond", "--reach stale", *COUNTS)


def stage(name: str, **how: object) -> Crowd:
    """A ping of the ladder, or one that is like it."""
    tells = "--stage 0" if name == "ping-sr-0" else "--stage 1"
    size, of_client = ("-c 20 -s 64", "-c 20 -s 64") if name == "ping-sr-0" else ("", "-c 20 -s 64")
    folder = f"beyond/{name}" if name == "ping-srq-4" else name
    ways = SENDS if name == "ping-sr-0" else SENDS + TELLS
    return Crowd(f"{folder}/server -q -n 0 --timeout 5 {size} -a {{a}}", f"{folder}/client -q -v -w 90 {of_client} -a {{a}}", tells, ways, **how)  # type: ignore[arg-type]


def beyond(name: str, wire: int, ways: tuple[str, ...], server: str = "", client: str = "-c 20 -s 64 -v", **how: object) -> Crowd:
    """The crowd of a one-sided stage."""
    return Crowd(f"beyond/{name}/server -q -n 0 --timeout 5 {server} -a {{a}}", f"beyond/{name}/client -q -w 90 {client} -a {{a}}",
                 f"--one-sided {wire}", ways, **how)  # type: ignore[arg-type]  # fmt: skip


def example(name: str, client: str = "", odd: str = "--stage 0") -> Crowd:
    """Returns a server of examples/, which takes any client. An echo_server serves one at a time, even a silent one."""
    folder = name.rpartition("/")[0]
    client = client or f"build/examples/{folder}/echo_client {{a}} 12321 20"
    most = 1 if "echo_server" in name else 252 if name == "srq_server" else 70  # srq_server serves 256 at a time
    return Crowd(f"build/examples/{name} {{a}}", client, odd, SENDS if odd else (), most=most)


CROWDS = {
    **{name: stage(name, most=8) for name in ("ping-sr-0", "ping-sr-1", "ping-sr-2e")},
    **{name: stage(name) for name in ("ping-sr-2", "ping-sr-3", "ping-sr-4", "ping-sr-5", "ping-srq-4")},
    "blast-sr-2": Crowd("blast-sr-2/server -q -n 0 --timeout 5 -a {a}", "blast-sr-2/client -q -v -w 90 -c 100 -a {a}", "--blast", TELLS),
    "ping-rdma-1": beyond("ping-rdma-1", 1, REACHES),
    "ping-rdma-2": beyond("ping-rdma-2", 1, REACHES),
    "ping-rdma-3": beyond("ping-rdma-3", 3, REACHES),
    "blast-rdma-1": beyond("blast-rdma-1", 1, REACHES),
    "count-atomic-1": beyond("count-atomic-1", 4, ("--reach write", *COUNTS), client="-c 20 -v --lock", roce_only=True),
    "pubsub-rdma-1": beyond("pubsub-rdma-1", 1, REACHES),
    "pubsub-rdma-2": beyond("pubsub-rdma-2", 1, COUNTS),
    **{name: example(name) for name in ("echo_server", "epoll_server", "srq_server", "plain/echo_server")},
    "store_server": example("store_server", "build/examples/store_client {a} try 2", ""),
}
MEMBERS = [
    pytest.param(crowd, options, id=f"{name}-{transport}")
    for name, crowd in CROWDS.items()
    for transport, options in TRANSPORTS.items()
    if not (crowd.roce_only and options)
]
each_server = pytest.mark.parametrize("crowd, transport", MEMBERS)


def draw(crowd: Crowd, rng: Random) -> list[str]:
    """Draws the clients. A third of them are honest, one is many."""
    peer = f"build/tests/peer --client {crowd.odd} -c 20 -s 64 --timeout 20 -a {{a}} "
    ways = [*ALL, *crowd.ways] if crowd.odd else []
    clients = [peer + rng.choice(ways).format(n=rng.randrange(19)) if ways and rng.random() < 0.7 else crowd.honest for _ in range(CLIENTS - 1)]
    clients.insert(rng.randrange(CLIENTS), again(crowd.most, "silent", 8))
    return clients


def play(crowd: Crowd, clients: list[str], *options: str) -> Run:
    """Runs the server, its clients, and honest ones when they are gone."""
    programs = [crowd.server, *clients, *(f"{later} {crowd.honest}".replace("-w 90", "") for later in LATER)]
    return simulate([program.format(a=ADDRESS).split() for program in programs], *options)


def check(run: Run, clients: list[str], honest: str) -> None:
    """Checks that all ended, and that only the independent program left what it had."""
    odd = [number for number, client in enumerate(clients, 1) if client != honest]
    left = {int(number) for number in re.findall(r"of program (\d+)", run.left)}
    assert run.exit not in {*OF_ITS_OWN} - {LEFT} and left <= {*odd}, run.why()
    assert {*run.statuses} <= {0, 1, 3, 4, 128 + 9, SIGPIPE}, run.why()


def endure(crowd: Crowd, transport: list[str], seed: int) -> None:
    """Once as it is; then something of the server fails at any call, or it is told to stop there. It ends, with 0 if it was
    told to, or goes on, and serves the next two, or one if what failed was the other's."""
    rng, seeded = Random(seed), [*transport, "--seed", str(seed)]
    clients = draw(crowd, rng)
    run = play(crowd, clients, *seeded)
    check(run, clients, crowd.honest)
    assert run.statuses[0] == 0 and run.told == [0] and not any(run.statuses[-2:]), run.why()
    # A client that nobody serves gives up after a while, on iWARP after 10 s: a server of one at a time may wait that long for two before it.
    assert crowd.most == 1 or (transport and crowd.most == 8) or not any(status for client, status in zip(clients, run.statuses[1:]) if client == crowd.honest), run.why()
    for how in rng.sample(FAULTS, 2):
        faulty = play(crowd, clients, *seeded, "--fail", f"0:{rng.randrange(20, run.calls[0])}{how}")
        check(faulty, clients, crowd.honest)
        assert not faulty.statuses[0] or how != ":SIGTERM" or "plain" in crowd.server, faulty.why()
        assert not all(faulty.statuses[-2:]) or 0 not in faulty.told, faulty.why()


@each_server
def test_the_next_is_served(crowd: Crowd, transport: list[str]) -> None:
    """Even the 301st client is served, if a server can refuse 300."""
    endure(crowd, transport, SEED)
    if TELLS[0] in crowd.ways:
        run = play(crowd, [again(300, "nonsense")], *transport)
        assert not any(run.statuses) and "300 refused" in run.out + run.err and run.told == [0], run.why()


@pytest.mark.long
@each_server
def test_the_next_is_served_whatever_the_seed(crowd: Crowd, transport: list[str]) -> None:
    for seed in range(1000, 1050):
        endure(crowd, transport, seed)
