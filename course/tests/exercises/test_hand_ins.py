# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""All hand-ins of a class are found, whatever they look like; its table goes on where it was; and what a grader started ends with
the grader.

Contract: nothing is graded here; in the grader's place is a function of the test.
"""

import csv
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from course import grade_all, grades, hand_ins, make, temporary
from course.exercises import EXERCISES, TOP

Entries = dict[str, bytes]
TREE: Entries = {"EXERCISE": b"verify\n", "program/measure/user_data.c": b"int x;\n", "client": b"\0" * 5000}
WITHIN_S = 60


def below(folder: str, entries: Entries = TREE) -> Entries:
    """The entries in a folder."""
    return {f"{folder}/{name}": data for name, data in entries.items()}


def zipped(entries: Entries, link: str = "") -> bytes:
    """A zip; `link`: an entry of it that is a symbolic link."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o120777 if name == link else 0o100644) << 16
            file.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    """The file with the new text in place of the old one, which it must have."""
    assert old in data and len(old) == len(new)
    return data.replace(old, new)


LONG = {"program/measure/user_data.c": b"x" * 1000}
LIE = zipped({"EXERCISE": b"verify\n" * 100_000})  # the zip's head says that it is short
# The entries of a class; the hand-ins that are found; the reasons for those that are not.
CLASSES: dict[str, tuple[Entries, set[str], dict[str, str]]] = {
    "a tree, and several": ({**below("ada"), **below("bob/verify"), **below("bob/second")}, {"ada", "bob/verify", "bob/second"}, {}),
    "no exercise": (below("ada", LONG), set(), {"ada": "no file EXERCISE"}),
    "an LMS's folders": ({**below("ada/123/verify"), "bob/1/mine.zip": zipped(below("mine"))}, {"ada/123/verify", "bob/1/mine.zip/mine"}, {}),
    "a zip for each": ({"ada_1_mine.zip": zipped(TREE), "bob.ZIP": zipped(below("b"))}, {"ada_1_mine.zip", "bob.ZIP/b"}, {}),
    "a zip of zips": ({"ada.zip": zipped({"in.zip": zipped({"in.zip": zipped(TREE)})})}, {"ada.zip/in.zip/in.zip"}, {}),
    "one folder around all": ({**below("class/ada"), **below("class/bob", LONG)}, {"class/ada"}, {"class/bob": "no file EXERCISE"}),
    "from macOS": ({"ada.zip": zipped({**below("m"), "__MACOSX/m/EXERCISE": b"x"})}, {"ada.zip/m"}, {}),
    "out of the folder": ({"eve.zip": zipped({**TREE, "../../ada/EXERCISE": b"x"}), **below("ada")}, {"ada"}, {"eve.zip": "leave its folder"}),
    "out of all folders": ({"eve.zip": zipped({"/etc/EXERCISE": b"x"})}, set(), {"eve.zip": "leave its folder"}),
    "backslashes": ({"eve.zip": zipped({"..\\..\\EXERCISE": b"x"})}, set(), {"eve.zip": "leave its folder"}),
    "a link in a zip": ({"eve.zip": zipped({"EXERCISE": b"/etc/passwd"}, "EXERCISE")}, set(), {"eve.zip": "symbolic link"}),
    "a bomb": ({"eve.zip": zipped({**TREE, "program/measure/user_data.c": b"\0" * 10**7}), **below("ada")}, {"ada"}, {"eve.zip": "more than"}),
    "a bomb that lies": ({"eve.zip": changed(LIE, (700_000).to_bytes(4, "little"), (7).to_bytes(4, "little"))}, set(), {"eve.zip": "CRC"}),
    "zips of much": ({"eve.zip": zipped({f"{n}.zip": b"\0" * 19 * 10**6 for n in range(3)})}, set(), {"eve.zip": "more than"}),
    "a bomb in an LMS's zip": ({**below("eve/x", {"EXERCISE": b"\0" * 10**6}), **below("ada")}, {"ada"}, {}),
    "many entries": ({"eve.zip": zipped({f"{n}/": b"" for n in range(1000)} | {f"d/{n}": b"" for n in range(20_001)})}, set(),
                     {"eve.zip": "too many entries"}),
    "no zip": ({"eve.zip": b"PK\3\4 and no more", "fay.7z": b"7z"}, set(), {"eve.zip": "not a zip", "fay.7z": "no zip"}),
    "half of a zip": ({"eve.zip": zipped(TREE)[:-40]}, set(), {"eve.zip": "zip"}),
    "a hundred exercises": ({name: data for n in range(100) for name, data in below(f"eve/{n:02}").items()} | below("ada"),
                            {f"eve/{n:02}" for n in range(hand_ins.MOST)} | {"ada"}, {"eve/...": f"{100 - hand_ins.MOST} hand-ins more"}),
}  # fmt: skip


def written(folder: Path, entries: Entries) -> Path:
    """A folder with these files."""
    for name, data in entries.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def found(given: Path, tmp_path: Path) -> tuple[set[str], dict[str, str]]:
    """The names of trees to grade, and the reasons of the others."""
    scratch = tmp_path / "scratch"
    scratch.mkdir(parents=True)
    every = hand_ins.hand_ins(given, scratch)
    for one in every:
        assert one.tree is None or (one.tree / "EXERCISE").is_file()
    assert len({one.name for one in every}) == len(every)
    assert not [path for path in tmp_path.rglob("*") if path.name == "EXERCISE" and given not in path.parents and scratch not in path.parents]
    return {one.name for one in every if one.tree}, {one.name: one.reason for one in every if not one.tree}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class(name: str, tmp_path: Path) -> None:
    entries, trees, reasons = CLASSES[name]
    names, why = found(written(tmp_path / "class", entries), tmp_path)
    if name != "a bomb in an LMS's zip":  # a bomb in a folder is a file like others
        assert names == trees
    assert {person: reason in why.get(person, "no reason") for person, reason in reasons.items()} == dict.fromkeys(reasons, True), why


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in ("many entries", "zips of much")])
def test_the_same_in_a_zip(name: str, tmp_path: Path) -> None:
    """The same is found in a zip, as an LMS gives a class."""
    entries, trees, reasons = CLASSES[name]
    given = tmp_path / "class.zip"
    given.write_bytes(zipped(entries))
    names, why = found(given, tmp_path)
    assert names == trees
    assert {person: reason in why.get(person, "no reason") for person, reason in reasons.items()} == dict.fromkeys(reasons, True), why


def test_zips_that_grow(tmp_path: Path) -> None:
    """Each zip is small, and has more zips in it."""
    data = zipped({f"{n}/user_data.c": b"\0" * hand_ins.LONGEST_SOURCE for n in range(10)})
    for _ in range(3):
        data = zipped({f"{n}.zip": data for n in range(10)})
    _, why = found(written(tmp_path / "class", {"eve.zip": data}), tmp_path)
    assert why and sum(path.stat().st_size for path in (tmp_path / "scratch").rglob("*")) < 2 * hand_ins.MOST_BYTES


def test_links(tmp_path: Path) -> None:
    """Links to somebody else's folder, to themselves and to nothing are refused."""
    folder = written(tmp_path / "class", {**below("ada"), **below("fay/verify")})
    for name, target in (("bob", "ada"), ("eve", "eve"), ("gus", "nobody"), ("fay/ada", "../ada")):
        (folder / name).symlink_to(target)
    names, why = found(folder, tmp_path)
    assert names == {"ada", "fay/verify"} and {*why} == {"bob", "eve", "gus", "fay/ada"}
    assert all("symbolic link" in reason for reason in why.values())


def test_no_class(tmp_path: Path) -> None:
    for given in (tmp_path / "nothing", written(tmp_path / "empty", {"a": b""}), tmp_path / "empty/a"):
        with pytest.raises(hand_ins.Refused):
            found(given, tmp_path / f"of-{given.name}")


# ---- The table ----

Grader = Callable[[list[str], float], tuple[int | None, str]]


def points(command: list[str], _: float) -> tuple[int, str]:
    """Stands in the grader's place, and gives everybody 70 points."""
    marks = {"exercise": "verify", "points": 70, "of": 100, "checks": [{"text": "one", "reason": "=1+1"}]}
    Path(command[command.index("--json") + 1]).write_text(json.dumps(marks))
    return 0, ""


@pytest.fixture(name="run")
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[str]]]:
    """Runs make grade-all with such a grader. Returns the exit status, and whom it has graded."""

    def run(grader: Grader, *options: str) -> tuple[int, list[str]]:
        graded = []

        def instead(command: list[str], limit_s: float) -> tuple[int | None, str]:
            graded.append(Path(command[command.index("course.grade") + 1]).name)
            return grader(command, limit_s)

        monkeypatch.setattr(temporary, "run", instead)
        monkeypatch.setattr(temporary, "leave_on_signals", lambda: None)
        monkeypatch.setattr("sys.argv", ["grade_all", str(tmp_path / "class"), "--csv", str(tmp_path / "grades.csv"), "--jobs", "1", *options])
        return grade_all.main(), graded

    return run


def rows(tmp_path: Path) -> list[dict[str, str]]:
    """The rows of the table."""
    return list(csv.DictReader((tmp_path / "grades.csv").open(encoding="utf-8")))


Run = Callable[..., tuple[int, list[str]]]


def test_it_goes_on(tmp_path: Path, run: Run) -> None:
    """Only submissions without points are graded again, by the same seed; nothing is written twice or lost."""
    written(tmp_path / "class", {**below("ada"), **below("bob"), **below("eve")})
    assert run(lambda command, limit_s: (None, "") if command[4].endswith("bob") else points(command, limit_s)) == (1, ["ada", "bob", "eve"])
    table, seed = tmp_path / "grades.csv", rows(tmp_path)[0]["seed"]
    assert [row["points"] for row in rows(tmp_path)] == ["70", "", "70"]
    table.write_text(table.read_text() + "gus,veri")  # the grader was killed while it wrote
    assert run(points) == (0, ["bob"])
    assert sorted(row["submission"] for row in rows(tmp_path)) == ["ada", "bob", "eve"]
    assert {(row["points"], row["seed"]) for row in rows(tmp_path)} == {("70", seed)}
    assert run(points) == (0, [])


def test_what_it_does_not_overwrite(tmp_path: Path, run: Run) -> None:
    """A table of another seed stays as it is, and a file that is no table."""
    written(tmp_path / "class", below("ada"))
    assert run(points, "--seed", "7") == (0, ["ada"])
    before = (tmp_path / "grades.csv").read_text()
    assert run(points, "--seed", "8") == (2, []) and (tmp_path / "grades.csv").read_text() == before
    (tmp_path / "grades.csv").write_text("name,mark\nada,1\n")
    assert run(points) == (2, []) and (tmp_path / "grades.csv").read_text() == "name,mark\nada,1\n"


def test_one_does_not_end_the_others(tmp_path: Path, run: Run) -> None:
    """None of these ends the grading of others: a name that is not UTF-8, links that lead to each other, a grader that raises, figures
    that are none; a named pipe for a zip, which has no writer; and hours that make a cell that no table can have."""
    for name in (b"ada", b"b\xffb", b"eve", b"loop", b"zed"):
        written(Path(os.fsdecode(os.fsencode(tmp_path / "class") + b"/" + name)), TREE)
    (tmp_path / "class/loop/HOURS").symlink_to("HOURS")
    (tmp_path / "class/zed/HOURS").write_text("mark: " + 150_000 * "1")
    os.mkfifo(tmp_path / "class/pipe.zip")

    def grader(command: list[str], limit_s: float) -> tuple[int, str]:
        name = command[4]
        if name.endswith("eve"):
            raise OSError("no memory")
        done = points(command, limit_s)
        if name.endswith("ada"):
            Path(command[command.index("--json") + 1]).write_text("{")
        return done

    assert run(grader)[0] == 1
    assert [(row["submission"], row["points"]) for row in rows(tmp_path)] == [
        ("ada", ""), ("b\\udcffb", "70"), ("eve", ""), ("loop", "70"), ("pipe.zip", "0"), ("zed", "70")]  # fmt: skip


def test_what_is_graded_again(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission is graded again if its file has changed, and all if the grader has: a new time of the file alone does not matter."""
    written(tmp_path / "class", {**below("ada"), **below("bob"), **below("eve", LONG)})
    assert run(points)[1] == ["ada", "bob"]
    before = {row["submission"]: row for row in rows(tmp_path)}
    os.utime(tmp_path / "class/ada/program/measure/user_data.c", (0, 0))
    written(tmp_path / "class", below("bob", LONG))
    assert run(points) == (0, ["bob"])
    after = {row["submission"]: row for row in rows(tmp_path)}
    assert after["ada"] == before["ada"] and after["eve"]["points"] == "0" and len(rows(tmp_path)) == 3
    digests = [hashlib.sha256(text).hexdigest()[:16] for text in (b"int x;\n", LONG["program/measure/user_data.c"])]
    assert [before["bob"]["hash"], after["bob"]["hash"]] == digests
    monkeypatch.setattr(grade_all, "version", lambda: "another")
    assert run(points) == (0, ["ada", "bob"])
    assert {row["grader"] for row in rows(tmp_path)} == {"another"}


def test_what_is_due(tmp_path: Path, run: Run) -> None:
    """A submission for another exercise gets no points, and is not run."""
    written(tmp_path / "class", below("ada"))
    assert run(points, "--exercise", "signaling") == (0, [])
    row = rows(tmp_path)[0]
    assert (row["points"], row["exercise"], row["expected"]) == ("0", "verify", "signaling") and "expected: signaling" in row["lost"]
    assert run(points, "--exercise", "verify") == (0, ["ada"])
    assert [row["points"] for row in rows(tmp_path)] == ["70"]


def test_when_it_was_handed_in(tmp_path: Path, run: Run) -> None:
    """The time is that of the file, or what the zip says."""
    written(tmp_path / "class", {**below("ada"), "bob.zip": zipped(TREE)})
    when = time.mktime((2026, 11, 29, 12, 30, 5, 0, 0, -1))
    os.utime(tmp_path / "class/ada/program/measure/user_data.c", (when, when))
    run(points)
    assert {row["submission"]: row["handed_in"] for row in rows(tmp_path)} == {"ada": "2026-11-29 12:30:05", "bob.zip": "1980-01-01 00:00:00"}


def test_several_at_once(tmp_path: Path, run: Run) -> None:
    """Three run together. One that is late beside others is graded again, alone, and gets what it gets then."""
    written(tmp_path / "class", {name: data for person in ("ada", "bob", "eve") for name, data in below(person).items()})
    together, times, beside = threading.Barrier(3), [], []

    def grader(command: list[str], limit_s: float) -> tuple[int | None, str]:
        name = Path(command[4]).name
        times.append(name)
        beside.append("--beside" in command)
        if len(times) <= 3:
            together.wait(WITHIN_S)
        return (None, "") if name == "bob" and times.count("bob") == 1 else points(command, limit_s)

    status, graded = run(grader, "--jobs", "3")
    assert status == 0 and sorted(graded[:3]) == ["ada", "bob", "eve"] and graded[3:] == ["bob"] and beside == [True] * 3 + [False]
    assert {row["submission"]: row["points"] for row in rows(tmp_path)} == dict.fromkeys(("ada", "bob", "eve"), "70")


def test_whose_variant(tmp_path: Path, run: Run) -> None:
    """The student's name is the part before what a learning platform adds."""
    written(tmp_path / "class", {**below("ada_123_mine"), "Bob.zip": zipped(below("tree"))})
    said = []

    def grader(command: list[str], limit_s: float) -> tuple[int, str]:
        said.append(command[command.index("--student") + 1])
        return points(command, limit_s)

    assert run(grader, "--variants")[0] == 0 and sorted(said) == ["Bob", "ada"]


def test_where_it_was(tmp_path: Path, run: Run) -> None:
    """The reason has the path in the class, not the folder in which a zip was unpacked."""
    written(tmp_path / "class", {"ada.zip": zipped(below("mine", {"EXERCISE": b"verify\n"}))})
    assert run(points) == (0, [])
    assert rows(tmp_path)[0]["lost"].startswith("ada.zip/mine/program/measure/user_data.c is not a source file")


def test_names_stay_apart() -> None:
    names = ["a", "=a", "'=a", "a\udcff", "a\\udcff", "a\n", "a\\n", "\ta", "a;=b", "a;'=b"]
    assert len({grades.plain_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("text", ["=1+1", " +1", "-1", "@x", "\uff1dx", "x;=1", "x; =1", "\t=1", "\x1b[2J", "\u202e", "a\x00b", "\x9b2J"])
def test_what_a_cell_may_be(text: str) -> None:
    """A cell is no formula, also for a spreadsheet that takes ; for the end of a cell, and has nothing that a terminal obeys."""
    for cell in (grades.plain(text), grades.plain_name(text)):
        assert cell.isprintable() and not [part for part in cell.split(";") if part.lstrip()[:1] in tuple("=+-@\uff1d")], cell


# ---- What ends with the grader ----

OWNER = """
import signal, sys, time
from pathlib import Path
from course import temporary
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it stays ignored
temporary.leave_on_signals()
with temporary.folder(Path(sys.argv[1])) as folder:
    (folder / "copy").write_text("of a student")
    temporary.run(["sh", "-c", 'echo $$ >"$0/pid.new"; mv "$0/pid.new" "$0/pid"; exec sleep 1000', sys.argv[2]], 1000)
"""


def until(condition: Callable[[], bool]) -> None:
    """Waits until the condition holds."""
    end = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


def lives(pid: int) -> bool:
    """Returns whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
def test_a_grader_that_is_ended(name: str, tmp_path: Path) -> None:
    """The grader's processes end, and its folder goes: after SIGKILL, when the next grader begins."""
    scratch = tmp_path / "scratch"
    owner = subprocess.Popen([sys.executable, "-B", "-c", OWNER, str(scratch), str(tmp_path)], cwd=TOP)
    until((tmp_path / "pid").exists)
    pid = int((tmp_path / "pid").read_text())
    assert lives(pid) and len(list(scratch.iterdir())) == 1
    with temporary.folder(scratch) as other:  # the next grader does not remove a folder that has an owner
        assert len(list(scratch.iterdir())) == 2
    assert not other.exists()
    owner.send_signal(signal.Signals[name])
    owner.wait(WITHIN_S)
    until(lambda: not lives(pid))
    if name == "SIGKILL":
        with temporary.folder(scratch) as other:
            assert list(scratch.iterdir()) == [other]
    assert not list(scratch.iterdir())


def test_a_loop_of_links_is_no_file(tmp_path: Path) -> None:
    make.write(EXERCISES["verify"], tmp_path / "mine")
    (tmp_path / "mine/HOURS").unlink()
    (tmp_path / "mine/HOURS").symlink_to("HOURS")
    assert grade_all.hours(tmp_path / "mine") == ""
