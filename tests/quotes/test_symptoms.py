# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests how tests/symptoms reads docs/symptoms.md: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import importlib.util
import sys
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LOADER = SourceFileLoader("symptoms", str(TOP / "tests/symptoms"))
SPEC = importlib.util.spec_from_loader("symptoms", LOADER)
assert SPEC
symptoms = importlib.util.module_from_spec(SPEC)
sys.modules["symptoms"] = symptoms
LOADER.exec_module(symptoms)

PAGE = """**One.** About it.

    $ lab/run -- sh -c 'one'
    said by one

On Linux 6.12 nothing is
printed.

**Two.** About it.

    $ lab/run -- sh -c 'two'
    said by two
    ...

On Linux 6.12 it says more:

    said by another two

**Three (Linux 6.1).** About it.

    $ lab/run -- sh -c 'three'
    said by three
"""


class Symptoms(unittest.TestCase):
    """What is expected on which kernel."""

    def expected(self, release: str) -> list[tuple[str, list[str], bool]]:
        """Command, lines, and whether they are to be printed."""
        return [(one.command, one.quoted, one.printed) for one in symptoms.symptoms(PAGE, release)]

    def test_an_old_kernel(self) -> None:
        due = [("one", ["said by one"], True), ("two", ["said by two"], True), ("three", ["said by three"], True)]
        self.assertEqual(self.expected("6.1.0-56-amd64"), due)

    def test_a_newer_one(self) -> None:
        due = [("one", ["said by one"], False), ("two", ["said by another two"], True)]
        self.assertEqual(self.expected("6.12.95+deb12-amd64"), due)

    def test_the_page(self) -> None:
        text = (TOP / "docs/symptoms.md").read_text()
        old, new = symptoms.symptoms(text, "6.1.0"), symptoms.symptoms(text, "6.12.0")
        self.assertGreaterEqual(len(old), 30)
        self.assertTrue(all(one.quoted for one in old + new))
        self.assertTrue(all(one.printed for one in old))


if __name__ == "__main__":
    unittest.main()
