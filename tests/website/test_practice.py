# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The pages of the exercises and of the bug labs: all are there, and none gives a solution away."""

import re
import tempfile
from pathlib import Path

import pytest

from course import bug, cut
from course.exercises import EXERCISES, TOP, Exercise
from tools.site import pages, practice
from tools.site.markdown import Pages
from tools.site.sources import NotThere

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


def test_all_exercises_are_there() -> None:
    index, _ = written(INDEX)
    for name in EXERCISES:
        assert f"course/exercises/{name}.md" in names()
        assert f"[{name}]({name}.md)" in index
    for command in ("make exercise NAME=", "make grade DIR="):
        assert command in index


def test_commands() -> None:
    for page, name in pages.EXERCISE_PAGES.items():
        text = practice.commands(page)
        for command in (f"make exercise NAME={name} DIR=mine ", "make -C mine ", "make grade DIR=mine "):
            assert command in text


def test_no_solution() -> None:
    for page, name in pages.EXERCISE_PAGES.items():
        solution = solution_of(EXERCISES[name])
        assert solution
        text, shown = written(page)
        text = words(text + practice.commands(page))
        assert [line for line in solution if line in text] == [], name
        assert shown == set(), f"{name} links to a file, which the site would show"


def test_all_bugs_are_there() -> None:
    text, _ = written(BUGS)
    seeds = bug.seeds()
    assert BUGS in names()
    for one in bug.every():
        row = f"| {one.level} | {seeds[one.name]} | {one.stage}, {one.role} | {one.symptom} |"
        assert text.count(row) == 1, one.name
        assert f"## Topic: {one.topic}\n" in text
    for command in ("make bug DIR=", "make bug-hint DIR=", "make bug-check DIR="):
        assert command in text


def test_a_seed_of_the_page_makes_that_bug() -> None:
    for name, seed in bug.seeds().items():
        assert bug.chosen(seed).name == name


def test_no_fault_is_named() -> None:
    text, shown = written(BUGS)
    assert shown == set()
    for one in bug.every():
        assert one.number not in text
        secrets = [one.lesson, one.hint, *(each.file for each in one.edits)]
        secrets += [each.function for each in one.edits if each.function.count("_")]
        secrets += [words(each.old) for each in one.edits] + [words(each.new) for each in one.edits]
        assert [secret for secret in secrets if re.search(r"\W|_", secret) and re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", text)] == [], one.name


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(NotThere):
        practice.table("nothing")
