# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the students' tree: the project without what a lecturer keeps.

Place: `make students DIR=...` calls it. Contract: copies the project's files but for PRIVATE, and the labs' sheets without
their answers; DIR must not exist yet. What remains of solutions are the stages themselves, which the labs read and run, and the
faults of the bug labs, which `make bug` plants.
"""

import argparse
import re
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path

from tools.folders import TOP, files

PRIVATE = (
    "course/slides/*-notes.md",  # the text of the lecture, with the answers
    "course/written-test*.md",
    "course/tests/exercises/solutions.py",
    "course/tests/exercises/dishonest.py",
    "course/tests/exercises/attacks/*",
    "course/tests/exercises/forgery.c",
    "course/tests/exercises/in_jail.py",
    "course/tests/exercises/test_grading.py",
    "course/tests/exercises/test_recovery.py",
    "course/tests/exercises/test_similar.py",
    "course/tests/exercises/test_solutions.py",
    "course/tests/graded/*",
    "course/tests/mine/*",
)
SHEETS = "course/labs/lab-*[0-9].md"
ANSWER = re.compile(r"<details><summary>Answers?</summary>\n.*?\n</details>\n+", re.DOTALL)


def private(name: str) -> bool:
    """Returns whether a lecturer keeps this file."""
    return any(fnmatch(name, pattern) for pattern in PRIVATE)


def write(directory: Path) -> tuple[list[str], list[str]]:
    """Writes the tree. Returns the files that it has, and those that it has not."""
    names = files()
    kept = [name for name in names if not private(name)]
    for name in kept:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, directory / name)
        if fnmatch(name, SHEETS):
            (directory / name).write_text(ANSWER.sub("", (TOP / name).read_text()))
    return kept, [name for name in names if private(name)]


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make students", description="Writes the project without notes and solutions.")
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    if directory.exists():
        print(f"make students: {directory} exists already: choose another DIR", file=sys.stderr)
        return 2
    kept, left_out = write(directory)
    print(f"{directory}: {len(kept)} files. Left out: {len(left_out)}")
    print("\n".join(f"  {name}" for name in left_out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
