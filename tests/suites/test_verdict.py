# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of verdict.py: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import unittest

from suites.verdict import of_junit, of_kernel, of_lab, of_tap

GOOD = "1..2\nok 1 - a\nok 2 - b\n"
BAD = "1..2\nok 1 - a\nnot ok 2 - b: why\n"


class Tap(unittest.TestCase):
    def counts(self, status: int, tap: str, skipped: str = "") -> str:
        return of_tap("s", status, tap, skipped, "said\n").counts()

    def test_all_pass(self) -> None:
        self.assertEqual(self.counts(0, GOOD), "2 passed, 0 failed, 0 skipped")

    def test_one_fails_and_is_named(self) -> None:
        verdict = of_tap("s", 1, BAD, "", "")
        self.assertEqual(verdict.counts(), "1 passed, 1 failed, 0 skipped")
        self.assertEqual(verdict.lines, ["  FAILED  b: why"])

    def test_a_skip_is_named_and_has_not_passed(self) -> None:
        verdict = of_tap("s", 0, GOOD, "c: no device\n", "")
        self.assertEqual(verdict.counts(), "2 passed, 0 failed, 1 skipped")
        self.assertEqual(verdict.lines, ["  skipped c: no device"])

    def test_it_ended_before_its_plan(self) -> None:
        self.assertEqual(self.counts(0, "1..3\n" + GOOD[5:]), "2 passed, 1 failed, 0 skipped")

    def test_there_is_no_plan(self) -> None:
        self.assertEqual(self.counts(0, GOOD[5:]), "2 passed, 1 failed, 0 skipped")

    def test_it_ran_more_than_it_planned(self) -> None:
        self.assertEqual(self.counts(0, "1..1\n" + GOOD[5:]), "2 passed, 1 failed, 0 skipped")

    def test_it_left_nothing(self) -> None:
        verdict = of_tap("s", 139, "", "", "one\ntwo\n")
        self.assertEqual(verdict.counts(), "0 passed, 1 failed, 0 skipped")
        self.assertIn("exit status 139", verdict.lines[0])
        self.assertEqual(verdict.lines[-1].strip(), "two")

    def test_an_exit_status_that_does_not_fit(self) -> None:
        self.assertEqual(self.counts(124, GOOD), "2 passed, 1 failed, 0 skipped")


class Junit(unittest.TestCase):
    def counts(self, status: int, *cases: str) -> str:
        junit = "<testsuites><testsuite>" + "".join(cases) + "</testsuite></testsuites>"
        return of_junit("s", status, junit if cases else "", "said\n").counts()

    good = '<testcase classname="t" name="a"/>'
    bad = '<testcase classname="t" name="b"><failure message="why"/></testcase>'
    broken = '<testcase classname="t" name="b"><error message="why"/></testcase>'
    left_out = '<testcase classname="t" name="c"><skipped message="why"/></testcase>'

    def test_each_is_counted(self) -> None:
        self.assertEqual(self.counts(0, self.good, self.good), "2 passed, 0 failed, 0 skipped")
        self.assertEqual(self.counts(1, self.good, self.bad), "1 passed, 1 failed, 0 skipped")
        self.assertEqual(self.counts(1, self.broken), "0 passed, 1 failed, 0 skipped")
        self.assertEqual(self.counts(0, self.good, self.left_out), "1 passed, 0 failed, 1 skipped")

    def test_no_result_no_pass(self) -> None:
        self.assertEqual(self.counts(0), "0 passed, 1 failed, 0 skipped")
        self.assertEqual(self.counts(0, self.left_out), "0 passed, 1 failed, 1 skipped")

    def test_an_exit_status_that_does_not_fit(self) -> None:
        self.assertEqual(self.counts(3, self.good), "1 passed, 1 failed, 0 skipped")


class Lab(unittest.TestCase):
    def test_all_pass(self) -> None:
        log = "ok      boots\nskip    kvm: none\n1 passed, 0 failed, 1 skipped\n"
        self.assertEqual(of_lab(0, log).counts(), "1 passed, 0 failed, 1 skipped")

    def test_one_fails(self) -> None:
        log = "ok      boots\nFAILED  net: why\n1 passed, 1 failed, 0 skipped\n"
        verdict = of_lab(1, log)
        self.assertEqual(verdict.counts(), "1 passed, 1 failed, 0 skipped")
        self.assertEqual(verdict.lines[0], "  FAILED  lab: net: why")

    def test_no_sum_no_pass(self) -> None:
        self.assertEqual(of_lab(0, "ok      boots\n").failed, 1)
        self.assertEqual(of_lab(0, "").failed, 1)

    def test_an_exit_status_that_does_not_fit(self) -> None:
        log = "ok      boots\n1 passed, 0 failed, 0 skipped\n"
        self.assertEqual(of_lab(1, log).failed, 1)


class Kernel(unittest.TestCase):
    def test_silence_is_not_a_pass(self) -> None:
        self.assertEqual(of_kernel("k", "").failed, 1)

    def test_a_quiet_one(self) -> None:
        self.assertEqual(of_kernel("k", "[0] Linux version 6.1\n").passed, 1)

    def test_a_complaint(self) -> None:
        verdict = of_kernel("k", "[0] Linux version 6.1\n[9] WARNING: CPU: 0\n")
        self.assertEqual((verdict.passed, verdict.failed), (0, 1))
        self.assertIn("WARNING", verdict.lines[-1])


if __name__ == "__main__":
    unittest.main()
