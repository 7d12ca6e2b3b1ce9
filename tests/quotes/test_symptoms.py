# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests how symptoms.py reads docs/symptoms.md."""

from __future__ import annotations

import unittest
from pathlib import Path

from quotes.symptoms import symptoms

TOP = Path(__file__).resolve().parents[2]

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
        return [(one.command, one.quoted, one.printed) for one in symptoms(PAGE, release)]

    def test_an_old_kernel(self) -> None:
        due = [("one", ["said by one"], True), ("two", ["said by two"], True), ("three", ["said by three"], True)]
        self.assertEqual(self.expected("6.1.0-56-amd64"), due)

    def test_a_newer_one(self) -> None:
        due = [("one", ["said by one"], False), ("two", ["said by another two"], True)]
        self.assertEqual(self.expected("6.12.95+deb12-amd64"), due)

    def test_the_page(self) -> None:
        text = (TOP / "docs/symptoms.md").read_text()
        old, new = symptoms(text, "6.1.0"), symptoms(text, "6.12.0")
        self.assertGreaterEqual(len(old), 30)
        self.assertTrue(all(one.quoted for one in old + new))
        self.assertTrue(all(one.printed for one in old))


if __name__ == "__main__":
    unittest.main()
