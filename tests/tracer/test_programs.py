# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace on programs of other projects: they end as they do without it, and no accusation is false.

What perftest and qperf are accused of was checked in their traces: they leave these objects at exit.
"""

from __future__ import annotations

import os
import unittest

from tracing import ADDRESSES, TOOL, Server, accusations, trace

DEVICES = {"RoCE": "rxe0", "iWARP": "siw0"}
# Program, the server's arguments, the client's; A is the address, D the device.
BOTH = (
    ("rping", "-s -a A -C 3", "-c -a A -C 3"),
    ("ucmatose", "-b A", "-s A"),
    ("ib_send_lat", "-R -d D -n 5", "-R -d D -n 5 A"),
    ("ib_write_bw", "-R -d D -n 5", "-R -d D -n 5 A"),
    ("ib_read_lat", "-R -d D -n 5", "-R -d D -n 5 A"),
)
ROCE = (
    ("udaddy", "-b A", "-s A"),
    ("ibv_rc_pingpong", "-d D -g 1 -n 10", "-d D -g 1 -n 10 localhost"),
    ("ibv_rc_pingpong", "-e -d D -g 1 -n 10", "-e -d D -g 1 -n 10 localhost"),
    ("ibv_rc_pingpong", "-N -d D -g 1 -n 10", "-N -d D -g 1 -n 10 localhost"),
    ("ibv_uc_pingpong", "-d D -g 1 -n 10", "-d D -g 1 -n 10 localhost"),
    ("ibv_ud_pingpong", "-d D -g 1 -n 10", "-d D -g 1 -n 10 localhost"),
    ("ibv_srq_pingpong", "-d D -g 1 -n 10", "-d D -g 1 -n 10 localhost"),
)
LEAVE_OBJECTS = ("ib_send_lat", "ib_write_bw", "ib_read_lat")


class Programs(unittest.TestCase):
    """One test for each program and transport."""

    def check(self, program: str, server: str, client: str, transport: str) -> None:
        """Both sides are traced; a client that comes too early comes again."""
        names = {"A": ADDRESSES[transport], "D": DEVICES[transport]}
        words = [[names.get(w, w) for w in side.split()] for side in (server, client)]
        other = Server("timeout", "-s", "INT", "50", TOOL, "-j", "-q", program, *words[0])
        for _ in range(10):
            ended = trace("-j", "-q", program, *words[1])
            if not ended.returncode or other.process.poll() is not None:
                break
        status, said = other.end()
        self.assertEqual((status, ended.returncode), (0, 0), said[-300:] + ended.stderr[-300:])
        lines = "\n".join(x for x in said.splitlines() if x.startswith("{"))
        allowed = {"leak"} if program in LEAVE_OBJECTS else set()
        self.assertLessEqual(set(accusations(lines)), allowed)
        mine = "\n".join(x for x in ended.stderr.splitlines() if x.startswith("{"))
        self.assertLessEqual(set(accusations(mine)), allowed)


def add(row: tuple[str, str, str], number: int, transport: str) -> None:
    """Gives the class one more test."""

    def test(self: Programs) -> None:
        self.check(*row, transport)

    setattr(Programs, f"test_{row[0]}_{number}_{transport}", test)


if os.environ.get("TESTS_ALL") == "1":
    for a_transport in ADDRESSES:
        for a_number, a_row in enumerate(BOTH + (ROCE if a_transport == "RoCE" else ())):
            add(a_row, a_number, a_transport)
