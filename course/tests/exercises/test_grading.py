# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""One grading from end to end: the build, the jail, and the shortest check over the simulated device. course/tests/graded,
which is long, has all.

Contract: boots a machine of the lab.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from course import checks, grade, grade_all, make
from course.cases import Check
from course.exercises import EXERCISES
from course.hand_ins import LONGEST_SOURCE
from exercises import solutions

EXERCISE = EXERCISES["private-data"]


def shortest(chance: Random) -> list[Check]:
    """The check with the fewest runs: it has two."""
    return [check for check in checks.private_data(chance) if check.text.endswith("client, simulated device: what it tells the libraries")]


def test_only_a_plain_file_of_its_own_is_read(tmp_path: Path) -> None:
    """The longest source that is, one byte more; a pipe, which nobody writes to; a folder; and links, to within and to without."""
    folder = tmp_path / "folder"
    (folder / "folder").mkdir(parents=True)
    for path, more in ((tmp_path / "out", 0), (folder / "most", 0), (folder / "more", 1)):
        path.write_text("x" * (LONGEST_SOURCE + more))
    os.mkfifo(folder / "pipe")
    for name, target in (("within", "most"), ("without", "../out"), ("circle", "circle")):
        (folder / name).symlink_to(target)
    assert [name for name in [*os.listdir(folder), "none"] if grade.own_file(folder, name)] == ["most"]


def test_a_compiler_that_is_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hand-in is not said not to compile, and grade_all.py grades it again."""
    make.write(EXERCISE, tmp_path / "mine")
    late = {"status": -signal.SIGKILL, "said": "the compiler was still running after 240 s\n"}
    monkeypatch.setattr(grade, "in_lab", lambda *_: late)
    with pytest.raises(RuntimeError, match=grade_all.LATE):
        grade.grade(tmp_path / "mine", 1)
    late["status"] = 2
    assert {mark.points for mark in grade.grade(tmp_path / "mine", 1)[1]} == {0}


@pytest.mark.parametrize("solved", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_hand_in(solved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every: Callable[..., list[Check]] = shortest
    monkeypatch.setitem(checks.CHECKS, EXERCISE.name, every)
    make.write(EXERCISE, tmp_path / "mine")
    if solved:
        (tmp_path / "mine" / EXERCISE.file).write_text(solutions.right(EXERCISE))
    build, simulated = grade.grade(tmp_path / "mine", 1)[1]
    assert build.points == build.of and (simulated.points == simulated.of) == solved, (build, simulated)
    assert solved or "your client over the simulated device: " in simulated.reason
