# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The pages of the exercises and of the bug labs: all are there, and none gives a solution away."""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from course import bug, cut  # noqa: E402
from course.exercises import EXERCISES, TOP, Exercise  # noqa: E402
from tools.website import pages, practice  # noqa: E402
from tools.website.markdown import Pages  # noqa: E402
from tools.website.sources import NotThere  # noqa: E402

INDEX, BUGS = "course/exercises/README.md", "course/bugs/README.md"


def names() -> list[str]:
    """All pages of the site."""
    return [page for part in pages.sections() for page in part.pages]


def written(path: str) -> tuple[str, set[str]]:
    """A page as Sphinx gets it, without what is added by name, and the files that it shows."""
    with tempfile.TemporaryDirectory() as folder:
        site = Pages(Path(folder), names())
        return site.convert(path, (TOP / path).read_text()), site.shown


def words(code: str) -> str:
    """Code with single spaces."""
    return " ".join(code.split())


def solution_of(exercise: Exercise) -> list[str]:
    """The statements that a student is to write."""
    lines = (TOP / exercise.file).read_text().split("\n")
    found = [old for _, old, _ in exercise.replaced]
    for function in exercise.removed + exercise.emptied:
        _, first, last = cut.find(lines, function)
        found += [line for line in lines[lines.index("{", first) + 1 : last] if line.strip().endswith(";") and "(" in line]
    return [words(text) for text in found]


class Exercises(unittest.TestCase):
    """The index, and a page for each exercise."""

    def test_all_are_there(self) -> None:
        index, _ = written(INDEX)
        for name in EXERCISES:
            self.assertIn(f"course/exercises/{name}.md", names())
            self.assertIn(f"[{name}]({name}.md)", index)
        for command in ("make exercise NAME=", "make grade DIR="):
            self.assertIn(command, index)

    def test_commands(self) -> None:
        for page, name in pages.EXERCISE_PAGES.items():
            text = practice.commands(page)
            for command in (f"make exercise NAME={name} DIR=mine ", "make -C mine ", "make grade DIR=mine "):
                self.assertIn(command, text)

    def test_no_solution(self) -> None:
        for page, name in pages.EXERCISE_PAGES.items():
            solution = solution_of(EXERCISES[name])
            self.assertTrue(solution)
            text, shown = written(page)
            text = words(text + practice.commands(page))
            self.assertEqual([line for line in solution if line in text], [], name)
            self.assertEqual(shown, set(), f"{name} links to a file, which the site would show")


class Bugs(unittest.TestCase):
    """The list of the bugs."""

    def test_all_are_there(self) -> None:
        text, _ = written(BUGS)
        seeds = bug.seeds()
        self.assertIn(BUGS, names())
        for one in bug.every():
            row = f"| {one.level} | {seeds[one.name]} | {one.stage}, {one.role} | {one.symptom} |"
            self.assertEqual(text.count(row), 1, one.name)
            self.assertIn(f"## Topic: {one.topic}\n", text)
        for command in ("make bug DIR=", "make bug-hint DIR=", "make bug-check DIR="):
            self.assertIn(command, text)

    def test_a_seed_of_the_page_makes_that_bug(self) -> None:
        for name, seed in bug.seeds().items():
            self.assertEqual(bug.chosen(seed).name, name)

    def test_no_fault_is_named(self) -> None:
        text, shown = written(BUGS)
        self.assertEqual(shown, set())
        for one in bug.every():
            self.assertNotIn(one.number, text)
            secrets = [one.lesson, one.hint, *(each.file for each in one.edits)]
            secrets += [each.function for each in one.edits if each.function.count("_")]
            secrets += [words(each.old) for each in one.edits] + [words(each.new) for each in one.edits]
            self.assertEqual([secret for secret in secrets if re.search(r"\W|_", secret) and re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text)], [], one.name)

    def test_a_table_that_is_not_there(self) -> None:
        with self.assertRaises(NotThere):
            practice.table("nothing")


if __name__ == "__main__":
    unittest.main()
