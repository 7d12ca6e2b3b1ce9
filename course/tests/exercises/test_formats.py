# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the points that make grade writes for Gradescope and for GitHub Classroom, and of the hours that a class reports.

Contract: the fields are those that the two programs document, not those of formats.py.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from course import formats, grade, grade_all, grades, make, temporary
from course.exercises import EXERCISES, Exercise

GOOD = grade.Mark(70, 70, "it works", "")
BAD = grade.Mark(0, 30, "a line\nwith `marks`", "it was killed", "lab/run -- DIR/client")
# The fields of results.json and of one of its tests in Gradescope's specification, and the values of two of them.
OF_ALL = "score execution_time output output_format test_output_format test_name_format visibility stdout_visibility extra_data tests leaderboard".split()
OF_ONE = "score max_score status name name_format number output output_format tags visibility extra_data".split()
VISIBLE = ("visible", "hidden", "after_due_date", "after_published")


def outcome(*marks: grade.Mark, reason: str = "") -> formats.Outcome:
    """An outcome with these marks."""
    return formats.Outcome("verify (SEED=1)", [vars(mark) for mark in marks], reason)


def result(line: str) -> Any:
    """The output of a step, as the reporter of GitHub Classroom gets it."""
    name, _, value = line.partition("=")
    assert name == "result" and line.endswith("\n") and "\n" not in line[:-1]
    return json.loads(base64.b64decode(value))


def test_gradescope() -> None:
    found = json.loads(formats.gradescope(outcome(GOOD, BAD)))
    assert {*found} <= {*OF_ALL} and found["visibility"] in VISIBLE and found["stdout_visibility"] in VISIBLE
    good, bad = found["tests"]
    assert {*good, *bad} <= {*OF_ONE}
    assert (good["score"], good["max_score"], good["status"], good["output"]) == (70, 70, "passed", "")
    assert (bad["score"], bad["max_score"], bad["status"]) == (0, 30, "failed")
    assert "it was killed" in bad["output"] and "lab/run" in bad["output"]
    assert found["score"] == 70
    assert found["test_name_format"] == found["test_output_format"] == "text"  # this is no Markdown: the names have marks in them


def test_classroom() -> None:
    """The reporter adds up the scores of all tests, if there is a max_score, and shows the status of the whole."""
    found = result(formats.classroom(outcome(GOOD, BAD)))
    assert (found["version"], found["max_score"], found["status"]) == (1, 100, "fail")
    assert sum(test["score"] for test in found["tests"]) == 70
    assert [test["status"] for test in found["tests"]] == ["pass", "fail"]
    assert "it was killed" in found["tests"][1]["message"]
    assert result(formats.classroom(outcome(GOOD, grade.Mark(30, 30, "too", ""))))["status"] == "pass"


@pytest.mark.parametrize("how", ["--fit", "--seed=1"])
def test_nothing_to_grade(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both platforms get the reason, and the output of another step stays."""
    step, results = tmp_path / "step", tmp_path / "results.json"
    step.write_text("other=1\n")
    words = ["grade", str(tmp_path), how, "--gradescope", str(results), "--classroom", str(step)]
    monkeypatch.setattr("sys.argv", words)
    assert grade.main() == 2
    found = json.loads(results.read_text())
    assert found["score"] == 0 and found["tests"] == [] and "no file EXERCISE" in found["output"]
    other, line = step.read_text().splitlines(True)
    assert other == "other=1\n"
    failed = result(line)
    assert failed["status"] == "error" and failed["tests"][0]["score"] == 0
    assert "no file EXERCISE" in failed["tests"][0]["message"]


def test_what_was_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All forms have the same points, and the status does not depend on them; it does if the grader fails. A signal ends it as it should."""
    called: list[tuple[object, ...]] = []

    def graded(*given: object) -> tuple[Exercise, list[grade.Mark]]:
        called.append(given)
        return EXERCISES["verify"], [GOOD, BAD]

    monkeypatch.setattr(grade, "grade", graded)
    monkeypatch.setattr(temporary, "leave_on_signals", lambda: called.append(("signals",)))
    files = {name: tmp_path / name for name in ("json", "gradescope", "classroom")}
    words = ["grade", str(tmp_path), "--seed=7", "--student=ada", "--beside", *(f"--{name}={file}" for name, file in files.items())]
    monkeypatch.setattr("sys.argv", words)
    assert grade.main() == 0 and called == [("signals",), (tmp_path, 7, "ada", False)]
    assert capsys.readouterr().out.splitlines() == [
        "  70 of 70  it works", "   0 of 30  a line\nwith `marks`".splitlines()[0], "with `marks`: it was killed",
        f"            see it: lab/run -- {tmp_path}/client", "  70 of 100  verify (SEED=7)"]  # fmt: skip
    found = json.loads(files["json"].read_text())
    assert (found["exercise"], found["seed"], found["points"], found["of"], found["checks"]) == ("verify", 7, 70, 100, [vars(GOOD), vars(BAD)])
    assert json.loads(files["gradescope"].read_text())["score"] == 70 and result(files["classroom"].read_text())["status"] == "fail"
    monkeypatch.setattr(grade, "grade", lambda *_: (_ for _ in ()).throw(RuntimeError("no lab\x1b")))
    assert grade.main() == 1 and capsys.readouterr().err == "make grade: no lab\\x1b\n"


@pytest.mark.parametrize("answer, hours", [("3", "3"), ("2,5", "2.5"), ("0.5 h", "0.5"), ("?", ""), ("all night", ""), ("=1", "")])
def test_hours(answer: str, hours: str, tmp_path: Path) -> None:
    """The hours are a number, and nothing that a spreadsheet would compute."""
    make.write(EXERCISES["statistics"], tmp_path)
    assert grade_all.hours(tmp_path) == ""
    file = tmp_path / "HOURS"
    text = file.read_text()
    assert text.count("mark: ?\n") == 1
    file.write_text(text.replace("mark: ?", f"mark: {answer}"))
    assert grade_all.hours(tmp_path) == hours


def test_hours_of_a_class(tmp_path: Path) -> None:
    rows = [grades.Row("a", "verify", hours=hours) for hours in ("3", "", "2.5", "9")]
    rows.append(grades.Row("b", "header", hours="4"))
    assert grade_all.hours_of_all(rows) == ["header: 4 hours, the median of 1", "verify: 3 hours, the median of 3"]
    (tmp_path / "HOURS").symlink_to(Path(__file__))
    assert grade_all.hours(tmp_path) == ""
