# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Grades a class: each folder of DIR is one student's submission, or holds several.

Place: `make grade-all DIR=...` calls it. Contract: writes a line of CSV for each submission as soon as it is graded,
also for one that cannot be graded; ends a submission that takes longer than the limit. Last, it prints the median of the
hours that students say they took, which are not checked. Exit status: 0 all were graded; 1 the grader failed for some, or
ran out of time; 2 there is nothing to grade.
"""

import argparse
import csv
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from .exercises import TOP
from .grade import new_seed, own_file

GRACE_S = 20  # seconds that the lab needs to end its machine
SAID_HOURS = re.compile(r"mark: (\d+(?:[.,]\d+)?)")


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


def submissions(directory: Path) -> list[Path]:
    """The folders to grade. If a student's folder has no file EXERCISE, the folders in it that have one are graded."""
    found = []
    for person in sorted(path for path in directory.iterdir() if path.is_dir()):
        several = [] if (person / "EXERCISE").exists() else sorted(path.parent for path in person.glob("*/EXERCISE"))
        found += several or [person]
    return found


def run(command: list[str], limit_s: float) -> tuple[int | None, str]:
    """Runs the grader in a process group of its own, which is killed with it. Returns its exit status (None if it was
    late), and stderr."""
    process = subprocess.Popen(command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)  # fmt: skip
    try:
        said = process.communicate(timeout=limit_s)[1]
        return process.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return None, ""


def plain(text: str) -> str:
    """The text in a form that no spreadsheet evaluates as a formula."""
    text = " ".join(text.split())[:1000]
    return "'" + text if text[:1] in tuple("=+-@") else text


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


def grade(tree: Path, name: str, limit_s: float, seed: int) -> tuple[Row, bool]:
    """The row of a submission, and whether the grader succeeded."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "points.json"
        begun = time.monotonic()
        command = [sys.executable, "-B", "-m", "course.grade", str(tree.absolute()), "--json", str(result), "--seed", str(seed)]
        status, said = run(command, limit_s)
        row = Row(plain(name), "", "0", "100", f"{time.monotonic() - begun:.0f}", str(seed), hours(tree), "")
        if status is None:
            row.points, row.lost = "", f"it was not graded within {limit_s:g} s"
        elif status == 2:
            row.lost = plain(said.removeprefix("make grade: "))
        elif status or not result.exists():
            row.points, row.lost = "", plain(f"the grader failed: {said[-300:]}")
        else:
            marks = json.loads(result.read_text())
            row.exercise, row.points, row.of = marks["exercise"], str(marks["points"]), str(marks["of"])
            lost = [f"{check['text']}: {check['reason']}" for check in marks["checks"] if check["reason"]]
            row.lost = plain("; ".join(lost))
        return row, status in (0, 2)


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make grade-all", description="Grades a class.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=1200, help="for each submission")
    parser.add_argument("--seed", type=int, default=new_seed(), help="the same for all submissions")
    options = parser.parse_args()
    if not options.directory.is_dir():
        print(f"make grade-all: {options.directory} is no folder", file=sys.stderr)
        return 2
    trees = submissions(options.directory)
    if not trees:
        print(f"make grade-all: there is no folder in {options.directory}", file=sys.stderr)
        return 2
    good, rows = True, []
    with options.csv.open("w", newline="") if options.csv else open(os.dup(1), "w") as out:
        table = csv.writer(out)
        table.writerow([field.name for field in fields(Row)])
        for tree in trees:
            row, done = grade(tree, str(tree.relative_to(options.directory)), options.seconds, options.seed)
            good = good and done
            rows.append(row)
            table.writerow(astuple(row))
            out.flush()
            if options.csv:
                print(f"{row.points or '-':>4} of {row.of}  {row.submission}  {row.exercise}", flush=True)
    for line in hours_of_all(rows) if options.csv else []:
        print(line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
