# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks that the solutions of course/tests/graded can be made from the sources."""

import subprocess
from pathlib import Path

import pytest

from course import grade, make
from course.exercises import EXERCISES, Exercise
from exercises import dishonest, solutions

SOLUTIONS = solutions.SOLUTIONS + dishonest.SOLUTIONS


@pytest.mark.parametrize("one", SOLUTIONS, ids=lambda one: f"{one.exercise}, {one.name}")
def test_an_edit_changes_the_source(one: solutions.Solution) -> None:
    right = solutions.right(EXERCISES[one.exercise])
    assert (one.edit(right) == right) == (one.name == "right")


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_an_exercise(exercise: Exercise, tmp_path: Path) -> None:
    """An exercise has right and wrong solutions, and its tree compiles without a warning, as it begins and as it should end."""
    of_it = [one for one in SOLUTIONS if one.exercise == exercise.name]
    names = [one.name for one in of_it]
    assert "right" in names and len(set(names)) == len(names)
    assert any(one.lazy for one in of_it)
    command = "cc -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Wshadow -c -o /dev/null".split()
    make.write(exercise, tmp_path)
    for source in ((tmp_path / exercise.file).read_text(), solutions.right(exercise)):
        (tmp_path / exercise.file).write_text(source)
        said = subprocess.run([*command, exercise.file], cwd=tmp_path, capture_output=True, text=True)
        assert (said.returncode, said.stderr, warnings(tmp_path, exercise.file)) == (0, "", "")


def warnings(tree: Path, file: str) -> str:
    """The warnings that the grader gets from the compiler, whatever the file tells it."""
    return subprocess.run(["sh", "-c", grade.ALL_WARNINGS, "sh", file], cwd=tree, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("name", dishonest.SILENCERS)
def test_a_warning_is_heard(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(dishonest.SILENCERS[name])
    silent = subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-c", "-o", "/dev/null", "a.c"], cwd=tmp_path, capture_output=True, text=True)
    assert silent.stderr == "", "this silences nothing"
    mark = grade.mark_of_build(0, warnings(tmp_path, "a.c"))
    assert mark.points == grade.BUILD_POINTS // 2 and "defined but not used" in mark.reason


def test_a_warning_is_heard_in_a_file_of_any_name(tmp_path: Path) -> None:
    """The name of this file looks like a line that gcc quotes, below a note."""
    (tmp_path / "a.c").write_text(f'#pragma message "x"\n#line 1 " a.c"\n{dishonest.UNUSED}')
    assert grade.mark_of_build(0, warnings(tmp_path, "a.c")).points == grade.BUILD_POINTS // 2
