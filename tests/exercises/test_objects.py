# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/objects.py."""

from pathlib import Path

from course import objects
from course.exercises import EXERCISES

VERIFY = EXERCISES["verify"]


def put(tree: Path, name: str, text: str) -> None:
    """Writes a file of the tree."""
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)


def test_they_are_for_the_same_tree(tmp_path: Path) -> None:
    """In which the student's file does not matter, and every other one does."""
    put(tmp_path, VERIFY.file, "mine")
    put(tmp_path, "common/other.c", "ours")
    before = objects.place(VERIFY, tmp_path)
    put(tmp_path, VERIFY.file, "changed")
    assert objects.place(VERIFY, tmp_path) == before
    put(tmp_path, "common/other.c", "changed")
    changed = objects.place(VERIFY, tmp_path)
    put(tmp_path, "common/new.h", "")
    assert len({before, changed, objects.place(VERIFY, tmp_path)}) == 3


def test_the_students_object_is_not_kept(tmp_path: Path) -> None:
    tree, kept = tmp_path / "tree", tmp_path / "kept"
    assert not objects.take(kept, tree)
    for name in (VERIFY.file.replace(".c", ".o"), "common/other.o", "rooms.a"):
        put(tree, f"build/{name}", "object")
    objects.keep(kept, VERIFY, tree)
    objects.keep(kept, VERIFY, tree)  # by another grading
    assert [path.name for path in kept.rglob("*.*")] == ["other.o"]
