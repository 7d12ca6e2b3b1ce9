# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The students' tree: nothing of what a lecturer keeps is in it, and it works."""

import os
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from course import students
from tools.folders import TOP, files
from tools.site.markdown import TARGET, outside_code

SAYS_MUCH = 60  # characters of a line that is not there by chance
ANSWERS = [name for name in files() if students.private(name)]
pytestmark = pytest.mark.skipif(not ANSWERS, reason="this is a students' tree")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The students' tree, written once."""
    folder = tmp_path_factory.mktemp("students") / "tree"
    students.write(folder)
    return folder


def lines(text: str) -> set[str]:
    """The lines that say much, without the commands: a sheet and its notes may have the same one."""
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= SAYS_MUCH and "lab/run" not in line}


def texts(tree: Path) -> dict[str, str]:
    """All files that can be read as text."""
    found = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    return {str(path.relative_to(tree)): data.decode(errors="replace") for path, data in found.items()}


def test_every_kind_of_answer_is_left_out() -> None:
    """A pattern that fits no file is one that has lost it."""
    for pattern in students.PRIVATE:
        assert [name for name in ANSWERS if fnmatch(name, pattern)], pattern
    for name in ("course/labs/lab-1.md", "course/tests/exercises/test_judges.py", "course/checks.py"):
        assert not students.private(name)


def test_nothing_of_them_is_in_the_tree(tree: Path) -> None:
    answers = [name for name in ANSWERS if not name.split("/")[-1].startswith("test_")]  # tests resemble each other
    shown = ("course/mine/mine.h", "course/mine/start.c", "program/measure/histogram.c", "program/measure/histogram.h")
    given = lines("".join((tree / name).read_text() for name in shown))
    secret = set().union(*(lines((TOP / name).read_text()) for name in answers)) - given
    assert len(secret) > 300
    assert {name: found for name, text in texts(tree).items() if (found := secret & lines(text))} == {}


def test_the_labs_are_there_without_answers(tree: Path) -> None:
    for sheet in TOP.glob("course/labs/lab-*[0-9].md"):
        given = (tree / "course/labs" / sheet.name).read_text()
        assert "<summary>Answer" in sheet.read_text() and "<summary>Answer" not in given
        assert re.findall(r"^## .*$", given, re.MULTILINE) == re.findall(r"^## .*$", sheet.read_text(), re.MULTILINE)
        assert given.count("<details>") == given.count("</details>") > 0


def test_no_page_leads_to_them(tree: Path) -> None:
    dead: list[tuple[str, str]] = []

    def look(page: Path, part: str) -> str:
        for target in TARGET.findall(part):
            if not re.match(r"[a-z]+:|#", target) and not (page.parent / target.partition("#")[0]).exists():
                dead.append((str(page.relative_to(tree)), target))
        return part

    for page in tree.rglob("*.md"):
        outside_code(page.read_text(), lambda part, page=page: look(page, part))  # type: ignore[misc]
    assert dead == []


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_it_works(tree: Path) -> None:
    """The tree works as a repository of its own: students make exercises in it, and the other tests pass."""
    environment = {**os.environ, "MAKEFLAGS": "", "MFLAGS": "", "MAKELEVEL": ""}
    for command in ("git init -q", "git add -A", "make -s exercise NAME=header DIR=mine", "make -s -C mine", "make -s tests-build",
                    "/usr/bin/python3 -m pytest -q -p no:xdist course/tests/exercises tests/website tests/house"):  # fmt: skip
        done = subprocess.run(command.split(), cwd=tree, env=environment, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    assert (tree / "mine/HOURS").exists() and not (tree / "course/written-test.md").exists()
