# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of results.py: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from release.results import Result, chosen, count, judged, load, save, table
from release.suites import SUITES, Suite


def suites(**minutes: float) -> dict[str, Suite]:
    return {name: Suite(value, "true", "true", "shows") for name, value in minutes.items()}


class Logs(unittest.TestCase):
    def test_the_last_sum_counts(self) -> None:
        self.assertEqual(count("a: ...\n1 passed, 0 failed, 0 skipped\n7 passed, 2 failed, 1 skipped\n"), Result(7, 2, 1))

    def test_tap(self) -> None:
        self.assertEqual(count("1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n"), Result(2, 1))

    def test_unittest(self) -> None:
        self.assertEqual(count("Ran 5 tests in 1s\nFAILED (failures=1, errors=2)\n"), Result(2, 3))

    def test_fuzzers(self) -> None:
        self.assertEqual(count("fuzz/credits: 1000 inputs\n"), Result(1, 0))

    def test_an_exit_status_that_does_not_fit_is_a_failure(self) -> None:
        self.assertEqual(judged(Result(5), 1).failed, 1)
        self.assertEqual(judged(Result(5, 2), 1).failed, 2)
        self.assertEqual(judged(Result(5), 0).failed, 0)

    def test_nothing_passed_is_a_failure(self) -> None:
        self.assertEqual(judged(count("no such file\n"), 0).failed, 1)


class Kept(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "results.json"

    def test_what_is_saved_is_loaded(self) -> None:
        save(self.file, "abc", {"soak": Result(3, 1, 2, 60.5)})
        self.assertEqual(load(self.file, "abc"), {"soak": Result(3, 1, 2, 60.5)})

    def test_another_commit_has_none(self) -> None:
        save(self.file, "abc", {"soak": Result(3)})
        self.assertEqual(load(self.file, "abd"), {})

    def test_a_damaged_file_has_none(self) -> None:
        for text in ("", "{", "[]", '{"commit": "abc"}', '{"commit": "abc", "results": {"soak": 1}}'):
            self.file.write_text(text)
            self.assertEqual(load(self.file, "abc"), {}, text)


class Budget(unittest.TestCase):
    def test_as_many_as_fit_in_their_order(self) -> None:
        self.assertEqual(chosen(suites(a=30, b=40, c=20, d=10), {}, 60), ["a", "c", "d"])

    def test_what_has_passed_is_not_run_again(self) -> None:
        self.assertEqual(chosen(suites(a=30, b=40, c=20), {"a": Result(1)}, 60), ["b", "c"])

    def test_one_longer_than_the_budget_is_run_when_it_is_the_first(self) -> None:
        self.assertEqual(chosen(suites(a=90, b=1), {}, 60), ["a"])

    def test_every_suite_has_its_turn(self) -> None:
        passed: dict[str, Result] = {}
        while len(passed) < len(SUITES):
            names = chosen(SUITES, passed, 60)
            self.assertTrue(names)
            passed |= {name: Result(1) for name in names}


class Table(unittest.TestCase):
    def test_a_suite_that_was_not_run_says_so(self) -> None:
        lines = table(suites(a=1, b=2), {"b": Result(3, 1, 2, 90)}, {"date": "today"}).splitlines()
        self.assertEqual(lines[0], "- date: today")
        self.assertEqual(lines[4:], [
            "| a | shows | not run | | | |",
            "| b | shows | 3 | 1 | 2 | 1.5 min |",
            "| **total** | | 3 | 1 | 2 | 1.5 min |",
        ])


if __name__ == "__main__":
    unittest.main()
