# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks that the solutions of tests/graded can be made from the sources."""

from __future__ import annotations

import subprocess
import sys
import tempfile
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

    def test_each_tree_begins_without_a_warning(self) -> None:
        command = "cc -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Wshadow -c -o /dev/null".split()
        for exercise in EXERCISES.values():
            with self.subTest(exercise.name), tempfile.TemporaryDirectory() as folder:
                tree = Path(folder) / "tree"
                make.write(exercise, tree)
                said = subprocess.run([*command, exercise.file], cwd=tree, capture_output=True, text=True)
                self.assertEqual((said.returncode, said.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
