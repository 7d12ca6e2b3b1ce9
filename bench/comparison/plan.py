# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The plan of a measurement: groups of points, and how many of them with --quick, by default, and with --full.

Place: below measure.py. Contract: samples of the same Point are comparable; a plan has each point once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .busy import HELPS
from .ways import EVERY_WAY, NINE, PARTS, WAYS

IDLE = 1  # messages a second, the lowest value of --rate: almost nothing is sent
LOADS = (IDLE, 10, 100, 1000, 3000, 10000, 0)


@dataclass(frozen=True, order=True)
class Point:
    """A way to wait, and the offered load; 0 means no limit."""

    way: str
    load: int = 0
    size: int = 64
    clients: int = 1
    workers: float = 0.0  # beside it, for each CPU
    helped: str = ""  # by what: busy.HELPS

    @property
    def name(self) -> str:
        """A text such as 'ping-sr-3 at 1000/s, 4 KiB, 16 clients'."""
        text = self.way
        if self.load:
            text += f" at {self.load}/s" if self.load != IDLE else " idle"
        if self.size != 64:
            text += f", {size_name(self.size)}"
        text += f", {self.clients} clients" if self.clients > 1 else ""
        text += f", {self.workers:g} workers a CPU" if self.workers else ""
        return f"{text}, {self.helped}" if self.helped else text


def size_name(size: int) -> str:
    """A size with its unit: 4096 is 4 KiB."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


@dataclass(frozen=True)
class Plan:
    """Points, seconds of a window, rounds at least and at most, minutes for all of it."""

    points: tuple[Point, ...]
    window: float
    least: int
    most: int
    minutes: float


def grid(ways: list[str], loads: tuple[int, ...], size: int = 64, clients: int = 1) -> list[Point]:
    """Each way at each load; a way that cannot send at a given rate only at load 0."""
    return [Point(way, load, size, clients) for way in ways for load in loads if not load or WAYS[way].has_rate]


LADDER = ["ping-sr-2", "ping-sr-3", "ping-sr-4", "ping-sr-5"]
ONE_SIDED = ["ping-rdma-1", "ping-rdma-2", "ping-rdma-3"]
PEERS = ["ib_send_lat", "ib_send_lat -e", "ib_write_lat", "ib_read_lat", "ibv_rc_pingpong", "ibv_rc_pingpong -e", "qperf"]
TCP = ["tcp polling", "tcp sleeping"]
SPINS = ["ping-sr-5 spin 20", "ping-sr-5 spin 100", "ping-sr-5 spin 500"]
STREAMS = ["blast-sr-2", "blast-sr-2 -v", "ib_send_bw", "blast-rdma-1", "ib_write_bw", "blast-rdma-1 --read", "ib_read_bw"]
TOGETHER = 4  # connections that sleep, and share the load of one that polls
LOADED = (10, 1000, 3000, 0)  # loads of ways beside workers
EVERY = [f"ways {name}" for name in EVERY_WAY]
MT = ["each polls", "one polls"]
ATOMIC = grid(["count-atomic-1", "ib_atomic_lat"], (0,), 8)

GROUPS: dict[str, list[Point]] = {
    "sweep": grid(LADDER, LOADS),
    "one-sided": grid(ONE_SIDED, (IDLE, 1000, 0)),
    "spin": grid(SPINS, (1000, 3000, 0)),
    "nine": grid([way.name for way in NINE], (IDLE, 1000, 0)),
    "ways": grid(EVERY, LOADED),
    "busy": [replace(point, workers=n) for n in (0.0, 0.5, 1.0, 2.0) for point in grid(EVERY, LOADED)],
    "helps": [replace(point, workers=1.0, helped=how) for how in ("", *HELPS) for point in grid(
        ["ways poll", "ways backoff", "ways channel"], (1000, 0))] + [Point(way, workers=1.0) for way in MT],
    "peers": grid(PEERS, (0,)) + grid(TCP, (1000, 0)),
    "round-trip": grid(["ping-sr-0", "ping-sr-1", *LADDER[:3], *PEERS[:2]], (0,)),
    "sizes": [point for size in (4096, 65536, 1 << 20) for point in grid(["ping-sr-2", "ping-sr-3", "tcp sleeping"], (0,), size)],
    "crowd": [point for n in (1, 4, 16, 64) for point in grid(["ping-sr-4"], (0,), 64, n)],
    "together": [point for load in (2000, 4000, 6000, 8000) for point in (
        Point("ping-sr-2", load), Point("ping-sr-3", load // TOGETHER, 64, TOGETHER))],
    "stream": [point for size in (4096, 65536) for point in grid(STREAMS, (0,), size)],
    "parts": [point for size in (64, 4096) for point in grid([f"blast-sr-2 {name}" for name in PARTS], (0,), size)],
    "atomic": ATOMIC,
    "bare": grid(["ping-rc-0", "ibv_rc_pingpong", "ping-rc-0-events", "ibv_rc_pingpong -e"], (0,)),
}  # fmt: skip
# The groups of --full: whole curves of all ways, more sizes, and many clients for each stage that serves several.
CROWDS = ["ping-sr-2", "ping-sr-3", "ping-sr-4", "ping-sr-5", "ping-srq-4"]
FULL: dict[str, list[Point]] = {
    **GROUPS,
    "one-sided": grid(ONE_SIDED, LOADS),
    "spin": grid(SPINS, LOADS),
    "nine": grid([way.name for way in NINE], LOADS),
    "peers": grid(PEERS, (0,)) + grid(TCP, LOADS),
    "sizes": [point for size in (64, 4096, 65536, 1 << 20) for point in grid([*LADDER, *ONE_SIDED, *PEERS[:4], *TCP], (0,), size)],
    "crowd": [point for n in (1, 4, 16, 64) for point in grid(CROWDS, (0,), 64, n)],
    "stream": [point for size in (64, 4096, 65536, 1 << 20) for point in grid(STREAMS, (0,), size)],
}  # fmt: skip
QUICK = grid(["ping-sr-2", "ping-sr-3", "ping-sr-5"], (IDLE, 100, 1000, 5000, 0)) + grid(
    ["ib_send_lat", "ib_send_lat -e", "tcp polling", "tcp sleeping"], (0,)
)
DEFAULT = ("sweep", "one-sided", "peers", "bare")


def choose(quick: bool, full: bool, only: list[str]) -> Plan:
    """The plan for the options. A ValueError names an unknown comparison or program."""
    for name in only:
        if name not in GROUPS and name not in WAYS:
            raise ValueError(f"--only {name}: no such comparison or program")
    known = FULL if full else GROUPS
    if quick:
        points, numbers = QUICK, (0.7, 3, 6, 1.8)
    elif full:
        points, numbers = [point for group in known.values() for point in group], (2.0, 5, 25, 240.0)
    else:
        points, numbers = [point for name in DEFAULT for point in GROUPS[name]], (1.0, 3, 15, 10.0)
    groups = [name for name in only if name in known]
    if groups:
        points = [point for name in groups for point in known[name]]
    ways = [name for name in only if name in WAYS]
    if ways:
        points = [point for point in points if point.way in ways]
    if not points:
        raise ValueError("none of these programs is in the comparison: name its group, too")
    once = tuple(dict.fromkeys(points))  # in their order
    return Plan(once, numbers[0], int(numbers[1]), int(numbers[2]), numbers[3])
