# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each student has numbers of his or her own, the grader expects them, and a copied solution has others."""

import json
from pathlib import Path
from random import Random

import pytest

from course import checks, grade, make, variants
from course.cases import Check
from course.exercises import EXERCISES
from course.reasons import Result


@pytest.mark.parametrize("name", variants.VARIANTS)
def test_numbers(name: str, tmp_path: Path) -> None:
    """The numbers depend on nothing but the name, the sheet says them, and their points make a hundred."""
    students = [f"student {number}" for number in range(60)]
    every = [variants.of(name, student) for student in students]
    assert len({tuple(each.values()) for each in every}) >= 15
    assert variants.of(name, " Student 7 ") == every[7] and variants.of(name, "") == {}
    for numbers in every:
        for seed in range(5):
            assert sum(check.points for check in checks.CHECKS[name](Random(seed), **numbers)) + grade.BUILD_POINTS == 100
    make.write(EXERCISES[name], tmp_path / "mine", student="student 7")
    sheet = (tmp_path / "mine/README.md").read_text()
    assert sheet.startswith(EXERCISES[name].task.read_text()) and all(str(number) in sheet.splitlines()[-1] for number in every[7].values())


def test_none_for_the_others(tmp_path: Path) -> None:
    make.write(EXERCISES["verify"], tmp_path / "mine", student="ada")
    assert variants.of("verify", "ada") == {} and (tmp_path / "mine/README.md").read_text() == EXERCISES["verify"].task.read_text()


def test_without_a_name() -> None:
    """The project's own numbers are due, or any."""
    for name in ("recover", "exactly-once"):
        (group,) = [check.case["client"]["arguments"][3] for check in checks.CHECKS[name](Random(1)) if check.case["client"]["program"] == "sim"]
        assert group.split(":")[2] == "0"
    check = checked("header", "gathered", "")
    count = int(check.case["client"]["arguments"][check.case["client"]["arguments"].index("-c") + 1])
    assert check.judge(sent(count, 16)) == "" and not [check for check in checks.CHECKS["bare"](Random(1)) if "how often" in check.text]


def checked(name: str, text: str, student: str) -> Check:
    """A check of a student's variant."""
    (found,) = [each for each in checks.CHECKS[name](Random(1), **variants.of(name, student)) if text in each.text]
    return found


def modified(timeout: int, retries: int) -> Result:
    """The trace of a client that has these values."""
    call = {"call": "ibv_modify_qp", "result": 0, "args": {"attr": {"qp_state": "RTS", "timeout": timeout, "retry_cnt": retries}}}
    return {"client": {"status": 0, "err": "", "trace": [json.dumps(call)]}}


def test_how_long_and_how_often() -> None:
    """The numbers must be the student's, neither the project's own nor another student's."""
    numbers = variants.of("bare", "ada")
    judge = checked("bare", "how often it tries", "ada").judge
    assert judge(modified(**numbers)) == ""
    assert "expected in your variant" in judge(modified(17, numbers["retries"]))
    assert "expected in your variant" in judge(modified(numbers["timeout"], 7))
    assert "never said" in judge({"client": {"status": 0, "err": "", "trace": []}})


def sent(count: int, header: int) -> Result:
    """The kernel's record of a server that sends headers of this length."""
    sges = [{"length": header, "lkey": 1}, {"length": 500, "lkey": 2}]
    return {"server": {"status": 0, "err": "", "kernel": {"sends": [{"opcode": "SEND", "sge": sges}] * count}}}


def test_the_length_of_a_header() -> None:
    length = variants.of("header", "ada")["length"]
    check = checked("header", "gathered", "ada")
    count = int(check.case["client"]["arguments"][check.case["client"]["arguments"].index("-c") + 1])
    assert check.key and check.judge(sent(count, length)) == ""
    assert f"the first of {length} bytes" in check.judge(sent(count, 16))
