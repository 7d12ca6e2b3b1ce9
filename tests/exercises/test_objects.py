# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of course/objects.py."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from course import objects  # noqa: E402
from course.exercises import EXERCISES  # noqa: E402

VERIFY = EXERCISES["verify"]


class Objects(unittest.TestCase):
    """They are for the same tree only, and the student's is not among them."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree, self.kept = Path(folder.name) / "tree", Path(folder.name) / "kept"
        self.put(VERIFY.file, "mine")
        self.put("common/other.c", "ours")

    def put(self, name: str, text: str) -> None:
        """Writes a file of the tree."""
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_text(text)

    def test_the_students_file_does_not_matter(self) -> None:
        before = objects.place(VERIFY, self.tree)
        self.put(VERIFY.file, "changed")
        self.assertEqual(objects.place(VERIFY, self.tree), before)

    def test_every_other_file_does(self) -> None:
        before = objects.place(VERIFY, self.tree)
        self.put("common/other.c", "changed")
        changed = objects.place(VERIFY, self.tree)
        self.put("common/new.h", "")
        self.assertEqual(len({before, changed, objects.place(VERIFY, self.tree)}), 3)

    def test_the_students_object_is_not_kept(self) -> None:
        self.assertFalse(objects.take(self.kept, self.tree))
        for name in (f"build/{VERIFY.file.replace('.c', '.o')}", "build/common/other.o", "build/rooms.a"):
            self.put(name, "object")
        objects.keep(self.kept, VERIFY, self.tree)
        objects.keep(self.kept, VERIFY, self.tree)  # by another grading
        self.assertEqual([path.name for path in self.kept.rglob("*.*")], ["other.o"])


if __name__ == "__main__":
    unittest.main()
