# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Rows of what comes to both sides of a connection while something happens to the link of one: the simulated device answers them
here, and two machines with a driver elsewhere.

Contract: a row was seen with the drivers, by the commands that it has, except cut-2 of 6.12 and the address rows of soft-iWARP of
6.12. What comes is a set, since events and completions come in any order. It leaves out what a message that TCP takes says: nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SECONDS = 30  # time for which both sides watch
AT = "ibv_poll_cq:400"  # when it happens

PORT = {"port error", "the port is down", "port active", "the port is active"}
MOVED = {"GID table change", "a GID goes", "a GID comes"}
PAUSE = {"a message after a pause"}
RETRIES = {"transport retry counter exceeded"}
LEFT = {"RDMA_CM_EVENT_DISCONNECTED"}
FLUSH = {"Work Request Flushed Error"}
LOCAL = {"local QP operation error"}


@dataclass(frozen=True)
class Flap:
    """Something that happens to the host of one side."""

    name: str
    how: str  # the HOW of --fail
    apply: str  # in the lab: {net} is the network device, {address} that of the host
    hold_s: int
    undo: str
    side: str
    comes: dict[str, tuple[set[str], set[str]]]  # by the kind of the device: to the server, and to the client


LINK = ("ip link set {net} down", "ip link set {net} up")
CUT = ("tc qdisc add dev {net} root netem loss 100%", "tc qdisc del dev {net} root")
ADDRESS = ("ip addr del {address}/24 dev {net}", "ip addr add {address}/24 dev {net}")
NOBODY: set[str] = set()


def on(side: str, name: str, how: str, commands: tuple[str, str], hold_s: int, comes: dict[str, tuple[set[str], set[str]]]) -> Flap:
    return Flap(f"{name}-{side}", how, commands[0], hold_s, commands[1], side, comes)


TABLE = [
    on("server", "down-2", "PORT_DOWN=2s", LINK, 2, {
        "roce": (PORT | PAUSE, PAUSE), "roce-6.12": (PORT | PAUSE, PAUSE),
        "iwarp": (PORT | LEFT | FLUSH, LEFT), "iwarp-6.12": (PORT | PAUSE, NOBODY),
    }),
    # With a driver the failed messages come all the same: their host has kept the packets until it knew the hardware address again.
    on("server", "down-20", "PORT_DOWN=20s", LINK, 20, {"roce": (PORT, RETRIES), "roce-6.12": (PORT, RETRIES)}),
    on("client", "down-2", "PORT_DOWN=2s", LINK, 2, {
        "roce": (NOBODY, PORT | LOCAL), "roce-6.12": (NOBODY, PORT | FLUSH), "iwarp": (LEFT | FLUSH, PORT | LEFT),
    }),
    on("server", "move", "GID_MOVE=1s", ADDRESS, 1, {
        "roce": (MOVED | PAUSE, RETRIES), "roce-6.12": (MOVED | PAUSE, RETRIES),
        "iwarp": (PAUSE, NOBODY), "iwarp-6.12": (PAUSE, NOBODY),
    }),
    on("client", "move", "GID_MOVE=1s", ADDRESS, 1, {"roce": (NOBODY, MOVED | LOCAL), "roce-6.12": (NOBODY, MOVED | FLUSH)}),
    on("server", "cut-2", "SILENCE=2s", CUT, 2, {
        "roce": (PAUSE, PAUSE), "roce-6.12": (PAUSE, PAUSE), "iwarp": (PAUSE, NOBODY), "iwarp-6.12": (PAUSE, NOBODY),
    }),
]  # fmt: skip


def said(out: str, side: str, before_s: int = SECONDS) -> set[str]:
    """Returns what has come to a side, once it was connected; at the end, the other may have left."""
    found = re.findall(rf"^{side} +([\d.]+) s: (?!connected)(.*)$", out, re.MULTILINE)
    return {what for at_s, what in found if float(at_s) < before_s}
