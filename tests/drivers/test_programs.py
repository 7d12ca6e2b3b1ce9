# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests verbs-trace with programs of other projects: they end as they do without it, and no accusation is false.

Some accusations are true: see PERFTEST and QPERF.
"""

from __future__ import annotations

import signal
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tracing import ADDRESSES, LIMIT, TOOL, Ended, Server, records, trace

pytestmark = pytest.mark.long
DEVICES = {"RoCE": "rxe0", "iWARP": "siw0"}
GROUP = "239.1.1.1"
Kinds = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """Commands, in which A is the address, D the device and G a multicast group."""

    server: str
    client: str
    ready: str = ""  # a line of the server's trace once clients may come; without one, clients try until one is served
    left: tuple[Kinds, Kinds] = ((), ())  # kinds of objects that the server and the client leave, sorted


# Objects that perftest 4.5 leaves: the list of devices that it looks through, the context that it opens before the
# CM brings another, and the channel and id of the connection by which both sides exchange their data. Its
# traces have no call that would destroy these, and nor has its source.
PERFTEST = (("context", "device_list", "event_channel", "id"),) * 2
# The client of qperf 0.4.11 does not destroy the channel and the id that it looks for its device with, and
# deallocates its PD before the memory region of that is gone: the trace has the EBUSY. Its server leaves as
# much, but is ended by a signal.
QPERF = ((), ("event_channel", "id", "pd"))
PINGPONG = "-d D -g 1 -n 10"
BOTH = (
    Row("rping -s -a A -C 3", "rping -c -a A -C 3", "rdma_listen"),
    Row("ucmatose -b A", "ucmatose -s A", "rdma_listen"),
    Row("rdma_server -s A", "rdma_client -s A", "rdma_listen"),
    Row("qperf", "qperf A -t 1 -cm 1 rc_lat quit", "", QPERF),
    *(
        Row(f"{program} -R -d D -n 5", f"{program} -R -d D -n 5 A", "rdma_listen", PERFTEST)
        for program in ("ib_send_lat", "ib_write_bw", "ib_read_lat")
    ),
)
ROCE = (
    Row("udaddy -b A", "udaddy -s A", "rdma_listen"),
    Row("mckey -b A -m G", "mckey -s -b A -m G", "MULTICAST_JOIN"),
    *(
        Row(f"{program} {PINGPONG}", f"{program} {PINGPONG} localhost")
        for program in (
            *("ibv_rc_pingpong", "ibv_rc_pingpong -e", "ibv_rc_pingpong -N", "ibv_uc_pingpong"),
            *("ibv_ud_pingpong", "ibv_srq_pingpong"),
        )
    ),
)


class Programs(unittest.TestCase):
    """One test for each program and transport."""

    def both(self, row: Row, transport: str, told: list[Path]) -> tuple[int, str, Ended]:
        """Runs both sides, which are traced; a client that comes too early comes again."""
        names = {"A": ADDRESSES[transport], "D": DEVICES[transport], "G": GROUP}
        server, client = ([names.get(w, w) for w in side.split()] for side in (row.server, row.client))
        limited = ("timeout", "-k", "5", "-s", "INT", "50")
        other = Server(*limited, TOOL, "-j", "-q", "-f", "-o", told[0], *server)
        if row.ready:
            other.wait_for(row.ready, told[0])
        deadline = time.monotonic() + LIMIT
        while True:
            ended = trace("-j", "-q", "-f", "-o", told[1], *client)
            served = not ended.returncode or row.ready
            if served or other.process.poll() is not None or time.monotonic() > deadline:
                break
        if ended.returncode:
            other.process.send_signal(signal.SIGINT)
        return (*other.end(), ended)

    def check(self, row: Row, transport: str) -> None:
        """
        Both end well. perftest's client uses a freed id when it tries again after the server has refused
        it, which is a matter of which side is faster, and dies of that, traced or not: then both begin again.
        """
        for _ in range(5):
            with tempfile.TemporaryDirectory() as scratch:
                told = [Path(scratch, "server"), Path(scratch, "client")]
                status, said, ended = self.both(row, transport, told)
                lines = [records(path.read_text()) for path in told]
            died = ended.returncode == -signal.SIGSEGV and refused(lines[1])
            if not (died and row.left == PERFTEST):
                break
        self.assertEqual((status, ended.returncode), (0, 0), said[-300:] + ended.stdout[-200:] + ended.stderr[-300:])
        for side, left in zip(lines, row.left):
            self.assertGreater(len(side), 5)
            accused = sorted(r["text"].split()[0].rstrip("0123456789") for r in side if "accusation" in r)
            self.assertEqual(accused, list(left))


def refused(lines: list[dict[str, Any]]) -> bool:
    """Returns whether a connection was refused."""
    return any(
        r["call"] == "rdma_connect" and "error" in r or r["args"].get("what", {}).get("type") == "REJECTED"
        for r in lines
        if "args" in r
    )


def add(row: Row, transport: str) -> None:
    """Gives the class one more test."""

    def test(self: Programs) -> None:
        self.check(row, transport)

    name = "_".join(row.server.split()[: 2 if "pingpong" in row.server else 1])
    setattr(Programs, f"test_{name}_{transport}".replace("-", ""), test)


for a_transport in ADDRESSES:
    for a_row in BOTH + (ROCE if a_transport == "RoCE" else ()):
        add(a_row, a_transport)
