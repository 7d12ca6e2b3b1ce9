# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Grades a class: each folder or zip in DIR is one student's submission, or holds several (hand_ins.py).

Place: `make grade-all DIR=...` calls it. Contract: writes a line of CSV for each submission as soon as it is graded,
also for one that cannot be graded; ends a submission that takes longer than the limit. Goes on with a table that is there:
grades only what has no points in it. Last, it prints the median of the hours that students say they took, which are not
checked. Exit status: 0 all were graded; 1 the grader failed for some, or ran out of time; 2 there is nothing to grade.
"""

import argparse
import csv
import json
import os
import re
import statistics
import sys
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from . import temporary
from .grade import new_seed, own_file
from .hand_ins import HandIn, Refused, hand_ins
from .reasons import printable

FORMULA = re.compile(r"(^|[;\t])(?=\s*['=+\-@\uff1d\uff0b\uff0d\uff20])")  # a spreadsheet may take ; for the end of a cell
SAID_HOURS = re.compile(r"mark: (\d{1,3}(?:[.,]\d{1,3})?)(?!\d)")


@dataclass
class Row:
    """What is known of a submission."""

    submission: str
    exercise: str
    points: str
    of: str
    seconds: str
    seed: str
    hours: str  # that the student says it took; empty if it does not say
    lost: str  # where points were lost, or why there are no points


class Unusable(Exception):
    """The table cannot be continued."""


def plain(text: str) -> str:
    """The text in a form that no spreadsheet evaluates as a formula, and no terminal obeys."""
    return FORMULA.sub(r"\1'", printable(" ".join(text.split())[:1000]))


def plain_name(name: str) -> str:
    """The same of the path of a submission. Two paths never have the same."""
    return FORMULA.sub(r"\1'", printable(name.replace("\\", "\\\\")))


def hours(tree: Path) -> str:
    """What the file HOURS says; empty if it says nothing."""
    file = own_file(tree, "HOURS")
    found = SAID_HOURS.search(file.read_text(errors="replace")) if file else None
    return found[1].replace(",", ".") if found else ""


def hours_of_all(rows: list[Row]) -> list[str]:
    """For each exercise, the median of the hours, and of how many."""
    said: dict[str, list[float]] = {}
    for row in rows:
        if row.hours and row.exercise:
            said.setdefault(row.exercise, []).append(float(row.hours))
    return [f"{name}: {statistics.median(found):g} hours, the median of {len(found)}" for name, found in sorted(said.items())]


def grade(one: HandIn, limit_s: float, seed: int) -> tuple[Row, bool]:
    """The row of a submission, and whether the grader succeeded."""
    row = Row(plain_name(one.name), "", "0", "100", "0", str(seed), "", plain(one.reason))
    if not one.tree:
        return row, True
    with temporary.folder() as folder:
        result = folder / "points.json"
        begun = time.monotonic()
        command = [sys.executable, "-B", "-m", "course.grade", str(one.tree.absolute()), "--json", str(result), "--seed", str(seed)]
        status, said = temporary.run(command, limit_s)
        row.seconds, row.hours = f"{time.monotonic() - begun:.0f}", hours(one.tree)
        if status is None:
            row.points, row.lost = "", f"it was not graded within {limit_s:g} s"
        elif status == 2:
            where = printable(str(one.tree.absolute()))  # it may be a folder that is removed
            row.lost = plain(said.removeprefix("make grade: ").replace(where, printable(one.name)))
        elif status or not result.exists():
            row.points, row.lost = "", plain(f"the grader failed: {said[-300:]}")
        else:
            marks = json.loads(result.read_text())
            row.exercise, row.points, row.of = marks["exercise"], str(marks["points"]), str(marks["of"])
            lost = [f"{check['text']}: {check['reason']}" for check in marks["checks"] if check["reason"]]
            row.lost = plain("; ".join(lost))
        return row, status in (0, 2)


def graded(table: Path) -> list[Row]:
    """The rows of a table that have points. A last row that is not whole was being written when a grader was killed."""
    names = [field.name for field in fields(Row)]
    with table.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        first, *rows = list(csv.reader(file)) or [names]
    if first != names:
        raise Unusable(f"{table} has other columns than {','.join(names)}")
    return [row for row in (Row(*cells) for cells in rows if len(cells) == len(names)) if row.points]


def seed_of(rows: list[Row], asked: int | None) -> int:
    """The seed of a table with these rows. All submissions have the same."""
    seeds = {row.seed for row in rows} or {str(asked or new_seed())}
    if len(seeds) > 1 or (asked and seeds != {str(asked)}):
        raise Unusable(f"the table has the seeds {', '.join(sorted(seeds))}, and all submissions get the same: write another CSV")
    return int(seeds.pop())


def write_table(path: Path, rows: list[Row]) -> None:
    """Writes the head and these rows, all or nothing."""
    new = path.with_name(path.name + ".new")
    with new.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([[field.name for field in fields(Row)], *map(astuple, rows)])
    new.replace(path)


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make grade-all", description="Grades a class.")
    parser.add_argument("directory", type=Path, help="or a zip")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="if it is there, go on with it")
    parser.add_argument("--seconds", type=float, default=1200, help="for each submission")
    parser.add_argument("--seed", type=int, help="the same for all submissions")
    options = parser.parse_args()
    temporary.leave_on_signals()
    try:
        rows = graded(options.csv) if options.csv and options.csv.exists() else []
        seed = seed_of(rows, options.seed)
        with temporary.folder() as folder:
            every = hand_ins(options.directory, folder)
            return grade_all(every, rows, options.csv, options.seconds, seed)
    except (Refused, Unusable) as why:
        print(f"make grade-all: {printable(str(why))}", file=sys.stderr)
        return 2


def grade_all(every: list[HandIn], rows: list[Row], table: Path | None, limit_s: float, seed: int) -> int:
    """Grades those that have no row yet. Returns the exit status."""
    good, known = True, {row.submission for row in rows}
    if table:
        write_table(table, rows)
    with table.open("a", newline="", encoding="utf-8") if table else open(os.dup(1), "w", encoding="utf-8") as out:
        writer = csv.writer(out)
        if not table:
            writer.writerow([field.name for field in fields(Row)])
        for one in (one for one in every if plain_name(one.name) not in known):
            try:
                row, done = grade(one, limit_s, seed)
            except Exception as why:  # one submission never costs another's grade
                row, done = Row(plain_name(one.name), "", "", "100", "", str(seed), "", plain(f"the grader failed: {why!r}")), False
            good = good and done
            rows.append(row)
            writer.writerow(astuple(row))
            out.flush()
            if table:
                print(f"{row.points or '-':>4} of {row.of}  {row.submission}  {row.exercise}", flush=True)
    for line in hours_of_all(rows) if table else []:
        print(line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
