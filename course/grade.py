# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Grades a solution: builds it, runs it in the lab against partners, and prints why points were lost.

Place: `make grade DIR=...` calls it. Contract: from DIR it takes only the name of the exercise and the one file that
the student writes, and puts them into a tree of its own. Points go to stdout; --json FILE writes them as JSON. Exit
status: 0 it was graded, whatever the points; 2 there is nothing to grade; 1 the grader itself failed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import fakes, make, objects, reasons
from .cases import Check
from .checks import CHECKS
from .exercises import EXERCISES, TOP, Exercise

BUILD_POINTS = 10
BUILD_LIMIT_S = 300
LAB_LIMIT_S = 1500
LONGEST_SOURCE = 200_000
LIMITED = ["prlimit", "--as=4000000000", "--cpu=240", "--fsize=200000000", "--core=0"]  # for a compiler
COMPILER = [*LIMITED, "env", "LC_ALL=C", "cc"]


@dataclass
class Mark:
    """The points of one check."""

    points: int
    of: int
    text: str
    reason: str
    command: str = ""  # shows it; DIR is the submission's folder


class Unfit(Exception):
    """There is nothing to grade."""


def own_file(directory: Path, name: str) -> Path | None:
    """A file of the submission; None if it is not a plain file inside its folder."""
    path = directory / name
    inside = path.resolve() == directory.resolve() / name
    return path if inside and path.is_file() and path.stat().st_size <= LONGEST_SOURCE else None


def submitted(directory: Path) -> tuple[Exercise, str]:
    """The exercise that DIR names, and the student's file."""
    said = own_file(directory, "EXERCISE")
    if not said:
        raise Unfit(f"{directory} has no file EXERCISE: was it made by make exercise?")
    name = said.read_text(errors="replace").strip()
    if name not in EXERCISES:
        raise Unfit(f"{directory}: there is no exercise '{name[:40]}'")
    exercise = EXERCISES[name]
    path = own_file(directory, exercise.file)
    if not path:
        raise Unfit(f"{directory / exercise.file} is not a source file of at most {LONGEST_SOURCE} bytes")
    return exercise, path.read_text(errors="replace")


def taken_in(exercise: Exercise, tree: Path) -> str:
    """A file that the source includes, in any way, and that belongs neither to the tree nor to the system."""
    compiler = [*COMPILER, "-std=c11", "-D_GNU_SOURCE", "-I.", '-DOUR_STAGE="x"', exercise.file]
    limited = {"cwd": tree, "capture_output": True, "text": True, "errors": "replace", "timeout": 60}
    rule = subprocess.run([*compiler, "-M"], **limited).stdout  # type: ignore[call-overload]
    for word in rule.replace("\\\n", " ").split()[1:]:
        path = (tree / word).resolve()
        if not path.is_relative_to(tree.resolve()) and not path.is_relative_to("/usr"):
            return Path(word).name
    assembly = subprocess.run([*compiler, "-S", "-o", "-"], **limited).stdout  # type: ignore[call-overload]
    found = re.search(r"\.(incbin|include)\b", assembly)
    return f"by .{found[1]}" if found else ""


def build_programs(exercise: Exercise, tree: Path, programs: Path) -> list[str]:
    """Builds client and server. Returns what the compiler says; raises DoesNotBuild."""
    command = [*LIMITED, "make", "-C", str(tree), "--no-print-directory", "-j2"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=BUILD_LIMIT_S)
    except subprocess.TimeoutExpired as late:
        raise fakes.DoesNotBuild(f"it is not built after {BUILD_LIMIT_S} s") from late
    said = [line for line in result.stderr.splitlines() if "error:" in line or "warning:" in line]
    said = said or [line for line in result.stderr.splitlines() if "undefined" in line]
    if result.returncode:
        raise fakes.DoesNotBuild("it does not compile: " + " / ".join(said[:3])[:400])
    for name in ("client", "server"):
        shutil.copy(tree / name, programs)
    return said


def build_others(exercise: Exercise, checks: list[Check], tree: Path, programs: Path) -> None:
    """Builds the other programs of the cases: over the fake verbs, and the project's with the student's file."""
    for name in sorted({check.case["client"]["program"] for check in checks if "client" in check.case}):
        if name.startswith("fake-"):
            _, role, sanitizer = name.split("-")
            fakes.build(tree, exercise.stage, role, sanitizer, programs).rename(programs / name)
        elif name.startswith("probe-"):
            part = TOP / f"course/partners/{name.removeprefix('probe-')}.c"
            command = [*COMPILER, "-std=c11", "-I.", "-O2", str(part), exercise.file, "-o", str(programs / name)]
            result = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=BUILD_LIMIT_S)
            if result.returncode:
                raise fakes.DoesNotBuild(f"it cannot be linked with {part.name}: {result.stderr[-300:]}")
    for path in programs.glob("*.[od]"):
        path.unlink()


def build(exercise: Exercise, source: str, checks: list[Check], tree: Path, programs: Path) -> Mark:
    """Builds the programs in a tree of the grader. Nothing of the student's runs while it is compiled."""
    make.write(exercise, tree, solved=True)
    (tree / exercise.file).write_text(source)
    programs.mkdir()
    text = "it compiles without a warning"
    try:
        foreign = taken_in(exercise, tree)
        if foreign:
            return Mark(0, BUILD_POINTS, text, f"it takes in a file that is none of the exercise's: {foreign}")
        kept = objects.place(exercise, tree)
        reused = objects.take(kept, tree)
        said = build_programs(exercise, tree, programs)
        if not reused:
            objects.keep(kept, exercise, tree)
        build_others(exercise, checks, tree, programs)
    except (fakes.DoesNotBuild, subprocess.TimeoutExpired) as reason:
        return Mark(0, BUILD_POINTS, text, str(reason)[:400])
    if said:
        return Mark(BUILD_POINTS // 2, BUILD_POINTS, text, said[0][:200])
    return Mark(BUILD_POINTS, BUILD_POINTS, text, "")


def in_lab(checks: list[Check], folder: Path) -> list[dict[str, Any]]:
    """Runs each case once, in the lab. Returns the result of each check's case."""
    cases = []
    for check in checks:
        if check.case not in cases:
            cases.append(check.case)
    (folder / "cases.json").write_text(json.dumps(cases))
    paths = [str(folder / name) for name in ("cases.json", "programs", "results.json")]
    command = ["lab/run", "-q", "--writable", str(folder), "--timeout", str(LAB_LIMIT_S), "--",
               "python3", "-B", str(TOP / "course/run_cases.py"), *paths]  # fmt: skip
    result = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=LAB_LIMIT_S + 60)
    if result.returncode:
        raise RuntimeError(f"the lab ended with {result.returncode}: {(result.stdout + result.stderr)[-600:]}")
    results: list[dict[str, Any]] = json.loads((folder / "results.json").read_text())
    return [results[cases.index(check.case)] for check in checks]


def marks_of(checks: list[Check], results: list[dict[str, Any]]) -> list[Mark]:
    """The points of each check. The submission's own reports count only if a partner has seen some of it work."""
    found = [check.judge(result) for check, result in zip(checks, results)]
    seen = any(not check.own_word and not reason for check, reason in zip(checks, found))
    marks = []
    reasons_of = {check.text: reason for check, reason in zip(checks, found)}
    for check, reason in zip(checks, found):
        if reasons_of.get(check.needs):
            reason = reason or f"it counts only together with '{check.needs}'"
        if check.own_word and not seen:
            reason = reason or "no partner has seen your program work, so its own word does not count"
        shown = reasons.command(check.case, check.own_word) if reason else ""
        marks.append(Mark(0 if reason else check.points, check.points, check.text, reason, shown))
    return marks


def grade(directory: Path, seed: int) -> tuple[Exercise, list[Mark]]:
    """The marks of a submission, with what is drawn from the seed."""
    exercise, source = submitted(directory)
    checks = CHECKS[exercise.name](random.Random(seed))
    scratch = TOP / "build/course"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        built = build(exercise, source, checks, folder / "tree", folder / "programs")
        if not built.points:
            return exercise, [built] + [Mark(0, check.points, check.text, "it was not built") for check in checks]
        return exercise, [built, *marks_of(checks, in_lab(checks, folder))]


def new_seed() -> int:
    """One that nobody knows."""
    return random.SystemRandom().randrange(1, 100000)


def lines(exercise: Exercise, marks: list[Mark], seed: int, directory: str = "DIR") -> list[str]:
    """The marks as lines of text."""
    found = []
    for mark in marks:
        found.append(f"{mark.points:4d} of {mark.of:2d}  {mark.text}" + (f": {mark.reason}" if mark.reason else ""))
        if mark.command:
            found.append(" " * 12 + "see it: " + re.sub(r"\bDIR\b(?!=)", directory, mark.command))
    total = f"{sum(mark.points for mark in marks):4d} of {sum(mark.of for mark in marks)}  {exercise.name} (SEED={seed})"
    return [*found, total]


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make grade", description="Grades a solution of an exercise.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--seed", type=int, default=new_seed(), help="draw counts, sizes and the like from it")
    parser.add_argument("--fit", action="store_true", help="say whether there is something to grade, and no more")
    options = parser.parse_args()
    try:
        if options.fit:
            submitted(options.directory)
            return 0
        exercise, marks = grade(options.directory, options.seed)
    except Unfit as unfit:
        print(f"make grade: {unfit}", file=sys.stderr)
        return 2
    except RuntimeError as failure:
        print(f"make grade: {failure}", file=sys.stderr)
        return 1
    print("\n".join(lines(exercise, marks, options.seed, str(options.directory))))
    if options.json:
        total = {"points": sum(mark.points for mark in marks), "of": sum(mark.of for mark in marks)}
        checks = [vars(mark) for mark in marks]
        found = {"exercise": exercise.name, "seed": options.seed, **total, "checks": checks}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
