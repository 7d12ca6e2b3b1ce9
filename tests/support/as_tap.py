# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs tests of Python's unittest, and writes TAP to the file that CK_TAP_LOG_FILE_NAME names, or stdout.

Place: tests/tracer/run and tests/captured are made with it. Contract: CK_RUN_CASE runs only tests with that word in
their names.
"""

from __future__ import annotations

import os
import unittest


def each(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    """All tests in a suite, one after the other."""
    tests: list[unittest.TestCase] = []
    for part in suite:
        tests += each(part) if isinstance(part, unittest.TestSuite) else [part]
    return tests


def run(suite: str, modules: list[str]) -> int:
    """One line of TAP for each test. Returns the exit status: 1 if one failed, or there is none."""
    only = os.environ.get("CK_RUN_CASE", "")
    found = each(unittest.TestLoader().loadTestsFromNames(modules))
    tests = [test for test in found if only in test.id()]
    failed = 0
    with open(os.environ.get("CK_TAP_LOG_FILE_NAME", "/dev/stdout"), "w", encoding="utf-8") as tap:
        for number, test in enumerate(tests, 1):
            result = unittest.TestResult()
            test.run(result)
            wrong = [text for _, text in result.failures + result.errors]
            why = ": " + " ".join(" ".join(wrong).split())[-600:] if wrong else ""
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - {suite}: {test.id()}{why}", file=tap, flush=True)
        print(f"1..{len(tests)}", file=tap)
    return 1 if failed or not tests else 0
