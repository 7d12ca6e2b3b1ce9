# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/fabric as a program, with a launcher that starts nothing (fake_launcher): hosts that are slow,
dead, die, hang or fail, an interrupt, and --resume after it."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

import pytest

from bench.comparison import store
from bench.comparison.store import Results

pytestmark = pytest.mark.long

TOP = Path(__file__).resolve().parent.parent.parent
LIMIT = 120  # seconds, for a run


class Runs(unittest.TestCase):
    """Each has a fabric of its own."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state = self.folder / "state"
        self.state.mkdir()
        self.out = self.folder / "out"
        self.assertTrue(os.access(TOP / "ping-sr-2/client", os.X_OK), "build first: make all")

    def command(self, number: int, *options: str) -> list[str]:
        """For this many hosts, from n1 on."""
        file = self.folder / "hosts"
        file.write_text("".join(f"n{n} 192.0.2.{n}\n" for n in range(1, number + 1)))
        launch = f"{TOP / 'tests/comparing/fake_launcher'} {{host}}"
        fixed = ["--hosts", str(file), "--launch", launch, "--folder", str(self.out), "--program", "ping-sr-2", "--seconds", "0.5"]
        return [sys.executable, "-B", str(TOP / "bench/fabric"), *fixed, *options]

    def environment(self) -> dict[str, str]:
        """What the launcher reads."""
        return {**os.environ, "FAKE_FABRIC": str(self.state)}

    def run_it(self, number: int, *options: str) -> subprocess.CompletedProcess[str]:
        """To its end."""
        command = self.command(number, *options)
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=self.environment(), check=False)

    def results(self) -> Results:
        """What is in its file."""
        return store.load(self.out / "results.json")

    def wrong(self, *names: str) -> None:
        """Makes files for the launcher."""
        for name in names:
            (self.state / name).touch()

    def met(self, results: Results) -> Counter[frozenset[str]]:
        """How often each pair was measured."""
        return Counter(frozenset(one.link.split(">")) for one in results.samples)

    def pairs(self, hosts: set[str]) -> set[frozenset[str]]:
        """All of them."""
        return {frozenset(pair) for pair in itertools.combinations(hosts, 2)}

    def test_a_slow_host_is_named_and_no_host_is_in_two_pairs_at_once(self) -> None:
        self.wrong("slow-n3")
        ended = self.run_it(6, "--rounds", "2")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("n3 (5 of its 5 pairs): round trip", ended.stdout)
        self.assertIn("n3 (5 of its 5 pairs)", (self.out / "index.html").read_text())
        self.assertFalse((self.state / "overlap").exists())
        self.assertEqual(set(self.met(self.results()).values()), {2})
        self.assertEqual(len(self.met(self.results())), 15)
        self.assertTrue(list(self.out.glob("*.svg")))

    def test_a_dead_host_is_named_and_all_others_are_measured(self) -> None:
        self.wrong("dead-n2")
        ended = self.run_it(5, "--rounds", "1")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("n2 does not answer: exit status 255: ssh: connect to host n2 port 22: No route to host", ended.stdout)
        self.assertEqual(set(self.met(self.results())), self.pairs({"n1", "n3", "n4", "n5"}))
        self.assertNotIn("n2 ", (self.state / "calls").read_text())

    def test_a_host_that_dies_in_mid_run_is_named_and_the_others_go_on(self) -> None:
        self.wrong("dies-n2")
        ended = self.run_it(5, "--rounds", "1")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("n2 does not answer", ended.stdout)
        self.assertNotIn("failed 1 times", ended.stdout)
        self.assertEqual(set(self.met(self.results())), self.pairs({"n1", "n3", "n4", "n5"}))
        self.assertEqual(Counter(line.split()[0] for line in (self.state / "calls").read_text().splitlines())["n2"], 1)

    def test_a_host_that_answers_and_cannot_is_left_out_after_three_pairs(self) -> None:
        self.wrong("fails-n2")
        ended = self.run_it(8, "--rounds", "1")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("n2 answers, and no pair with it works: ping-sr-2: ", ended.stdout)
        self.assertIn("No such device", ended.stdout)
        self.assertIn("it is left out of this round", ended.stderr)
        self.assertEqual(sum("n2" in one["link"].split(">") for one in self.results().failures), 3)
        self.assertEqual(set(self.met(self.results())), self.pairs({f"n{n}" for n in (1, 3, 4, 5, 6, 7, 8)}))

    def await_sample(self, process: subprocess.Popen[str]) -> None:
        """Until a sample is in the file and another pair hangs."""
        end = time.monotonic() + LIMIT
        file, hanging = self.out / "samples.jsonl", self.state / "hanging"
        while not (file.exists() and '"kind": "sample"' in file.read_text() and hanging.exists()):
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_ctrl_c_keeps_what_is_there_and_resume_goes_on(self) -> None:
        self.wrong("hangs-n4")
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen(
                self.command(4, "--rounds", "1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment()
            ) as process:
                self.await_sample(process)
                process.send_signal(number)
                said = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 130, said)
            self.assertIn("interrupted", said[1])
            for pid in (self.state / "hanging").read_text().split():
                self.assertFalse(Path("/proc", pid).exists(), "a program is left")
            self.assertTrue((self.out / "index.html").exists())
            (self.state / "hanging").unlink()
        (self.state / "hangs-n4").unlink()
        for busy in self.state.glob("busy-*"):
            busy.rmdir()
        before = self.met(self.results())
        self.assertTrue(before)
        ended = self.run_it(4, "--rounds", "1", "--resume")
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)
        self.assertEqual(self.met(self.results()), Counter(self.pairs({"n1", "n2", "n3", "n4"})))

    def test_both_ways_and_one_pair_at_once(self) -> None:
        self.assertEqual(self.run_it(3, "--rounds", "1", "--both-ways", "--at-once", "1").returncode, 0)
        links = sorted(one.link for one in self.results().samples)
        self.assertEqual(links, sorted(f"{a}>{b}" for a, b in itertools.permutations(("n1", "n2", "n3"), 2)))

    def test_wrong_usage_starts_nothing(self) -> None:
        for options in (["--program", "x"], ["--rounds", "0"], ["--launch", "ssh"], ["--launch", "no-such {host}"],
                        ["--hosts", "no-such-file"], ["--seconds", "0"], ["--at-once", "-1"]):  # fmt: skip
            ended = self.run_it(3, *options)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn("bench/fabric: error: ", ended.stderr)
        self.assertFalse((self.state / "calls").exists())
        self.assertFalse(self.out.exists())
