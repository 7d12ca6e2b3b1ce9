# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Plants the bugs of course/bugs. The check of each must find the bug, and must find the original repaired.

    python3 -m pytest course/tests/bugs -m '' -k pd-left

Contract: a tree holds nothing of the answer, and compiles without a warning. make check tries the check of a few.
"""

import os
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from course import bug, edit, trees

TOP = Path(__file__).resolve().parents[3]
SAMPLE = ("pd-left", "own-number-expected")
FLAGS = "-std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Wshadow -Werror -fsyntax-only".split()
LIMIT_S = 60
BUILD_LIMIT_S = 600


def given_away(one: bug.Bug, tree: Path) -> str:
    """The parts of the answer that are in the tree."""
    for each in one.edits:
        for comment in re.findall(edit.COMMENT, (tree / each.file).read_text()):
            if "SPDX" not in comment and "fall through" not in comment:
                return f"{each.file} has '{comment}'"
    words = [one.name, one.lesson, one.hint]
    for path in tree.rglob("*"):
        text = path.read_text() if path.is_file() else ""
        for word in words:
            if word in text:
                return f"{path.relative_to(tree)} has '{word}'"
    return ""


def warned(one: bug.Bug, tree: Path) -> str:
    """The compiler's messages about the changed sources."""
    files = sorted({each.file for each in one.edits})
    command = ["cc", *FLAGS, *files]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=LIMIT_S).stderr


@cache
def of_original(stage: str, role: str, sanitizer: str) -> str:
    """The result of the check for the project's own sources, which has to be empty."""
    one = next(each for each in bug.every() if (each.stage, each.role, each.sanitizer) == (stage, role, sanitizer))
    with tempfile.TemporaryDirectory() as name:
        trees.write(Path(name), stage, "")
        return bug.check(one, Path(name))


@pytest.mark.parametrize("one", bug.every(), ids=[one.name for one in bug.every()])
def test_a_tree(one: bug.Bug, tmp_path: Path) -> None:
    """The tree does not give the bug away, and compiles without a warning."""
    bug.write(one, tmp_path / "tree")
    assert not given_away(one, tmp_path / "tree")
    assert not warned(one, tmp_path / "tree")


def marks(wanted: bool) -> list[pytest.MarkDecorator]:
    """The marks of a row: none if make check runs it."""
    return [] if wanted else [pytest.mark.long]


@pytest.mark.parametrize("one", [pytest.param(one, marks=marks(one.name in SAMPLE), id=one.name) for one in bug.every()])
def test_a_bug(one: bug.Bug, tmp_path: Path) -> None:
    """The check finds the bug, and finds none in the original."""
    tree = tmp_path / "tree"
    bug.write(one, tree)
    found = bug.check(one, tree)
    assert found and not found.startswith(bug.UNBUILT), found or "its check passes"
    assert not of_original(one.stage, one.role, one.sanitizer), "the original is not taken for fixed"


@pytest.mark.long
@pytest.mark.parametrize("stage", sorted({one.stage for one in bug.every()}))
def test_a_tree_builds_by_itself(stage: str, tmp_path: Path) -> None:
    """The tree builds as a student gets it."""
    trees.write(tmp_path, stage, "")
    environment = {"PATH": os.environ["PATH"]}
    command = ["make", "-s", "-j2", "-C", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=BUILD_LIMIT_S)
    assert not done.stderr
    assert all((tmp_path / role).exists() for role in ("client", "server"))
