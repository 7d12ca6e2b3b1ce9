# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The stages under verbs-trace: they end as they do without it, get no accusation, and call the verbs in their tables.

These tables are in the READMEs. Both sides are traced. make check runs two of the stages, on one transport.
"""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path

import pytest

from tracer.tables import differences
from tools.folders import folder
from tracer.tracing import ADDRESSES, FIRST, TOOL, TOP, Server, records, trace

FEW = ("ping-sr-3", "ping-sr-4")
# Bare verbs find an address by its GID, and no GID of iWARP is one; and soft-iWARP has no atomic operations.
NOT_ON = {("iWARP", "ping-rc-0"), ("iWARP", "count-atomic-1")}


def stages() -> list[str]:
    """As the Makefile has them."""
    text = (TOP / "Makefile").read_text()
    match = re.search(r"^STAGES = ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    assert match
    return [*match[1].replace("\\", " ").split(), "ping-ep-0"]


class Stages(unittest.TestCase):
    """One test for each stage and transport."""

    def check(self, stage: str, transport: str) -> None:
        """A transfer of some messages."""
        address = ADDRESSES[transport]
        with tempfile.TemporaryDirectory() as scratch:
            told = [Path(scratch, side) for side in ("server", "client")]
            limited = ("timeout", "-k", "5", "50", TOOL, "-j", "-o", told[0])
            server = Server(*limited, f"{folder(stage)}/server", "-a", address, "-c", "20")
            server.wait_for("ibv_query_gid" if stage == "ping-rc-0" else "rdma_listen", told[0])
            client = trace("-j", "-o", told[1], f"{folder(stage)}/client", "-a", address, "-c", "20")
            status, said = server.end()
            self.assertEqual((status, client.returncode), (0, 0), said[-300:] + client.stderr[-300:])
            called: set[str] = set()
            for path in told:
                lines = records(path.read_text())
                called |= {record["call"] for record in lines if "call" in record}
                self.assertGreater(len(lines), 5)
                self.assertEqual([r["text"] for r in lines if "accusation" in r], [])
            if transport == "RoCE":
                self.assertEqual(differences(stage, called), [])


def add(stage: str, transport: str) -> None:
    """Gives the class one more test."""

    def test(self: Stages) -> None:
        self.check(stage, transport)

    few = stage in FEW and transport == FIRST
    setattr(Stages, f"test_{stage}_{transport}".replace("-", "_"), test if few else pytest.mark.long(test))


for a_stage in stages():
    for a_transport in ADDRESSES:
        if (a_transport, a_stage) not in NOT_ON:
            add(a_stage, a_transport)
