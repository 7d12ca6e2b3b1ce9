# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Grades right, lazy, wrong and dishonest solutions of the exercises, and compares the points with what is expected.

    python3 -m pytest course/tests/graded -m '' -k ping-sr-2e

Contract: each grading boots a machine of the lab.
"""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from course import grade, make
from course.checks import CHECKS
from course.exercises import EXERCISES, Exercise
from exercises import dishonest, solutions
from tools import stages

pytestmark = pytest.mark.long
TOP = Path(__file__).resolve().parents[3]
SOLUTIONS = solutions.SOLUTIONS + dishonest.SOLUTIONS
SECRET = "a secret of the grader: 4711"
MOST_AT_FIRST, MOST_LAZY = 40, 70  # points of a tree as `make exercise` writes it, and of a lazy solution
SEED = 1  # the seed of the output that course/README.md quotes
OTHER_SEED = 2  # a second seed for the right solutions, with other counts and sizes
JUDGES = TOP / "course/judges.py"
BEGIN = "as it begins"
QUOTED = ("signaling", BEGIN)


@dataclass
class Job:
    """A source, and the points and the reason that are expected."""

    exercise: Exercise
    name: str
    source: str
    least: int
    most: int
    reason: str = ""  # a word of some reason
    seed: int = SEED
    student: str = ""  # the student whose variant is due
    forbids: bool = False  # it is graded with the check on what the file must not name: see solutions.py


def graded(exercise: Exercise, source: str, seed: int = SEED, student: str = "") -> list[grade.Mark]:
    """The marks of a source."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "submission"
        make.write(exercise, tree)
        (tree / exercise.file).write_text(source)
        # The grader has its own of all these.
        (tree / "Makefile").write_text("all:\n\ttouch client server\n")
        (tree / "common/waiting.h").write_text("#error it has taken the submission's header\n")
        (tree / "course").mkdir()
        (tree / "course/judges.py").write_text("raise SystemExit('it has taken the submission as a grader')\n")
        return grade.grade(tree, seed, student)[1]


def not_quoted(job: Job, marks: list[grade.Mark]) -> str:
    """Lines of the output that course/README.md should quote, and does not."""
    if (job.exercise.name, job.name) != QUOTED:
        return ""
    page = (TOP / "course/README.md").read_text().splitlines()
    lines = [line for line in grade.lines(job.exercise, marks, SEED) if not line.strip().startswith("see it: ")]
    return " / ".join(line for line in lines if f"    {line}" not in page)


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    """Prepares what the gradings have in common, and a file that no solution may show."""
    stages.make("course-build")
    dishonest.SECRET.parent.mkdir(parents=True, exist_ok=True)
    dishonest.SECRET.write_text(SECRET + "\n")


def jobs_of(exercise: Exercise) -> Iterator[Job]:
    """The sources of an exercise."""
    right, start = solutions.right(exercise), make.without_solution(exercise, (TOP / exercise.file).read_text())
    yield Job(exercise, BEGIN, start, 0, MOST_AT_FIRST)
    for one in SOLUTIONS:
        if one.exercise == exercise.name:
            most = min(one.most, MOST_LAZY) if one.lazy else one.most
            seed = OTHER_SEED if one.name == "right" else SEED
            yield Job(exercise, one.name, one.edit(right), one.least, most, one.reason, seed, one.student, one.forbids)


JOBS = [job for exercise in EXERCISES.values() for job in jobs_of(exercise)]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: f"{job.exercise.name}, {job.name}")
def test_a_solution(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solution gets the points that it deserves, for a reason that its author is told; and it leaves the grader alone."""
    before = JUDGES.read_bytes()
    if job.exercise.forbidden and not job.forbids:
        monkeypatch.setattr(grade, "FORBIDDEN", "true")
    marks = graded(job.exercise, job.source, job.seed, job.student)
    points, reasons = sum(mark.points for mark in marks), "; ".join(mark.reason for mark in marks if mark.reason)
    assert job.least <= points <= job.most, reasons
    assert job.reason in reasons and reasons.isprintable()
    assert JUDGES.read_bytes() == before
    assert SECRET not in str(marks)
    assert not not_quoted(job, marks), "course/README.md quotes other lines"
    if job.name == BEGIN:
        of = CHECKS[job.exercise.name](Random(job.seed))
        passed = [check.text for check, mark in zip(of, marks[1:]) if check.key and not mark.reason]
        assert not passed, "what should show that the task is done"


def class_of(folder: Path) -> None:
    """Submissions of a class: one that is right, and others."""
    exercise = EXERCISES["verify"]
    for person in ("ada", "bob", "eve", "=fred"):
        make.write(exercise, folder / person, solved=person == "ada")
    solution = folder / "eve" / exercise.file
    solution.unlink()
    solution.parent.rename(folder / "eve/old")
    (folder / "eve" / Path(exercise.file).parent).symlink_to(TOP / Path(exercise.file).parent)
    (folder / "bob/EXERCISE").unlink()
    (folder / "gus").symlink_to("ada")
    (folder / "=fred" / exercise.file).write_text("int x = ;\n")


def test_the_jail() -> None:
    """Tries the attacks on the jail, all in one machine, which prints a line for each."""
    command = ["lab/run", "-q", "--timeout", "600", "--env", "PYTHONPATH=.:course/tests", "--",
               sys.executable, "-B", "-m", "exercises.in_jail", str(dishonest.SECRET)]  # fmt: skip
    result = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-600:]
    attacks = [line.partition(":") for line in result.stdout.splitlines()]
    assert attacks and not [(name, why) for name, _, why in attacks if why.strip()]


GREEDY = """	char *page = malloc(1 << 20);
	FILE *file = fopen("/tmp/full", "w");

	kill(-1, SIGKILL);
	while (file && page && fwrite(page, 1 << 20, 1, file))
		;
	for (;;)
		fork();"""


class TestAClass:
    """The table of a class."""

    def test_neighbours(self, tmp_path: Path) -> None:
        """A submission that kills, fills the disk and forks runs at the same time as one that is right."""
        exercise = EXERCISES["verify"]
        for person in ("ada", "eve"):
            make.write(exercise, tmp_path / "class" / person)
            (tmp_path / "class" / person / exercise.file).write_text(solutions.right(exercise))
        greedy = "#include <signal.h>\n" + solutions.before_main(GREEDY)(solutions.right(exercise))
        (tmp_path / "class/eve" / exercise.file).write_text(greedy)
        command = [sys.executable, "-B", "-m", "course.grade_all", str(tmp_path / "class"), "--csv", str(tmp_path / "grades.csv"), "--jobs", "2", "--seconds", "180"]
        subprocess.run(command, cwd=TOP, stdout=subprocess.DEVNULL)  # its status says if eve was graded within the limit
        rows = {row["submission"]: row for row in csv.DictReader((tmp_path / "grades.csv").open())}
        assert rows["ada"]["points"] == "100" and int(rows["eve"]["points"] or 0) <= 10, rows

    def table(self, tmp_path: Path, *options: str) -> tuple[int, dict[str, dict[str, str]]]:
        """The exit status, and the rows."""
        folder, table = tmp_path / "class", tmp_path / "grades.csv"
        folder.mkdir()
        class_of(folder)
        command = [sys.executable, "-B", "-m", "course.grade_all", str(folder), "--csv", str(table), "--seed", "7", *options]
        status = subprocess.run(command, cwd=TOP, stdout=subprocess.DEVNULL).returncode
        return status, {row["submission"]: row for row in csv.DictReader(table.open())}

    def test_points(self, tmp_path: Path) -> None:
        """All submissions are graded by one seed."""
        status, rows = self.table(tmp_path)
        assert status == 0 and {row["seed"] for row in rows.values()} == {"7"}
        due = {"ada": ("100", ""), "bob": ("0", "no file EXERCISE"), "eve": ("0", "not a source file"),
               "gus": ("0", "symbolic link"), "'=fred": ("0", "does not compile")}  # fmt: skip
        for person, (points, lost) in due.items():
            assert rows[person]["points"] == points and lost in rows[person]["lost"], rows[person]

    def test_no_time(self, tmp_path: Path) -> None:
        """A student who is not graded in time gets no points, rather than 0."""
        status, rows = self.table(tmp_path, "--seconds", "1")
        assert status == 1 and not rows["ada"]["points"]
        assert "within 1 s" in rows["ada"]["lost"]
