# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the time limits of run_cases.py.

Contract: clocks that the test sets replace those of the machine.
"""

from __future__ import annotations

import unittest
from unittest import mock

from course import run_cases


class TestLimit(unittest.TestCase):
    """A limit of ten seconds, or of three without activity."""

    def setUp(self) -> None:
        """Puts the clock in place."""
        self.now, self.activity = 100.0, 0
        patch = mock.patch("course.run_cases.time.monotonic", lambda: self.now)
        patch.start()
        self.addCleanup(patch.stop)
        self.limit = run_cases.Limit(10, 3, lambda: self.activity)

    def passes(self, seconds: float, active: bool) -> bool:
        """Looks after a time, in which there was activity or not."""
        self.now += seconds
        self.activity += active
        return self.limit.over()

    def looks(self, active: bool, most: int = 1000) -> int:
        """How many looks, each after a twentieth of a second, it takes."""
        return next((look for look in range(1, most + 1) if self.passes(0.05, active)), most)

    def test_with_activity_there_is_all_the_time(self) -> None:
        self.assertAlmostEqual(self.looks(active=True), 200, delta=2)

    def test_without_it_there_is_less(self) -> None:
        self.assertAlmostEqual(self.looks(active=False), 60, delta=2)

    def test_idleness_is_told(self) -> None:
        self.looks(active=False)
        self.assertEqual(self.limit.reached(), "used no CPU for 3 s")

    def test_the_end_of_the_time_is_told(self) -> None:
        self.looks(active=True)
        self.assertEqual(self.limit.reached(), "was still running after 10 s")

    def test_idle_times_do_not_add_up(self) -> None:
        for _ in range(4):
            self.assertEqual(self.looks(active=False, most=35), 35)
            self.assertFalse(self.passes(0.05, True))
            self.assertEqual(self.looks(active=True, most=5), 5)

    def test_a_host_that_stood_still_takes_no_time(self) -> None:
        for _ in range(4):
            self.assertFalse(self.passes(3600, False))
        self.assertFalse(self.passes(3600, True))
        self.assertAlmostEqual(self.looks(active=True), 150, delta=2)


if __name__ == "__main__":
    unittest.main()
