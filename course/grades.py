# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of a class: a line of CSV for each submission.

Place: used by grade_all.py and similar.py. Contract: a line stays if it has points, and the submission's file, its exercise, the exercise
that is due, the grader and the seed are the same. No cell is a formula for a spreadsheet.
"""

import csv
import hashlib
import os
import re
import subprocess
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import IO

from tools.folders import TOP, files

from .grade import new_seed
from .reasons import printable

FORMULA = re.compile(r"(^|[;\t])(?=\s*['=+\-@\uff1d\uff0b\uff0d\uff20])")  # a spreadsheet may take ; for the end of a cell


@dataclass
class Row:
    """All that is known of a submission."""

    submission: str
    exercise: str = ""
    expected: str = ""  # the exercise that is due; empty: any
    handed_in: str = ""  # the time when the student's file was written, as the file or the zip says
    hash: str = ""  # the first digits of the SHA-256 of the student's file
    points: str = ""
    of: str = ""
    seconds: str = ""
    seed: str = ""
    grader: str = ""  # the grader's version
    hours: str = ""  # hours that the student says the exercise took; empty if the student does not say
    lost: str = ""  # the checks that lost points, or the reason why there are no points

    def same(self, other: "Row") -> bool:
        """Returns whether the other one would have the same points."""
        names = ("submission", "exercise", "expected", "hash", "seed", "grader")
        return bool(self.hash) and all(getattr(self, name) == getattr(other, name) for name in names)


class Unusable(Exception):
    """The table cannot be continued."""


def plain(text: str) -> str:
    """The text in a form that no spreadsheet evaluates as a formula, and no terminal obeys."""
    return FORMULA.sub(r"\1'", printable(" ".join(text.split())[:1000]))


def plain_name(name: str) -> str:
    """The path of a submission in such a form. Two paths never have the same form."""
    return FORMULA.sub(r"\1'", printable(name.replace("\\", "\\\\")))


def version() -> str:
    """The grader's version: the commit, and a hash of the grader's files if they were changed or there is no commit."""
    git = ["git", "-C", str(TOP)]
    said = subprocess.run([*git, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    if said and not said.endswith("-dirty"):
        return said
    found = hashlib.sha256()
    for name in files(".c", ".h", ".py", "Makefile", ".mk"):
        found.update((TOP / name).read_bytes())
    return f"{said or 'no-commit'}-{found.hexdigest()[:8]}"


def graded(table: Path) -> list[Row]:
    """The rows of a table that have points. A last row that is not whole was being written when a grader was killed."""
    names = [field.name for field in fields(Row)]
    with table.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        first, *rows = list(csv.reader(file)) or [names]
    if first != names:
        raise Unusable(f"{table} has other columns than {','.join(names)}")
    return [row for row in (Row(*cells) for cells in rows if len(cells) == len(names)) if row.points]


def seed_of(rows: list[Row], asked: int | None) -> int:
    """The seed of a table with these rows. All rows have the same one."""
    seeds = {row.seed for row in rows} or {str(asked or new_seed())}
    if len(seeds) > 1 or (asked and seeds != {str(asked)}):
        raise Unusable(f"the table has the seeds {', '.join(sorted(seeds))}, and all submissions get the same: write another CSV")
    return int(seeds.pop())


def opened(path: Path | None, rows: list[Row]) -> IO[str]:
    """A table to add rows to, with its head and these rows, which are written all or not at all. Without a path: stdout."""
    if path is None:
        out = open(os.dup(1), "w", encoding="utf-8")
        csv.writer(out).writerow([field.name for field in fields(Row)])
        return out
    new = path.with_name(path.name + ".new")
    with new.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([[field.name for field in fields(Row)], *map(astuple, rows)])
    new.replace(path)
    return path.open("a", newline="", encoding="utf-8")
