# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the parts of a measurement."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from mutate import measure, score, suites, trial, tree
from mutate.build import TOP, Copy
from mutate.suites import Record
from mutate.trial import CAUGHT, PART, SAME, SURVIVED


class Verdicts(unittest.TestCase):
    """Of runs of tests, the failing ones of which are said before."""

    def verdict(self, tests: list[str], *failures: str) -> tuple[str, str]:
        """These fail, one in each run."""
        said = iter(failures)

        def run(_copy: Copy, wanted: list[str], _limit_s: float) -> tuple[str, str] | None:
            name = next(said, "")
            self.assertTrue(not name or name in wanted)
            return (name, "why") if name else None

        with mock.patch.object(suites, "run", run):
            return trial.run_tests(mock.Mock(), tests)

    def test_a_failure_counts_if_it_comes_twice(self) -> None:
        """After one that came once, the tests behind it are run."""
        self.assertEqual(self.verdict(["a", "b", "c"], "b", "b"), (CAUGHT, "b: why"))
        self.assertEqual(self.verdict(["a", "b", "c"], "b", "", "c", "c"), (CAUGHT, "c: why"))
        self.assertEqual(self.verdict(["a", "b", "c"], "c"), (SURVIVED, ""))
        self.assertEqual(self.verdict([]), (SURVIVED, "no test runs it"))

    def test_the_failing_test_is_found(self) -> None:
        """As tests/conftest.py names it, with blanks and quotes in its name."""
        said = "/usr/bin/python3 -m pytest 'tests/sim/test_a.py::test_b[-c 5 -s 'x' ]'\n"
        found = suites.FAILED.search(said)
        self.assertEqual(found and found[1], "tests/sim/test_a.py::test_b[-c 5 -s 'x' ]")


class Score(unittest.TestCase):
    """Figures and texts."""

    def test_wilson(self) -> None:
        """Examples of R. G. Newcombe, Statistics in Medicine 17 (1998), table I."""
        for caught, counted, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
            for found, wanted in zip(score.wilson(caught, counted), (low, high)):
                self.assertAlmostEqual(found, wanted, 4)

    def test_only_verdicts_count(self) -> None:
        """What was not run in full is in neither number; a folder has a row from 50 on."""
        verdicts = [CAUGHT] * 45 + [SURVIVED] * 5 + [PART] * 7 + [SAME] * 3
        mutants = [score.Mutant(0, "a/b.c", 1, "constant", "1", "2", verdict) for verdict in verdicts]
        self.assertIn("| seed 1 | 60 | 50 | 45 | 7 | 90% | 79% to 96% |", score.table("seed 1", mutants))
        self.assertIn("| a/ | 60 | 50 |", score.table("", mutants))
        self.assertNotIn("| a/ |", score.table("", mutants[1:]))


class Drawing(unittest.TestCase):
    """Which faults, and which tests for them."""

    def test_a_seed_says_all(self) -> None:
        """More of them begin with the same; another seed draws others."""
        sites = [tree.Site("a.c", n, "constant", n, n + 1, (b"1", b"2"), range(0)) for n in range(500)]
        drawn = list(measure.draw(sites, 200, 7).values())
        self.assertEqual(list(measure.draw(sites, 300, 7).values())[:200], drawn)
        self.assertNotEqual(list(measure.draw(sites, 200, 8).values()), drawn)
        self.assertEqual(len({site.line for site, _ in drawn}), 200)

    def test_tests_that_run_the_line(self) -> None:
        """The quickest first; if no test runs it, those that run its function; of a table, all."""
        known, function = Record({"slow": (2, {"a.c": [1, 2, 3]}), "quick": (1, {"a.c": [1, 3]})}), range(1, 5)
        both = ["quick", "slow"]
        self.assertEqual(known.reach("a.c", range(3, 4), function), both)
        self.assertEqual(known.reach("a.c", range(2, 4), function), both)
        self.assertEqual(known.reach("a.c", range(2, 3), function), ["slow"])
        self.assertEqual(known.reach("a.c", range(4, 5), function), both)
        self.assertEqual(known.reach("a.c", range(7, 8), range(0)), both)
        self.assertEqual(known.reach("table.c", range(1, 2), range(0)), both)
        self.assertEqual(known.reach("b/b.c", range(1, 2), range(0)), [])
        known = Record({"slow": (2, {"d/a.c": [5]}), "quick": (1, {"d/b.c": [5]})})
        self.assertEqual(known.reach("d/a.c", range(1, 2), range(0)), both)

    def test_command_line(self) -> None:
        """The script starts by itself, and refuses what makes no sense."""
        done = subprocess.run([TOP / "tests/mutate/run", "--count", "0"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, "tests/mutate/run: error: N is at least 1"))

    def test_alike(self) -> None:
        """Four of a kind, if they run the same lines of the function."""
        ten = [f"test_a[ping-sr-{n}-RoCE-server]" for n in range(10)]
        known = Record({test: (n / 9, {"a.c": [1, 2] if n < 9 else [1]}) for n, test in enumerate(ten)})
        self.assertEqual(known.reach("a.c", range(1, 2), range(1, 2)), ten[:4])
        self.assertEqual(known.reach("a.c", range(1, 2), range(1, 3)), [*ten[:4], ten[9]])
        kinds = {suites.kind(f"test_a[{stage}]") for stage in ("talk-rdma-0-RoCE-x", "ping-sr-2e-RoCE-x", "ping-sr-3-iWARP-x")}
        self.assertEqual(kinds, {"test_a[-RoCE-x]", "test_a[-iWARP-x]"})

    def test_resumed(self) -> None:
        """A line that was not written to its end is no result."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results"
            for number in (3, 4):
                score.Results(file).add(score.Mutant(number, "a.c", 1, "", "", ""))
            file.write_text(file.read_text()[:-5])
            self.assertEqual(list(score.Results(file).mutants), [3])
            score.Results(file).add(score.Mutant(5, "a.c", 1, "", "", ""))
            self.assertEqual(list(score.Results(file).mutants), [3, 5])
