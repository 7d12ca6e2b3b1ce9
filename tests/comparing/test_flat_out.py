# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/flat-out, with programs that are small scripts and figures that are made up."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
# A program that prints what it slept and, as the client, its mean.
SCRIPT = """#!/bin/sh
echo '{"count": 100, "round_trip_us": {"mean": %s}, "cq": {"sleeps": %s}}'
"""


class FlatOut(unittest.TestCase):
    """The command, as it is called."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def program(self, name: str, mean: float, client: int, server: int) -> str:
        """A folder with a client and a server."""
        folder = self.folder / name
        folder.mkdir()
        for role, slept in (("client", client), ("server", server)):
            (folder / role).write_text(SCRIPT % (mean, slept))
            (folder / role).chmod(0o755)
        return str(folder)

    def run_it(self, *programs: str) -> subprocess.CompletedProcess[str]:
        command = [str(TOP / "bench/flat-out"), "--rounds", "3", "--address", "192.0.2.1", *programs]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ))

    def test_the_side_that_slept_more_counts_and_the_first_program_is_the_measure(self) -> None:
        ended = self.run_it(self.program("polls", 20.0, 0, 0), self.program("spins", 25.0, 4, 5))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        lines = ended.stdout.splitlines()
        self.assertEqual(len(lines), 3 * 2 + 2)
        self.assertIn("25.0 to 25.0 us, median 25.0 (1.25 times the first's; median of the ratios 1.25)", lines[-1])
        self.assertIn("asleep 5 to 5 of 100, median 5; 3 runs with 5% or more asleep", lines[-1])
        self.assertIn("0 runs with 5% or more asleep", lines[-2])

    def test_just_under_the_limit_is_not_stuck(self) -> None:
        ended = self.run_it(self.program("spins", 25.0, 4, 4))
        self.assertIn("; 0 runs with 5% or more asleep", ended.stdout)

    def test_a_program_that_fails_ends_it(self) -> None:
        folder = self.program("fails", 20.0, 0, 0)
        Path(folder, "client").write_text("#!/bin/sh\nexit 1\n")
        ended = self.run_it(folder)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("round 1", ended.stderr)
