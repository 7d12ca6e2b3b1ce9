# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the time limits of run_cases.py.

Place: run by tests/python. Contract: clocks that the test sets replace those of the machine.
"""

from __future__ import annotations

import unittest
from unittest import mock

from course import run_cases


class TestLimit(unittest.TestCase):
    """A limit of ten seconds, or of two in which the machine has nothing to do."""

    def setUp(self) -> None:
        """Puts the clocks in place."""
        self.now = self.busy = 100.0
        for name, clock in (("time.monotonic", lambda: self.now), ("busy_s", lambda: self.busy)):
            patch = mock.patch(f"course.run_cases.{name}", clock)
            patch.start()
            self.addCleanup(patch.stop)
        self.limit = run_cases.Limit(10, 2)

    def passes(self, seconds: float, busy: float) -> bool:
        """Looks after a time, of which the machine was busy for a part."""
        self.now += seconds
        self.busy += busy * seconds
        return self.limit.over()

    def looks(self, busy: float, most: int = 1000) -> int:
        """How many looks, each after a twentieth of a second, it takes."""
        return next((look for look in range(1, most + 1) if self.passes(0.05, busy)), most)

    def test_a_busy_machine_has_all_the_time(self) -> None:
        self.assertAlmostEqual(self.looks(busy=1), 200, delta=1)

    def test_an_idle_one_has_less(self) -> None:
        self.assertAlmostEqual(self.looks(busy=0.1), 40, delta=1)

    def test_idle_times_do_not_add_up(self) -> None:
        for _ in range(4):
            self.assertEqual(self.looks(busy=0, most=30), 30)
            self.assertFalse(self.passes(0.05, 1))

    def test_a_host_that_stood_still_takes_no_time(self) -> None:
        for _ in range(3):
            self.assertFalse(self.passes(3600, 0))
        self.assertFalse(self.passes(3600, 1))
        self.assertAlmostEqual(self.looks(busy=1), 160, delta=2)


if __name__ == "__main__":
    unittest.main()
