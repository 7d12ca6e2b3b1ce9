# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Copies are found among sixty hand-ins, whatever was done to hide them; and nobody else is accused.

Contract: what stands for the work of students who do not know each other are functions of this project: no two made hand-ins
have one in common.
"""

import re
from pathlib import Path
from random import Random

import pytest

from course import cut, make, similar
from course.exercises import EXERCISES
from exercises import solutions
from tools.folders import TOP, files

EXERCISE = EXERCISES["verify"]
START = make.without_solution(EXERCISE, (TOP / EXERCISE.file).read_text())
PEOPLE = 57
EACH = 4  # functions of a made hand-in
LEAST_LINES = 12


def functions() -> list[str]:
    """The project's functions that are long enough to be somebody's work, without comments, in an order by chance. Of stages that go on
    from each other, only one has each function."""
    found: dict[str, str] = {}
    for name in files(".c"):
        lines = (TOP / name).read_text().split("\n")
        for line in lines:
            named = re.match(r"[a-z][\w *]*?\b(\w+)\(.*[^;]$", line)
            if named and len(named[1]) > 6:
                try:
                    _, first, last = cut.find(lines, named[1])
                except (cut.NotThere, ValueError):
                    continue
                if last - first >= LEAST_LINES:
                    found.setdefault(named[1], "\n".join(lines[first : last + 1]) + "\n")
    every = list(found.values())
    Random(1).shuffle(every)
    return every


def renamed(source: str, chance: Random) -> str:
    """The source with other names of what the student has named, other comments and other layout."""
    given = re.compile(r"(our|ibv|rdma|OUR|IBV|RDMA)_|[A-Z]+$|include$")
    names = {name for name in re.findall(r"\b[A-Za-z_]\w*\b", source) if name not in similar.KEPT and not given.match(name)}
    for name in names:
        source = re.sub(rf"\b{name}\b", f"{name[::-1].strip('_0123456789')}_{chance.randrange(100)}", source)
    source = re.sub(r";\n", lambda _: ";  // changed\n\n" if chance.random() < 0.3 else ";\n", source)
    return source.replace("\t", "  ").replace("{\n", "\n{\n")


def hand_in(parts: list[str]) -> str:
    """The starting file, and what a student has added."""
    return START + "\n" + "\n".join(parts)


def names(found: list[similar.Pair]) -> list[list[str]]:
    """The pairs that have something in common."""
    return sorted(sorted((pair.one.name, pair.other.name)) for pair in found)


def test_three_copies_among_sixty() -> None:
    every, chance = functions(), Random(2)
    assert len(every) >= PEOPLE * EACH
    parts = [every[first : first + EACH] for first in range(0, PEOPLE * EACH, EACH)]
    sources = {f"student {number}": hand_in(of) for number, of in enumerate(parts)}
    for number in (3, 17, 40):  # names, comments, layout; and the order of functions
        sources[f"copy of {number}"] = hand_in([renamed(part, chance) for part in chance.sample(parts[number], EACH)])
    found = similar.pairs([similar.fingerprint(name, source, START) for name, source in sources.items()], similar.LEAST_PERCENT)
    assert names(found) == sorted([f"copy of {number}", f"student {number}"] for number in (3, 17, 40))
    assert all(pair.percent >= 85 for pair in found), [pair.percent for pair in found]
    others = similar.pairs([similar.fingerprint(name, source, START) for name, source in sources.items()], 40)
    assert len(others) == 3, [str(pair) for pair in others]


LONG = [one for one in solutions.SOLUTIONS if one.exercise in ("verify", "ping-sr-2e", "credits", "private-data", "asleep")]


@pytest.mark.parametrize("one", LONG, ids=lambda one: f"{one.exercise}, {one.name}")
def test_a_wrong_hand_in_is_a_copy_with_a_fault(one: solutions.Solution) -> None:
    """The wrong solutions of the tests are edits of the right one, so it is found in each that still has it."""
    exercise = EXERCISES[one.exercise]
    right = solutions.right(exercise)
    start, source = make.without_solution(exercise, right), one.edit(right)
    prints = [similar.fingerprint("a", right, start), similar.fingerprint("b", renamed(source, Random(3)), start)]
    assert bool(similar.pairs(prints, similar.LEAST_PERCENT)) == ("includes" not in one.name)


# Solutions of the same tasks that nobody has copied: each pair solves one thing in two ways.
INDEPENDENT = [
    ("statistics", "program/measure/histogram.c", "course/tests/exercises/attacks/keep.c"),
    ("asleep", "ping-sr-3/completions.c", "ping-sr-0/completions.c"),
    ("ping-sr-2e", "ping-sr-2e/cm_events.c", "ping-sr-2/cm_events.c"),
    ("private-data", "ping-sr-1/connect_info_wire.c", "tests/peer/peer.c"),
    ("credits", "blast-sr-2/credits.c", "beyond/ping-srq-4/refill.c"),
]


@pytest.mark.parametrize("name, one, other", INDEPENDENT)
def test_independent_solutions(name: str, one: str, other: str) -> None:
    exercise = EXERCISES[name]
    start = make.without_solution(exercise, (TOP / exercise.file).read_text())
    prints = [similar.fingerprint(path, (TOP / path).read_text(), start) for path in (one, other)]
    assert all(len(each.grams) >= similar.FEWEST for each in prints)
    assert not similar.pairs(prints, similar.LEAST_PERCENT // 2)


def test_what_was_given_counts_for_nobody() -> None:
    assert not similar.fingerprint("a", START, START).grams
    assert not similar.fingerprint("a", renamed(START, Random(4)), START).grams


def test_what_a_student_cannot_name() -> None:
    """A word of C and a function of a library are not what the student has named: code that has others there is other code."""
    for one, other in (("if", "while"), ("ibv_post_send", "ibv_post_recv"), ("x + y", "x - y"), ("7", "x")):
        assert similar.tokens(f"{one} (x)") != similar.tokens(f"{other} (x)"), one
    assert similar.tokens('a(b, 7, "c"); // d') == similar.tokens('e(f, 8, "g");\n')


def test_lines() -> None:
    """The lines of the common part are found in each file, and no others."""
    part, other = functions()[:2]
    prints = [similar.fingerprint("a", part + other, ""), similar.fingerprint("b", "\n" * 20 + part, "")]
    (pair,) = similar.pairs(prints, 90)
    first, last = map(int, similar.lines(pair.other, pair.shared).split("-"))
    assert 21 <= first <= 24 and 20 + part.count("\n") - 3 <= last <= 20 + part.count("\n")
    assert similar.lines(similar.Print("c", {1: [(5, 7), (1, 2)], 2: [(3, 3), (9, 9), (6, 6)]}), {1, 2}) == "1-3,5-7,9-9"


def test_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of one student are not compared; the project's own solution is."""
    body = "\n".join(functions()[:EACH])
    for name, source in {"ada/1": START + body, "ada/2": START + body, "bob": START + body, "eve": START,
                         "gus": (TOP / EXERCISE.file).read_text()}.items():  # fmt: skip
        make.write(EXERCISE, tmp_path / "class" / name)
        (tmp_path / "class" / name / EXERCISE.file).write_text(source)
    monkeypatch.setattr("course.temporary.leave_on_signals", lambda: None)
    monkeypatch.setattr("sys.argv", ["similar", str(tmp_path / "class")])
    assert similar.main() == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"verify, {EXERCISE.file}: 5 hand-ins, 1 of them too short to compare"
    assert [re.findall(rf"ada/\d|bob|gus|{similar.OURS}", line) for line in lines] == [
        ["ada/1", "bob"], ["ada/2", "bob"], ["gus", similar.OURS]]  # fmt: skip
