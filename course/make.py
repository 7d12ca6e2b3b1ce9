# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""make.py NAME DIRECTORY: writes the starting tree of an exercise.

Place: `make exercise NAME=... DIR=...` calls it. Contract: the tree builds by itself and contains nothing of the
solution. The directory must not exist yet.
"""

import argparse
import sys
from pathlib import Path

from . import cut, edit, trees, variants
from .exercises import EXERCISES, TOP, Exercise

HOURS = """How many hours did this exercise take you, reading included? A number, in place of the question mark: ?
It is for the times that the course tells others, and counts for nothing.
"""


def without_solution(exercise: Exercise, source: str) -> str:
    """The student's file at the beginning."""
    for name, old, new in exercise.replaced:
        source = edit.replace(source, name, old, new)
    for name in exercise.removed:
        source = cut.remove(source, name)
    for name in exercise.emptied:
        source = cut.empty(source, name, exercise.words.get(name, "ENOSYS"))
    return source


def unwritten(exercise: Exercise, source: str) -> list[str]:
    """The functions of a student's file that still do nothing but return ENOSYS, as at the beginning."""
    found = []
    for name in (name for name in exercise.emptied if name not in exercise.words):
        try:
            empty = cut.empty(source, name)
            _, first, last = cut.find(empty.split("\n"), name)
        except (cut.NotThere, ValueError):  # the student's file may look like anything
            continue
        if "return ENOSYS;" in "\n".join(empty.split("\n")[first:last]) and edit.same(source, empty):
            found.append(name)
    return found


def write(exercise: Exercise, directory: Path, solved: bool = False, student: str = "") -> None:
    """Writes the tree; with `solved`, as the grader needs it, with the original sources. The sheet has the student's variant."""
    trees.write(directory, exercise.stage, f" of the exercise {exercise.name}. You write {exercise.file}")
    if not solved:
        source = (TOP / exercise.file).read_text()
        (directory / exercise.file).write_text(without_solution(exercise, source))
    (directory / "README.md").write_text(exercise.task.read_text() + variants.task(exercise.name, student))
    (directory / "EXERCISE").write_text(exercise.name + "\n")
    (directory / "HOURS").write_text(HOURS)


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make exercise", description="Writes the starting tree of an exercise.")
    parser.add_argument("name", choices=sorted(EXERCISES))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--student", default="", help="write the variant of this student")
    options = parser.parse_args()
    if options.directory.exists():
        print(f"make exercise: {options.directory} exists already: choose another DIR", file=sys.stderr)
        return 2
    write(EXERCISES[options.name], options.directory, student=options.student)
    exercise = EXERCISES[options.name]
    print(f"{options.directory}: read README.md, write {exercise.file}, build with make")
    return 0


if __name__ == "__main__":
    sys.exit(main())
