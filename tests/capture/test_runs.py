# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`make capture` over real drivers: two hosts of the lab for each test."""

import subprocess
import unittest
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 240


def capture(stage: str, options: str) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    command = ["make", "--silent", "capture", f"STAGE={stage}", f"CAPTURE={options}"]
    return subprocess.run(
        command, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
    )


class Runs(unittest.TestCase):
    def check(self, stage: str, options: str, order: list[str]) -> None:
        """That the ladder shows all of these, one after the other."""
        result = capture(stage, options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        at = 0
        for text in order:
            found = result.stdout.find(text, at)
            self.assertGreaterEqual(found, 0, f"{text} does not come, or not in its order: {result.stdout}")
            at = found + 1

    def test_roce(self) -> None:
        talk = ["SEND Only, 64 bytes, PSN 0 -", "ACK, MSN 1", "- SEND Only, 64 bytes, PSN 0\n"]
        talk += ["SEND Only, 64 bytes, PSN 1 -", "- SEND Only, 64 bytes, PSN 1\n"]
        order = ["REQ: ", "count 2, size 64; OUR1", "- REP: ", "RTU -", *talk, "DREQ -", "- DREP"]
        self.check("ping-sr-1", "-c 2", order)

    def test_iwarp(self) -> None:
        order = ["MPA Request", "count 1, size 64; OUR1", "- MPA Reply", "RDMAP WRITE, 64 bytes", "READ REQUEST"]
        self.check("ping-rdma-1", "--iwarp -c 1", [*order, "READ RESPONSE, 64 bytes", "TCP FIN"])

    def test_a_failure(self) -> None:
        result = capture("ping-sr-1", "-s 65 -- --max-size 64 :::")
        self.assertEqual(result.returncode, 2)  # make's
        self.assertIn("reason 3, ", result.stdout)
        self.assertIn("make capture: ping-sr-1 has failed (exit status 1)", result.stderr)
