# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks that the solutions of tests/graded can be made from the sources: python3 -m unittest discover -s tests -t
tests"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from course import make  # noqa: E402
from course.exercises import EXERCISES  # noqa: E402
from exercises import dishonest, solutions  # noqa: E402

SOLUTIONS = solutions.SOLUTIONS + dishonest.SOLUTIONS


class Solutions(unittest.TestCase):
    """Each is what it says."""

    def test_each_edit_changes_the_source(self) -> None:
        for one in SOLUTIONS:
            right = make.right(EXERCISES[one.exercise])
            with self.subTest(f"{one.exercise}, {one.name}"):
                self.assertEqual(one.edit(right) == right, one.name == "right")

    def test_each_exercise_has_right_and_wrong_ones(self) -> None:
        for name in EXERCISES:
            of_it = [one.name for one in SOLUTIONS if one.exercise == name]
            self.assertIn("right", of_it)
            self.assertTrue([one for one in SOLUTIONS if one.exercise == name and one.lazy], name)
            self.assertEqual(len(set(of_it)), len(of_it), name)


if __name__ == "__main__":
    unittest.main()
