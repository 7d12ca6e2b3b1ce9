# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/compare and bench/report as programs, with a launcher that starts nothing (fake_launcher):
hosts that die, a launcher that fails, incomplete files, and --resume after these."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent.parent
LAUNCHER = TOP / "tests/comparing/fake_launcher"
LIMIT = 120  # seconds that a run may take
PROGRAMS = ("ping-sr-2", "ping-sr-3")


class Launched(unittest.TestCase):
    """Gives each test a folder with what the launcher reads."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state, self.out = self.folder / "state", self.folder / "out"
        self.state.mkdir()
        self.environment = {**os.environ, "FAKE_HOSTS": str(self.state), "RDMA_ADDR": "192.0.2.1"}
        for program in PROGRAMS:
            self.assertTrue(os.access(TOP / program / "client", os.X_OK), "build first: make all")

    def run_it(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=self.environment, check=False)


class Compare(Launched):
    """Two programs flat out, client on n2, server on n1."""

    def bench(self, program: str, *options: str) -> subprocess.CompletedProcess[str]:
        """A program of bench/."""
        return self.run_it([sys.executable, "-B", str(TOP / "bench" / program), "--folder", str(self.out), *options])

    def compare(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Runs a short comparison."""
        chosen = [word for program in PROGRAMS for word in ("--only", program)]
        launcher = shlex.quote(str(LAUNCHER))
        launch = ["--server-launch", f"{launcher} n1", "--client-launch", f"{launcher} n2"]
        return self.bench("compare", "--only", "round-trip", *chosen, *launch, "--minutes", "0.2", *options)

    def results(self) -> dict[str, Any]:
        """Returns the results of the last run."""
        found: dict[str, Any] = json.loads((self.out / "results.json").read_text())
        return found

    def test_both_are_measured(self) -> None:
        ended = self.compare()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual({one["point"]["way"] for one in self.results()["samples"]}, set(PROGRAMS))
        self.assertLessEqual({"index.html", "results.json", "results.csv", "samples.jsonl"}, {file.name for file in self.out.iterdir()})
        self.assertEqual(self.results()["environment"]["perf counters"], "none: the programs are on other machines")

    def test_a_host_that_dies_in_mid_run(self) -> None:
        (self.state / "dies-n2").write_text("3\n")
        ended = self.compare()
        self.assertEqual(ended.returncode, 0, ended.stderr)  # the launcher has measured something
        self.assertIn("FAILED: ping-sr-3 on RDMA: client0 failed (255): ssh: connect to host n2 port 22: No route", ended.stderr)
        self.assertEqual(len(self.results()["samples"]), 3)
        self.assertEqual(len(self.results()["failures"]), 6)  # three runs of each, then it is given up
        self.assertIn("No route to host", (self.out / "index.html").read_text())

    def test_a_launcher_that_fails_once(self) -> None:
        for host, name in (("n1", "server"), ("n2", "client0")):
            (self.state / f"drops-{host}").write_text("2\n")
            ended = self.compare()
            self.assertEqual(ended.returncode, 0, ended.stderr)  # the launcher has measured something
            (failure,) = self.results()["failures"]
            self.assertIn(f"{name} failed (255): Connection to {host} closed by remote host.", failure["why"])
            self.assertGreater(len(self.results()["samples"]), 4)

    def test_no_such_launcher(self) -> None:
        for side in ("--client-launch", "--server-launch"):
            ended = self.compare(side, "no-such-launcher")
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn("no-such-launcher", ended.stderr)

    def test_nothing_was_measured(self) -> None:
        for host in ("n1", "n2"):
            (self.state / f"dead-{host}").touch()
        ended = self.compare()
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertTrue(ended.stderr.endswith("compare: nothing was measured\n"), ended.stderr)

    def test_results_cut_short_are_refused_by_name_and_resumed(self) -> None:
        ended = self.compare()
        self.assertEqual(ended.returncode, 0, ended.stderr)
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
