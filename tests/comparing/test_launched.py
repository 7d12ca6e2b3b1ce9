# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/compare, bench/report and bench/fabric as programs, with a launcher that starts nothing (fake_launcher):
hosts that are slow, dead, die, hang or fail, a launcher that fails, an interrupt, incomplete files, and --resume after these."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.comparison import store
from bench.comparison.store import Results

pytestmark = pytest.mark.long

TOP = Path(__file__).resolve().parent.parent.parent
LAUNCHER = TOP / "tests/comparing/fake_launcher"
LIMIT = 120  # seconds, for a run
PROGRAMS = ("ping-sr-2", "ping-sr-3")


class Launched(unittest.TestCase):
    """Each test has a folder, and what the launcher reads."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state, self.out = self.folder / "state", self.folder / "out"
        self.state.mkdir()
        self.environment = {**os.environ, "FAKE_FABRIC": str(self.state), "RDMA_ADDR": "192.0.2.1"}
        for program in PROGRAMS:
            self.assertTrue(os.access(TOP / program / "client", os.X_OK), "build first: make all")

    def run_it(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """To its end."""
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=self.environment, check=False)


class Compare(Launched):
    """Two programs flat out, client on n2, server on n1."""

    def bench(self, program: str, *options: str) -> subprocess.CompletedProcess[str]:
        """A program of bench/."""
        return self.run_it([sys.executable, "-B", str(TOP / "bench" / program), "--folder", str(self.out), *options])

    def compare(self, *options: str) -> subprocess.CompletedProcess[str]:
        """A short comparison."""
        chosen = [word for program in PROGRAMS for word in ("--only", program)]
        launch = ["--server-launch", f"{LAUNCHER} n1", "--client-launch", f"{LAUNCHER} n2"]
        return self.bench("compare", "--only", "round-trip", *chosen, *launch, "--minutes", "0.2", *options)

    def results(self) -> dict[str, Any]:
        """Of the last run."""
        found: dict[str, Any] = json.loads((self.out / "results.json").read_text())
        return found

    def test_both_are_measured(self) -> None:
        ended = self.compare()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual({one["point"]["way"] for one in self.results()["samples"]}, set(PROGRAMS))
        self.assertEqual(self.results()["environment"]["perf counters"], "none: the programs are on other machines")

    def test_a_host_that_dies_in_mid_run(self) -> None:
        (self.state / "dies-n2").write_text("3\n")
        ended = self.compare()
        self.assertEqual(ended.returncode, 0, ended.stderr)  # something was measured
        self.assertIn("FAILED: ping-sr-3 on RDMA: client0 failed (255): ssh: connect to host n2 port 22: No route", ended.stderr)
        self.assertEqual(len(self.results()["samples"]), 3)
        self.assertEqual(len(self.results()["failures"]), 6)  # three of each, then it is given up
        self.assertIn("No route to host", (self.out / "index.html").read_text())

    def test_a_launcher_that_fails_once(self) -> None:
        for host, name in (("n1", "server"), ("n2", "client0")):
            (self.state / f"drops-{host}").write_text("2\n")
            ended = self.compare()
            self.assertEqual(ended.returncode, 0, ended.stderr)  # something was measured
            (failure,) = self.results()["failures"]
            self.assertIn(f"{name} failed (255): Connection to {host} closed by remote host.", failure["why"])
            self.assertGreater(len(self.results()["samples"]), 4)
            for busy in self.state.glob("busy-*"):
                busy.rmdir()

    def test_no_such_launcher(self) -> None:
        ended = self.compare("--client-launch", "no-such-launcher")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("no-such-launcher", ended.stderr)

    def test_results_cut_short_are_refused_by_name_and_resumed(self) -> None:
        self.assertEqual(self.compare().returncode, 0)
        file = self.out / "results.json"
        number = len(self.results()["samples"])
        file.write_bytes(file.read_bytes()[:-100])
        ended = self.bench("report", str(file))
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn(f"{file} is not a complete file of results", ended.stderr)
        lines = self.out / "samples.jsonl"
        text = lines.read_text().splitlines(keepends=True)
        last = max(index for index, line in enumerate(text) if '"kind": "sample"' in line)
        lines.write_text("".join(text[:last]) + text[last][:-30])
        ended = self.compare("--resume")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("is cut short, and was left out", " ".join(self.results()["notes"]))
        self.assertGreater(len(self.results()["samples"]), number)


class Fabric(Launched):
    """A tournament of hosts."""

    def command(self, number: int, *options: str) -> list[str]:
        """For this many hosts, from n1 on."""
        file = self.folder / "hosts"
        file.write_text("".join(f"n{n} 192.0.2.{n}\n" for n in range(1, number + 1)))
        launch = f"{LAUNCHER} {{host}}"
        fixed = ["--hosts", str(file), "--launch", launch, "--folder", str(self.out), "--program", "ping-sr-2", "--seconds", "0.5"]
        return [sys.executable, "-B", str(TOP / "bench/fabric"), *fixed, *options]

    def fabric(self, number: int, *options: str) -> subprocess.CompletedProcess[str]:
        """A tournament, to its end."""
        return self.run_it(self.command(number, *options))

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
        ended = self.fabric(6, "--rounds", "2")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("n3 (5 of its 5 pairs): round trip", ended.stdout)
        self.assertIn("n3 (5 of its 5 pairs)", (self.out / "index.html").read_text())
        self.assertFalse((self.state / "overlap").exists())
        self.assertEqual(set(self.met(self.results()).values()), {2})
        self.assertEqual(len(self.met(self.results())), 15)
        self.assertTrue(list(self.out.glob("*.svg")))

    def test_a_dead_host_is_named_and_all_others_are_measured(self) -> None:
        self.wrong("dead-n2")
        ended = self.fabric(5, "--rounds", "1")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("n2 does not answer: exit status 255: ssh: connect to host n2 port 22: No route to host", ended.stdout)
        self.assertEqual(set(self.met(self.results())), self.pairs({"n1", "n3", "n4", "n5"}))
        self.assertNotIn("n2 ", (self.state / "calls").read_text())

    def test_a_host_that_dies_in_mid_run_is_named_and_the_others_go_on(self) -> None:
        self.wrong("dies-n2")
        ended = self.fabric(5, "--rounds", "1")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("n2 does not answer", ended.stdout)
        self.assertNotIn("failed 1 times", ended.stdout)
        self.assertEqual(set(self.met(self.results())), self.pairs({"n1", "n3", "n4", "n5"}))
        self.assertEqual(Counter(line.split()[0] for line in (self.state / "calls").read_text().splitlines())["n2"], 1)

    def test_a_host_that_answers_and_cannot_is_left_out_after_three_pairs(self) -> None:
        self.wrong("fails-n2")
        ended = self.fabric(8, "--rounds", "1")
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
                self.command(4, "--rounds", "1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
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
        ended = self.fabric(4, "--rounds", "1", "--resume")
        self.assertEqual(ended.returncode, 0, ended.stderr + ended.stdout)
        self.assertEqual(self.met(self.results()), Counter(self.pairs({"n1", "n2", "n3", "n4"})))

    def test_both_ways_and_one_pair_at_once(self) -> None:
        self.assertEqual(self.fabric(3, "--rounds", "1", "--both-ways", "--at-once", "1").returncode, 0)
        links = sorted(one.link for one in self.results().samples)
        self.assertEqual(links, sorted(f"{a}>{b}" for a, b in itertools.permutations(("n1", "n2", "n3"), 2)))

    def test_wrong_usage_starts_nothing(self) -> None:
        for options in (["--program", "x"], ["--rounds", "0"], ["--launch", "ssh"], ["--launch", "no-such {host}"],
                        ["--hosts", "no-such-file"], ["--seconds", "0"], ["--at-once", "-1"]):  # fmt: skip
            ended = self.fabric(3, *options)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn("bench/fabric: error: ", ended.stderr)
        self.assertFalse((self.state / "calls").exists())
        self.assertFalse(self.out.exists())
