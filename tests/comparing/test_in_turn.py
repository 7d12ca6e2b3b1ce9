# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/in-turn, with programs that are small scripts and figures that are made up."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
# A program that notes how it was called, and prints what it slept and, as the client, its times.
SCRIPT = """#!/bin/sh
echo "${0##*/} $FROM_ENV $*" >>"${0%%/*}/calls"
echo '{"count": 100, "seconds": 0.003, "round_trip_us": {"mean": %s, "p50": 19.5}, "cq": {"sleeps": %s}}'
"""
PLAIN_SERVER = """#!/bin/sh
echo "$0: listening" >&2
exec sleep 1000
"""
PLAIN_CLIENT = """#!/bin/sh
echo "$3 messages of $4 bytes, there and back in 30.0 us each"
"""


class InTurn(unittest.TestCase):
    """Returns the command, as it is called."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def script(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def program(self, name: str, mean: float, client: int, server: int) -> str:
        """A folder with a client and a server."""
        for role, slept in (("client", client), ("server", server)):
            self.script(f"{name}/{role}", SCRIPT % (mean, slept))
        return str(self.folder / name)

    def plain(self, server: str = PLAIN_SERVER) -> str:
        """Two programs that print no JSON."""
        self.script("echo_server", server)
        self.script("echo_client", PLAIN_CLIENT)
        return str(self.folder / "echo_{role}")

    def run_it(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(TOP / "bench/in-turn"), "--rounds", "3", "--address", "192.0.2.1", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ))

    def test_the_side_that_slept_more_counts_and_the_first_program_is_the_measure(self) -> None:
        ended = self.run_it(self.program("polls", 20.0, 0, 0), self.program("spins", 25.0, 4, 5))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        lines = ended.stdout.splitlines()
        self.assertEqual(len(lines), 3 * 2 + 2)
        self.assertIn("mean 25.0 to 25.0 us, median 25.0 (1.25 times the first's; median of the ratios 1.250", lines[-1])
        self.assertIn("asleep 5 to 5 of 100, median 5; 3 runs with 5% or more asleep", lines[-1])
        self.assertIn("0 runs with 5% or more asleep", lines[-2])
        self.assertEqual(sum("STUCK" in line for line in lines), 3)

    def test_the_second_round_reverses_the_first(self) -> None:
        ended = self.run_it(*(self.program(name, 20.0, 0, 0) for name in ("one", "two", "three")))
        runs = [line.split()[3] for line in ended.stdout.splitlines()[: 2 * 3]]
        self.assertEqual(runs[:3], runs[:2:-1])

    def test_just_under_the_limit_is_not_stuck(self) -> None:
        ended = self.run_it(self.program("spins", 25.0, 4, 4))
        self.assertIn("; 0 runs with 5% or more asleep", ended.stdout)

    def test_a_program_that_fails_ends_it(self) -> None:
        folder = self.program("fails", 20.0, 0, 0)
        self.script("fails/client", "#!/bin/sh\nexit 1\n")
        for pair in (folder, f"{folder}/not-there"):
            ended = self.run_it(pair)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("round 1", ended.stderr)

    def test_words_before_and_after_the_folder_are_for_both_sides(self) -> None:
        folder = self.program("polls", 20.0, 0, 0)
        ended = self.run_it("--messages", "50", f"env FROM_ENV=here {folder} --more words")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        calls = sorted(Path(folder, "calls").read_text().splitlines())
        self.assertRegex(calls[0], r"^client here -q -j -a 192.0.2.1 -p \d+ -c 50 -w 10 --more words$")
        self.assertRegex(calls[-1], r"^server here -q -j -a 192.0.2.1 -p \d+ -c 50 --more words$")

    def test_programs_without_json_are_compared_by_the_whole_run(self) -> None:
        ended = self.run_it("--figure", "each", self.program("polls", 20.0, 0, 0), self.plain())
        self.assertEqual(ended.returncode, 0, ended.stderr)
        stage, plain = ended.stdout.splitlines()[-2:]
        self.assertIn("each 30.0 to 30.0 us, median 30.0; waits asleep", stage)
        self.assertIn("each 30.0 to 30.0 us, median 30.0 (1.00 times the first's", plain)
        self.assertNotIn("asleep", plain)

    def test_a_figure_that_a_program_does_not_have_ends_it(self) -> None:
        ended = self.run_it("--figure", "p50", self.plain())
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, r"^round 1: .*'p50'\n$")

    def test_several_figures_share_a_line(self) -> None:
        ended = self.run_it("--figure", "p50", "--figure", "mean", self.program("polls", 20.0, 0, 0))
        self.assertIn("p50 19.5 to 19.5 us, median 19.5; mean 20.0 to 20.0 us", ended.stdout.splitlines()[-1])

    def test_a_server_that_does_not_listen_ends_it(self) -> None:
        ended = self.run_it(self.plain("#!/bin/sh\nexit 1\n"))
        self.assertEqual(ended.returncode, 1)
        self.assertIn("does not listen", ended.stderr)
