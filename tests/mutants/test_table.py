# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of table: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import contextlib
import io
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any


def loaded(path: Path) -> Any:
    """A program as a module."""
    spec = spec_from_loader("table", SourceFileLoader("table", str(path)))
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = loaded(Path(__file__).parent / "table")
PATCH = "{} is broken,\nand it matters.\nsuite: fake\nstage: ping-sr-0/client\n--- a/x.c\n+++ b/x.c\n+suite: no\n"
PATCHES = {name: PATCH.format(name) for name in ("2-two", "10-ten", "9-nine")}
CAUGHT = "caught\tasan: ping-sr-0/client sweep\tit does not end\n"


class Table(unittest.TestCase):
    """What becomes of rows that there are, and of results."""

    def made(self, results: dict[str, str], document: str = "", *numbers: str) -> tuple[list[str], str]:
        """The rows, and what is said on stderr."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            text = TABLE.table(PATCHES, results, document, list(numbers))
        return [line for line in text.splitlines() if line[:3].strip("| ").isdigit()], said.getvalue()

    def test_in_the_order_of_numbers(self) -> None:
        rows, said = self.made({name: CAUGHT for name in PATCHES})
        self.assertEqual([row.split()[1] for row in rows], ["2-two", "9-nine", "10-ten"])
        self.assertEqual(said, "")

    def test_a_row(self) -> None:
        rows, _ = self.made({"2-two": CAUGHT})
        row = "| 2-two | 2-two is broken, and it matters. | fake | asan: ping-sr-0/client sweep | it does not end |"
        self.assertEqual(rows[0], row)

    def test_survived(self) -> None:
        rows, _ = self.made({"2-two": "survived\t\t\n"})
        self.assertIn("| **survived** |  |", rows[0])

    def test_without_a_result(self) -> None:
        rows, said = self.made({"2-two": CAUGHT})
        self.assertEqual(len(rows), 1)
        self.assertIn("9-nine: neither", said)
        self.assertIn("10-ten: neither", said)

    def test_rows_are_kept(self) -> None:
        before = "\n".join(self.made({name: CAUGHT for name in PATCHES})[0])
        self.assertEqual("\n".join(self.made({}, before)[0]), before)

    def test_a_row_is_replaced(self) -> None:
        before = "\n".join(self.made({name: CAUGHT for name in PATCHES})[0])
        rows, _ = self.made({"9-nine": "caught\tanother\t\n"}, before, "9")
        self.assertIn("| another |", rows[1])
        self.assertEqual([rows[0], rows[2]], [before.splitlines()[0], before.splitlines()[2]])

    def test_only_the_numbers_that_were_asked_for(self) -> None:
        before = "\n".join(self.made({name: CAUGHT for name in PATCHES})[0])
        results = {name: "caught\tanother\t\n" for name in PATCHES}
        rows, _ = self.made(results, before, "10", "2")
        self.assertEqual(["another" in row for row in rows], [True, False, True])
        self.assertEqual("\n".join(self.made(results, before, "1")[0]), before)

    def test_what_had_not_run_takes_an_earlier_result(self) -> None:
        rows, _ = self.made({"9-nine": CAUGHT, "2-two": CAUGHT}, "", "2")
        self.assertEqual([row.split()[1] for row in rows], ["2-two", "9-nine"])

    def test_a_mutant_that_is_gone_loses_its_row(self) -> None:
        rows, said = self.made({}, "| 3-three | is gone | fake | a test | found |\n")
        self.assertEqual(rows, [])
        self.assertNotIn("3-three", said)

    def test_the_description_is_the_patchs(self) -> None:
        rows, _ = self.made({}, "| 2-two | an older text | fake | a test | found |\n")
        self.assertEqual(rows[0], "| 2-two | 2-two is broken, and it matters. | fake | a test | found |")

    def test_the_row_of_another_suite_does_not_count(self) -> None:
        rows, _ = self.made({}, "| 2-two | text | unit | a test | found |\n")
        self.assertEqual(rows, [])

    def test_a_cell_that_is_empty(self) -> None:
        rows, _ = self.made({}, "| 2-two | text | fake | a test |  |\n")
        self.assertEqual(rows[0], "| 2-two | 2-two is broken, and it matters. | fake | a test |  |")


if __name__ == "__main__":
    unittest.main()
