# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/cut.py and course/make.py."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from course import cut, edit, grade, make  # noqa: E402
from course.cases import ITSELF, KERNEL, PARTNER, Check  # noqa: E402
from course.checks import CHECKS  # noqa: E402
from course.exercises import EXERCISES, TOP  # noqa: E402

SOURCE = """int add(int a, int b);

/* Adds. */
int add(int a, int b)
{
\treturn a + b;
}

static void none(void)
{
\tif (1) {
\t}
}
"""


class Cut(unittest.TestCase):
    """Functions go, and what is around them stays."""

    def test_empty(self) -> None:
        text = cut.empty(SOURCE, "add")
        self.assertIn(f"/* Adds. */\nint add(int a, int b)\n{{\n\t(void)a;\n\t(void)b;\n\t{cut.TODO}\n\treturn ENOSYS;\n}}", text)
        self.assertNotIn("a + b", text)

    def test_what_is_returned_is_used(self) -> None:
        self.assertNotIn("(void)a;", cut.empty(SOURCE, "add", "a"))

    def test_void(self) -> None:
        text = cut.empty(SOURCE, "none")
        self.assertTrue(text.endswith(f"static void none(void)\n{{\n\t{cut.TODO}\n}}\n"))

    def test_remove(self) -> None:
        text = cut.remove(SOURCE, "add")
        self.assertEqual(text, "int add(int a, int b);\n\nstatic void none(void)\n{\n\tif (1) {\n\t}\n}\n")

    def test_what_is_not_there(self) -> None:
        with self.assertRaises(cut.NotThere):
            cut.empty(SOURCE, "subtract")
        with self.assertRaises(cut.NotThere):
            cut.remove(SOURCE, "subtract")


class Trees(unittest.TestCase):
    """A student's tree holds nothing of the solution."""

    def test_no_line_of_the_solution(self) -> None:
        for exercise in EXERCISES.values():
            with tempfile.TemporaryDirectory() as name:
                make.write(exercise, Path(name) / "tree")
                texts = [path.read_text() for path in Path(name).rglob("*.[ch]")]
                own = (Path(name) / "tree" / exercise.file).read_text()
            source = (TOP / exercise.file).read_text()
            lines = source.split("\n")
            self.assertIn("/* EXERCISE: ", own)
            for function in exercise.removed + exercise.emptied:
                _, first, last = cut.find(lines, function)
                body = "\n".join(lines[lines.index("{", first) : last + 1])
                self.assertFalse([text for text in texts if body in text and len(body) > 30], function)
            for function, old, _ in exercise.replaced:
                edit.replace(source, function, old, "")
                with self.assertRaises(edit.DoesNotApply):
                    edit.replace(own, function, old, "")


class Points(unittest.TestCase):
    """What the checks of an exercise are worth."""

    def test_they_make_a_hundred(self) -> None:
        self.assertEqual(set(CHECKS), set(EXERCISES))
        for name, checks in CHECKS.items():
            for seed in range(20):
                self.assertEqual(sum(check.points for check in checks(Random(seed))) + grade.BUILD_POINTS, 100, name)

    def test_each_has_a_key(self) -> None:
        """And none of them is the submission's own word."""
        for name, checks in CHECKS.items():
            keys = [check for check in checks(Random(1)) if check.key]
            self.assertTrue(keys, name)
            self.assertNotIn(ITSELF, [check.by for check in keys], name)

    def test_own_words_alone_are_worth_nothing(self) -> None:
        one = Check(10, "one", {}, lambda result: str(result["seen"]), PARTNER, key=True)
        two = Check(10, "two", {}, lambda result: str(result["two"]), KERNEL, key=True)
        said = Check(10, "said", {}, lambda _: "")
        for first, second, points in (("", "", [10, 10, 10]), ("no", "", [0, 10, 0]), ("", "no", [10, 0, 0])):
            marks = grade.marks_of([one, two, said], [{"seen": first, "two": second}] * 3)
            self.assertEqual([mark.points for mark in marks], points)


if __name__ == "__main__":
    unittest.main()
