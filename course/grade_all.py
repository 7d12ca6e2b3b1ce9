# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Grades a class: each folder or zip in DIR is one student's submission, or holds several (hand_ins.py).

Place: `make grade-all DIR=...` calls it. Contract: writes a line of CSV for each submission as soon as it is graded,
also for one that cannot be graded; ends a submission that takes longer than the limit. Goes on with a table that is there
(grades.py). A submission that was late beside others is graded once more, alone, so that nobody loses points because of others. Last,
it prints the median of the hours that students say they took, which are not checked.
Exit status: 0 all were graded; 1 the grader failed for some, or ran out of time; 2 there is nothing to grade.
"""

import argparse
import csv
import hashlib
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from pathlib import Path

from . import temporary
from .exercises import EXERCISES
from .grade import Unfit, own_file, submitted
from .grades import Row, Unusable, graded, opened, plain, plain_name, seed_of, version
from .hand_ins import HandIn, Refused, hand_ins, student
from .reasons import printable

SAID_HOURS = re.compile(r"mark: (\d{1,3}(?:[.,]\d{1,3})?)(?!\d)")
LATE = re.compile(r"still running after|did not end in time|was not graded within")


@dataclass(frozen=True)
class How:
    """Settings that are the same for all submissions."""

    seed: int
    limit_s: float
    jobs: int
    expected: str  # the exercise that is due; empty: any
    version: str  # the grader's version
    variants: bool  # each student has the variant of his or her name


def hours(tree: Path) -> str:
    """The text of the file HOURS; empty if there is none."""
    file = own_file(tree, "HOURS")
    found = SAID_HOURS.search(file.read_text(errors="replace")) if file else None
    return found[1].replace(",", ".") if found else ""


def hours_of_all(rows: list[Row]) -> list[str]:
    """For each exercise, the median of the hours, and how many students told them."""
    said: dict[str, list[float]] = {}
    for row in rows:
        if row.hours and row.exercise:
            said.setdefault(row.exercise, []).append(float(row.hours))
    return [f"{name}: {statistics.median(found):g} hours, the median of {len(found)}" for name, found in sorted(said.items())]


def begun(one: HandIn, how: How) -> Row:
    """Everything that is known of a submission before it is graded."""
    row = Row(plain_name(one.name), of="100", expected=how.expected, grader=how.version, seed=str(how.seed), lost=plain(one.reason))
    try:
        exercise, source = submitted(one.tree) if one.tree else (None, "")
    except (Unfit, OSError) as unfit:
        where = printable(str(one.tree))  # the tree may be in a folder that is removed
        row.lost = plain(str(unfit).replace(where, printable(one.name)))
    else:
        if one.tree and exercise:
            file = one.tree / exercise.file
            row.exercise, row.hours, row.hash = exercise.name, hours(one.tree), hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            row.handed_in = datetime.fromtimestamp(file.stat().st_mtime).isoformat(" ", "seconds")
            if how.expected not in ("", row.exercise):
                row.lost = f"it is of the exercise {row.exercise}; expected: {how.expected}"
    row.points = "0" if row.lost else ""
    return row


def grade(one: HandIn, row: Row, how: How) -> tuple[Row, bool]:
    """The row of a submission, and whether the grader succeeded."""
    if row.lost or not one.tree:
        return row, True
    row, since = replace(row), time.monotonic()
    try:
        with temporary.folder() as folder:
            result = folder / "points.json"
            command = [sys.executable, "-B", "-m", "course.grade", str(one.tree.absolute()), "--json", str(result), "--seed", row.seed]
            command += ["--beside"] * (how.jobs > 1)
            status, said = temporary.run(command + ["--student", student(one.name)] * how.variants, how.limit_s)
            row.seconds = f"{time.monotonic() - since:.0f}"
            if status is None:
                row.lost = f"it was not graded within {how.limit_s:g} s"
            elif status or not result.exists():
                row.lost = plain(f"the grader failed: {said[-300:]}")
            else:
                marks = json.loads(result.read_text())
                row.points, row.of = str(marks["points"]), str(marks["of"])
                row.lost = plain("; ".join(f"{check['text']}: {check['reason']}" for check in marks["checks"] if check["reason"]))
    except Exception as why:  # one submission never costs another's grade
        row.points, row.lost = "", plain(f"the grader failed: {why!r}")
    return row, bool(row.points)


def graded_at_once(todo: list[tuple[HandIn, Row]], how: How) -> Iterator[tuple[Row, bool]]:
    """Grades several at a time. The submissions that were late come last, alone."""
    late = []
    with ThreadPoolExecutor(how.jobs) as pool:
        try:
            running = {pool.submit(grade, one, row, how): (one, row) for one, row in todo}
            for future in as_completed(running):
                row, done = future.result()
                if how.jobs > 1 and LATE.search(row.lost):
                    late.append(running[future])
                else:
                    yield row, done
        except BaseException:  # this may be a signal
            pool.shutdown(wait=False, cancel_futures=True)
            temporary.stop()
            raise
    for one, row in late:
        yield grade(one, row, replace(how, jobs=1))


def grade_all(every: list[HandIn], rows: list[Row], table: Path | None, how: How) -> int:
    """Grades the submissions that have no row yet. Returns the exit status."""
    todo = [(one, begun(one, how)) for one in every]
    rows = [row for row in rows if any(row.same(new) for _, new in todo)]
    todo = [(one, new) for one, new in todo if not any(row.same(new) for row in rows)]
    good = True
    with opened(table, rows) as out:
        for row, done in graded_at_once(todo, how):
            good = good and done
            rows.append(row)
            csv.writer(out).writerow(astuple(row))
            out.flush()
            if table:
                print(f"{row.points or '-':>4} of {row.of}  {row.submission}  {row.exercise}", flush=True)
    for line in hours_of_all(rows) if table else []:
        print(line)
    return 0 if good else 1


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make grade-all", description="Grades a class.")
    parser.add_argument("directory", type=Path, help="or a zip")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="if it is there, go on with it")
    parser.add_argument("--seconds", type=float, default=1200, help="for each submission")
    parser.add_argument("--seed", type=int, help="the same for all submissions")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="how many are graded at a time")
    parser.add_argument("--exercise", choices=EXERCISES, help="what is due: another one gets no points")
    parser.add_argument("--variants", action="store_true", help="each student has a variant, by the name of the folder or zip")
    options = parser.parse_args()
    temporary.leave_on_signals()
    try:
        rows = graded(options.csv) if options.csv and options.csv.exists() else []
        seed = seed_of(rows, options.seed)
        how = How(seed, options.seconds, max(1, options.jobs), options.exercise or "", version(), options.variants)
        with temporary.folder() as folder:
            return grade_all(hand_ins(options.directory, folder), rows, options.csv, how)
    except (Refused, Unusable) as why:
        print(f"make grade-all: {printable(str(why))}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
