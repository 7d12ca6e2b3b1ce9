# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The exercises "recover" and "exactly-once" over the simulated device: the right solution passes, and each wrong one is refused for its
own reason. course/tests/graded has the whole gradings.

Contract: the right solutions name what students must not, so that the tree has no solution that could be handed in.
"""

import subprocess
from pathlib import Path

import pytest

from course import grade, judges, make, make_sim, over_sim, recovery
from course.exercises import EXERCISES
from exercises import solutions

GROUPS = {"recover": ("client", "flaps"), "exactly-once": ("server", "once")}
RUNS = {"flaps": 3 * (1 + 1 + 1 + 1) + 2, "once": 3 * (1 + 1 + 1 + 1)}  # in the lab: four kinds on each of three devices; and who comes back to none
ONES = [one for one in solutions.SOLUTIONS if one.exercise in GROUPS and not one.forbids and (one.name == "right" or not one.student)]
QUICK = ("right", "gives up at the first flap", "comes under another name", "forgets what has no answer", "waits as long as nobody answers",
         "only in memory", "executes what comes again", "answers a repetition anew", "adds, and notes it later")  # fmt: skip


def built(one: solutions.Solution, folder: Path) -> Path:
    """The program of a solution."""
    exercise = EXERCISES[one.exercise]
    make.write(exercise, folder)
    (folder / exercise.file).write_text(one.edit(solutions.right(exercise)))
    return make_sim.build(folder, exercise.stage, GROUPS[one.exercise][0], "asan")


@pytest.mark.parametrize("one", [pytest.param(one, id=f"{one.exercise}-{one.name}", marks=[pytest.mark.long] * (one.name not in QUICK)) for one in ONES])
def test_a_solution(one: solutions.Solution, tmp_path: Path) -> None:
    role, group = GROUPS[one.exercise]
    program = built(one, tmp_path / "mine")
    runs, why = over_sim.check(EXERCISES[one.exercise].stage, role, f"{group}:1:0", str(program), effort=over_sim.IN_LAB)
    assert (runs == RUNS[group] and not why) if one.name == "right" else one.reason in why, f"after {runs} runs: {why}"


@pytest.mark.parametrize("name", GROUPS)
def test_what_a_file_must_not_name(name: str, tmp_path: Path) -> None:
    """The right solution names it, and the starting file does not."""
    exercise = EXERCISES[name]
    make.write(exercise, tmp_path)
    for source, status in (((tmp_path / exercise.file).read_text(), 0), (solutions.right(exercise), 1)):
        (tmp_path / exercise.file).write_text(source)
        subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-I.", "-c", "-o", "a.o", exercise.file], cwd=tmp_path, check=True)
        said = subprocess.run(["sh", "-c", grade.FORBIDDEN, "sh", "a.o", " ".join(exercise.forbidden)], cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == status, said.stderr
    assert grade.mark_of_build(1, said.stderr).reason.startswith(f"it names {exercise.forbidden[0]}")


def test_the_command_of_the_sheets() -> None:
    """TESTS is no variable of the build, which passes it on to each make below."""
    command = ["make", "-n", "sim", "DIR=mine", "ROLE=client", "TESTS=flaps:1:0"]
    said = subprocess.run(command, cwd=solutions.TOP, capture_output=True, text=True, timeout=120)
    assert said.returncode == 0 and 'make_sim "mine" "client" "flaps:1:0"' in said.stdout, said.stderr


def printed(*additions: tuple[int, int, int, int | None]) -> str:
    """The lines of a client: when it asked, when it had the answer, the addend, and the result; of one without an answer, None."""
    lines = []
    for number, (called, returned, addend, result) in enumerate(additions):
        lines += [f"asks 1 {number} 0 {addend} {called}"] + [f"got 1 {number} {result} {returned}"] * (result is not None)
    return "\n".join(lines)


@pytest.mark.parametrize(
    "reason, additions",
    [
        ("", [(0, 1, 5, 0), (2, 3, 7, 5)]),
        ("", [(0, 9, 5, 7), (1, 8, 7, 0)]),
        ("", [(0, 1, 5, None), (2, 3, 7, 5)]),
        ("", [(0, 1, 5, None), (2, 3, 7, 0)]),
        ("was forgotten", [(0, 1, 5, 0), (2, 3, 7, 0)]),
        ("executed twice", [(0, 1, 5, 0), (2, 3, 7, 10)]),
        ("executed earlier", [(0, 1, 5, 7), (2, 3, 7, 0)]),
    ],
)
def test_a_history(reason: str, additions: list[tuple[int, int, int, int | None]]) -> None:
    found = recovery.wrong_history(recovery.history(printed(*additions)))
    assert reason in found and bool(reason) == bool(found)


@pytest.mark.parametrize(
    "reason, lines",
    [
        ("", "a{0}:0 a{0}:1 a{0}:2"),
        ("twice", "a{0}:0 a{0}:1 a{0}:1"),
        ("2 of 3", "a{0}:0 a{0}:1"),
        ("in the order", "a{0}:0 a{0}:2 a{0}:1"),
        ("2 names", "a{0}:0 a{0}:1 b{0}:2"),
        ("0xa000 and 12 digits", "b{0}:0 b{0}:1 b{0}:2"),
    ],
)
def test_a_journal(reason: str, lines: str) -> None:
    """As partners/comes-again prints it."""
    out = "\n".join(f"{name}:{int(number):012}" for name, number in (line.split(":") for line in lines.format("0" * 15).split()))
    found = judges.done_once(3, 0xA000)({"server": {"out": out}, "client": {"status": 0, "err": ""}})
    assert reason in found and bool(reason) == bool(found)
