# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Grades a solution: builds it and runs it against partners, in the lab, and prints why points were lost.

Place: `make grade DIR=...` calls it. Contract: from DIR it takes only the name of the exercise and the one file that
the student writes, and puts that file into a tree of its own. Nothing of the student's is compiled or run on this
machine. Points go to stdout; --json FILE writes them as JSON, --gradescope and --classroom as those read them (formats.py),
also when there is nothing to grade. Exit status: 0 it was graded, whatever the points; 2 there is nothing to grade; 1 the
grader itself failed.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import formats, make, reasons, temporary, trees, variants
from .cases import ITSELF, PARTNER, Check
from .checks import CHECKS
from .exercises import EXERCISES, TOP, Exercise
from .hand_ins import LONGEST_SOURCE

BUILD_POINTS = 10
# Compiles a file, with nothing in it that tells the compiler not to warn: no such pragma, wherever a macro puts it, and no
# line that says that the rest is from a system header. gcc keeps both when it preprocesses, so sed removes them then. The
# first warning is printed without the file's name, which may be anything.
ALL_WARNINGS = r"""gcc -std=c11 -D_GNU_SOURCE -I. -E -C "$1" |
sed -E '/^# *pragma (GCC|clang) (diagnostic|system_header)/d; s/^(# [0-9]+ "[^"]*").*/\1/' |
gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -O2 -fno-diagnostics-show-caret -x c -fpreprocessed -S -o /dev/null - 2>&1 |
grep -a -m1 -o 'warning: .*' >&2 || true"""
# Says which of these functions an object names, whether it defines them or calls them.
FORBIDDEN = r"""for name in $2; do ! nm "$1" | grep -qw -- "$name" || { echo "it names $name, which this exercise is to be done without" >&2; exit 1; }; done"""
LAB_LIMIT_S = 1500
CPUS = 1  # an emulated machine with two takes twice as much processor time for everything
PART_OF_ANOTHER = re.compile(r"^\s|^make\b|^collect2:|^In file included|: In function |messages:$|^compilation term")


@dataclass
class Mark:
    """The points of one check."""

    points: int
    of: int
    text: str
    reason: str
    command: str = ""  # a command that shows the loss; DIR is the submission's folder

    def __post_init__(self) -> None:
        """Makes the reason printable, because it quotes what the submission and its compiler say."""
        self.reason = reasons.printable(self.reason)


class Unfit(Exception):
    """There is nothing to grade."""


def own_file(directory: Path, name: str) -> Path | None:
    """A file of the submission; None if it is not a plain file inside its folder."""
    path = directory / name
    try:
        inside = path.resolve() == directory.resolve() / name
        return path if inside and path.is_file() and path.stat().st_size <= LONGEST_SOURCE else None
    except (OSError, RuntimeError):  # links that lead to each other
        return None


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


def built(file: str, flags: str, own: str, linked: dict[str, str]) -> str:
    """Lines of a shell that compile the student's file, and link it with all else into programs."""
    cc = f"{os.environ.get('CC', 'cc')} {flags}"
    lines = [f"{cc} -std=c11 -D_GNU_SOURCE -I. -c {file} -o {own}"]
    lines += [f"{cc} {others.replace('own.o', own)} -lrdmacm -libverbs -pthread -o {program}" for program, others in linked.items()]
    return "\n".join(lines)


def pack(exercise: Exercise, source: str, checks: list[Check], tree: Path) -> tuple[list[list[str]], list[str]]:
    """Makes a tree with the student's file, all headers, and what all other files were compiled to. Returns the commands that build
    the programs of the cases there, and the names of these programs."""
    linked = trees.link(tree, exercise.stage, exercise.file)
    (tree / exercise.file).parent.mkdir(parents=True, exist_ok=True)
    (tree / exercise.file).write_text(source)
    clients = [check.case["client"] for check in checks if "client" in check.case]
    names, programs = {client["program"] for client in clients}, ["client", "server"]
    flags = os.environ.get("CFLAGS", "-O2")
    commands = [["sh", "-ec", built(exercise.file, f"-Wall -Wextra -Wshadow {flags}", "own.o", linked)]]
    commands.append(["sh", "-c", ALL_WARNINGS, "sh", exercise.file])
    if exercise.forbidden:
        commands.append(["sh", "-c", FORBIDDEN, "sh", "own.o", " ".join(exercise.forbidden)])
    if "sim" in names:
        roles = sorted({f"sim/{client['arguments'][1]}" for client in clients if client["program"] == "sim"})
        with_host = {role: f"{linked[role.removeprefix('sim/')]} host.o" for role in roles}
        commands.append(["sh", "-ec", "mkdir sim; " + built(exercise.file, trees.simulated("asan"), "sim/own.o", with_host)])
        programs += roles
    for name in sorted(name for name in names if name.startswith("probe-")):
        part = Path(shutil.copy(TOP / f"course/partners/{name.removeprefix('probe-')}.c", tree)).name
        commands.append(["cc", "-std=c11", "-I.", "-O2", part, exercise.file, "-o", name])
        programs.append(name)
    subprocess.run(["strip", "--strip-debug", *tree.glob("*.[ao]")], check=True)  # the lab's linker has less to read
    return commands, programs


def mark_of_build(status: int, said: str) -> Mark:
    """The points for compiling."""
    text, lines = "it compiles without a warning", [line for line in said.splitlines() if line]
    own = [line for line in lines if not PART_OF_ANOTHER.search(line)] or lines
    if status:
        refused = [line for line in own if line.startswith("it names ")]
        return Mark(0, BUILD_POINTS, text, (refused[0] if refused else "it does not compile: " + " / ".join(own[:3]))[:400])
    warnings = [line for line in own if "warning:" in line.lower()]
    return Mark(BUILD_POINTS // 2 if warnings else BUILD_POINTS, BUILD_POINTS, text, "".join(warnings[:1])[:200])


def in_lab(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Builds and runs what the folder has, in the lab. Returns the results."""
    (folder / "job.json").write_text(json.dumps(job))
    command = ["lab/run", "-q", "--cpus", str(CPUS), "--writable", str(folder), "--timeout", str(LAB_LIMIT_S), "--",
               sys.executable, "-B", "-m", "course.run_cases", str(folder)]  # fmt: skip
    status, said = temporary.run(command, LAB_LIMIT_S + 60)
    if status != 0:
        raise RuntimeError(f"the lab ended with {status}: {said[-600:]}")
    results: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return results


def marks_of(checks: list[Check], results: list[dict[str, Any]], unwritten: list[str]) -> list[Mark]:
    """The points of each check. The submission's own reports count only if those outside of it have seen it work. `unwritten`:
    functions that are as in the starting file."""
    found = [check.judge(result) for check, result in zip(checks, results)]
    found = [reason and reason + reasons.not_implemented(reason, result, unwritten) for reason, result in zip(found, results)]
    failed = {check.text: check for check, reason in zip(checks, found) if reason}
    marks = []
    for check, reason in zip(checks, found):
        missing = [text for text, other in failed.items() if text == check.needs or (other.key and check.by == ITSELF)]
        reason = reason or (f"it counts only together with '{missing[0]}'" if missing else "")
        shown = reasons.command(check.case, check.by != PARTNER) if reason else ""
        marks.append(Mark(0 if reason else check.points, check.points, check.text, reason, shown))
    return marks


def grade(directory: Path, seed: int, student: str = "", alone: bool = True) -> tuple[Exercise, list[Mark]]:
    """The marks of a submission. `seed` decides about what is drawn, and `student` about the variant."""
    exercise, source = submitted(directory)
    chance = random.Random(seed)
    checks = CHECKS[exercise.name](chance, **variants.of(exercise.name, student))
    cases: list[dict[str, Any]] = []
    for check in checks:
        if check.case not in cases:
            cases.append(check.case)
    with temporary.folder() as folder:
        commands, programs = pack(exercise, source, checks, folder / "tree")
        order = chance.sample(range(len(cases)), len(cases))  # numbers of QPs tell how many cases have run before
        # All cases are traced alike, because the submission can see how it is traced. Messages make a trace slow.
        trace = "-j" if any(check.each_message for check in checks) else "-jq"
        job = {"stage": exercise.stage, "commands": commands, "programs": programs, "cases": cases, "order": order,
               "trace": trace, "alone": alone}  # fmt: skip
        found = in_lab(job, folder)
    if found["status"] == -signal.SIGKILL:  # a compiler that works without end is ended by its limit of processor time
        raise RuntimeError(f"{found['said'].strip()}, most likely because of what else runs on this machine")
    built = mark_of_build(found["status"], found["said"])
    if not built.points:
        return exercise, [built] + [Mark(0, check.points, check.text, "it was not built") for check in checks]
    results = [found["cases"][cases.index(check.case)] for check in checks]
    return exercise, [built, *marks_of(checks, results, make.unwritten(exercise, source))]


def new_seed() -> int:
    """A seed that nobody knows."""
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


def write(options: argparse.Namespace, outcome: formats.Outcome) -> None:
    """The files for other programs that grade."""
    if options.gradescope:
        options.gradescope.write_text(formats.gradescope(outcome))
    if options.classroom:
        with options.classroom.open("a") as out:  # the file has the outputs of other steps, too
            out.write(formats.classroom(outcome))


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(prog="make grade", description="Grades a solution of an exercise.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--gradescope", type=Path, metavar="FILE", help="write it as the results.json of Gradescope")
    parser.add_argument("--classroom", type=Path, metavar="FILE", help="append a step's result for GitHub Classroom")
    parser.add_argument("--seed", type=int, default=new_seed(), help="draw counts, sizes and the like from it")
    parser.add_argument("--student", default="", help="expect the variant of this student")
    parser.add_argument("--beside", action="store_true", help="others are graded at the same time: run no case after one that takes too long")
    parser.add_argument("--fit", action="store_true", help="say whether there is something to grade, and no more")
    options = parser.parse_args()
    temporary.leave_on_signals()
    try:
        if options.fit:
            submitted(options.directory)
            return 0
        exercise, marks = grade(options.directory, options.seed, options.student, not options.beside)
    except Unfit as unfit:
        reason = reasons.printable(str(unfit))
        print(f"make grade: {reason}", file=sys.stderr)
        write(options, formats.Outcome("nothing to grade", reason=reason))
        return 2
    except RuntimeError as failure:
        print("make grade: " + "\n".join(map(reasons.printable, str(failure).splitlines())), file=sys.stderr)
        return 1
    print("\n".join(lines(exercise, marks, options.seed, reasons.printable(str(options.directory)))))
    checks = [vars(mark) for mark in marks]
    write(options, formats.Outcome(f"{exercise.name} (SEED={options.seed})", checks))
    if options.json:
        total = {"points": sum(mark.points for mark in marks), "of": sum(mark.of for mark in marks)}
        found = {"exercise": exercise.name, "seed": options.seed, **total, "checks": checks}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
