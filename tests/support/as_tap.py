#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs tests of Python's unittest, and writes TAP to the file that CK_TAP_LOG_FILE_NAME names, or to stdout.

Place: used by tests/python, tests/tracer/run and tests/captured. Contract: CK_RUN_CASE runs only tests with that word
in their names. A test that skips itself is named, with its reason, in the file that tests/run reads.
"""

from __future__ import annotations

import os
import unittest
from typing import TextIO


def each(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """All tests in a suite, one after the other."""
    tests: list[unittest.TestCase] = []
    for part in suite:
        tests += each(part) if isinstance(part, unittest.TestSuite) else [part]
    return tests


class Tap(unittest.TestResult):
    """A line for each test when it ends. What fails for a whole class has a line, too."""

    def __init__(self, suite: str, file: TextIO) -> None:
        """None yet."""
        super().__init__()
        self.suite, self.file, self.lines = suite, file, 0

    def _line(self, test: unittest.TestCase, wrong: str = "") -> None:
        self.lines += 1
        why = ": " + " ".join(wrong.split())[-600:] if wrong else ""
        verdict = "not ok" if wrong else "ok"
        print(f"{verdict} {self.lines} - {self.suite}: {test.id()}{why}", file=self.file, flush=True)

    def _written(self) -> int:
        return len(self.failures) + len(self.errors) + len(self.skipped)

    def startTest(self, test: unittest.TestCase) -> None:
        """Notes what there is of others."""
        super().startTest(test)
        self.before = self._written()

    def stopTest(self, test: unittest.TestCase) -> None:
        """With its subtests, it has one line; none if it was skipped."""
        super().stopTest(test)
        wrong = [text for found, text in self.failures + self.errors if found.id().startswith(test.id())]
        if wrong or self._written() == self.before:
            self._line(test, " ".join(wrong))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """It is no pass."""
        super().addSkip(test, reason)
        with open(os.environ.get("TESTS_SKIPPED", "/dev/stderr"), "a", encoding="utf-8") as skipped:
            print(f"{self.suite}: {test.id()}: {reason}", file=skipped)

    def end(self) -> int:
        """What belongs to no single test, and the plan. Returns how many have failed."""
        for test, text in self.errors:
            if test.id().startswith(("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")):
                self._line(test, text)
        print(f"1..{self.lines}", file=self.file)
        return len(self.failures) + len(self.errors)


def run(suite: str, modules: list[str]) -> int:
    """Runs all tests of some modules. Returns the exit status: 1 if one failed, or there is none."""
    only = os.environ.get("CK_RUN_CASE", "")
    found = each(unittest.TestLoader().loadTestsFromNames(modules))
    tests = [test for test in found if only in test.id()]
    with open(os.environ.get("CK_TAP_LOG_FILE_NAME", "/dev/stdout"), "w", encoding="utf-8") as file:
        tap = Tap(suite, file)
        unittest.TestSuite(tests).run(tap)
        failed = tap.end()
    return 1 if failed or not tests else 0
