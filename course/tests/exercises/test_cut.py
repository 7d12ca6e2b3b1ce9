# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/cut.py and course/make.py."""

import json
from pathlib import Path
from random import Random

import pytest

from course import cut, edit, grade, make, over_sim
from course.cases import ITSELF, KERNEL, PARTNER, Check
from course.checks import CHECKS
from course.exercises import EXERCISES, TOP, Exercise
from course.reasons import Result

SOURCE = """int add(int a, int b);

/* Adds. */
int add(int a, int b)
{
\treturn a + b;
}

static void none(void)
{
\tif (1) {
\t}
}
"""


def test_empty() -> None:
    text = cut.empty(SOURCE, "add")
    assert f"/* Adds. */\nint add(int a, int b)\n{{\n\t(void)a;\n\t(void)b;\n\t{cut.TODO}\n\treturn ENOSYS;\n}}" in text
    assert "a + b" not in text


def test_what_is_returned_is_used() -> None:
    assert "(void)a;" not in cut.empty(SOURCE, "add", "a")


def test_void() -> None:
    text = cut.empty(SOURCE, "none")
    assert text.endswith(f"static void none(void)\n{{\n\t{cut.TODO}\n}}\n")


def test_remove() -> None:
    text = cut.remove(SOURCE, "add")
    assert text == "int add(int a, int b);\n\nstatic void none(void)\n{\n\tif (1) {\n\t}\n}\n"


def test_what_is_not_there() -> None:
    with pytest.raises(cut.NotThere):
        cut.empty(SOURCE, "subtract")
    with pytest.raises(cut.NotThere):
        cut.remove(SOURCE, "subtract")


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_no_line_of_the_solution(exercise: Exercise, tmp_path: Path) -> None:
    make.write(exercise, tmp_path)
    texts = [path.read_text() for path in tmp_path.rglob("*.[ch]")]
    own, source = (tmp_path / exercise.file).read_text(), (TOP / exercise.file).read_text()
    lines = source.split("\n")
    assert "/* EXERCISE: " in own
    for function in exercise.removed + exercise.emptied:
        _, first, last = cut.find(lines, function)
        body = "\n".join(lines[lines.index("{", first) : last + 1])
        assert not [text for text in texts if body in text and len(body) > 30], function
    for function, old, _ in exercise.replaced:
        edit.replace(source, function, old, "")
        with pytest.raises(edit.DoesNotApply):
            edit.replace(own, function, old, "")


def test_they_make_a_hundred() -> None:
    assert set(CHECKS) == set(EXERCISES)
    for name, checks in CHECKS.items():
        for seed in range(20):
            assert sum(check.points for check in checks(Random(seed))) + grade.BUILD_POINTS == 100, name


def test_each_has_a_key() -> None:
    """Each exercise has key checks, and none of them is the submission's own word."""
    for name, checks in CHECKS.items():
        keys = [check for check in checks(Random(1)) if check.key]
        assert keys, name
        assert ITSELF not in [check.by for check in keys], name


def test_each_group_of_runs_has_some() -> None:
    """A stream's seeds are those of the client, orderings:0, or of the server."""
    cases = [check.case["client"] for checks in CHECKS.values() for check in checks(Random(1)) if "client" in check.case]
    groups = {case["arguments"][3] for case in cases if case["program"] == "sim"}
    assert {group.partition(":")[0] for group in groups} <= {*over_sim.TESTS}
    assert {group for group in groups if "orderings" in group} == {"orderings", "orderings:0", "orderings:1"}


def test_own_words_alone_are_worth_nothing() -> None:
    one = Check(10, "one", {}, lambda result: str(result["seen"]), PARTNER, key=True)
    two = Check(10, "two", {}, lambda result: str(result["two"]), KERNEL, key=True)
    said = Check(10, "said", {}, lambda _: "")
    seen = Check(10, "seen", {}, lambda _: "", PARTNER, needs="lone")  # the needed check is no key
    lone = Check(10, "lone", {}, lambda result: str(result["lone"]), PARTNER)
    for no, points in (("", [10] * 5), ("seen", [0, 10, 0, 10, 10]), ("two", [10, 0, 0, 10, 10]), ("lone", [10, 10, 10, 0, 0])):
        marks = grade.marks_of([one, two, said, seen, lone], [{"seen": "", "two": "", "lone": "", no: "no"}] * 5, [])
        assert [mark.points for mark in marks] == points
        assert not no or f"it counts only together with '{no.replace('seen', 'one')}'" in [mark.reason for mark in marks]


def test_a_key_is_no_check_that_the_starting_tree_passes() -> None:
    """The starting file of "signaling" has each send signaled, and keeps all messages."""
    for check in (check for check in CHECKS["signaling"](Random(1)) if check.key):
        count = int(check.case["client"]["arguments"][1])
        result: Result = {"status": 0, "out": json.dumps({"count": count, "warm_up": 0, "verified": True}), "err": ""}
        sent = {**result, "kernel": {"sends": [{"opcode": "SEND", "flags": "SIGNALED"}] * count}}
        assert check.judge({"client": sent, "server": result}), check.text


def test_what_answered_enosys() -> None:
    """The reason says of the side that failed which functions are as they were, or that a call does not exist; else nothing."""
    exercise = EXERCISES["credits"]
    right = (TOP / exercise.file).read_text()
    start = make.without_solution(exercise, right)
    half = cut.empty(right, "our_return_credits")
    assert make.unwritten(exercise, start) == ["our_take_credits", "our_return_credits"]
    assert make.unwritten(exercise, half) == ["our_return_credits"]
    assert make.unwritten(exercise, right) == make.unwritten(exercise, "}{") == []
    check = Check(10, "one", {}, lambda result: str(result["why"]), PARTNER)
    result = {"why": "your server exited with status 1", "server": {"err": ""}, "client": {"err": "Function not implemented"}}
    (mark,) = grade.marks_of([check], [result], ["our_return_credits"])
    assert mark.reason == "your server exited with status 1; your own server answered ENOSYS: as in the starting file, nothing else is in our_return_credits"
    assert grade.marks_of([check], [result], [])[0].reason == result["why"]
    result["why"] = ""
    assert grade.marks_of([check], [result], ["our_return_credits"])[0].reason == ""
