# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of tools/figures, which draws docs/figures/*.svg."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP))

from tools.figures.drawings import FIGURES  # noqa: E402
from tools.figures.lessons import LESSONS  # noqa: E402
from tools.figures.svg import Drawing  # noqa: E402


class Figures(unittest.TestCase):
    """What is drawn, and what is in the tree."""

    def test_each_is_well_formed(self) -> None:
        for name, figure in {**FIGURES, **LESSONS}.items():
            self.assertEqual(ElementTree.fromstring(figure().svg()).tag, "{http://www.w3.org/2000/svg}svg", name)

    def test_each_is_in_the_tree_and_on_one_page(self) -> None:
        self.assertEqual({path.stem for path in (TOP / "docs/figures").glob("*.svg")} & set(FIGURES), set(FIGURES))
        pages = "".join(path.read_text() for path in (TOP / "docs").glob("*.md"))
        self.assertEqual({name: pages.count(f"](figures/{name}.svg)") for name in FIGURES}, dict.fromkeys(FIGURES, 1))

    def test_those_of_lessons_are_in_labs(self) -> None:
        labs = "".join(path.read_text() for path in (TOP / "course/labs").glob("*.md"))
        for name in LESSONS:
            self.assertTrue((TOP / f"docs/figures/{name}.svg").exists(), name)
            self.assertIn(f"](../../docs/figures/{name}.svg)", labs)

    def test_slides_have_their_figures(self) -> None:
        decks = sorted((TOP / "course/slides").glob("[0-9]*.md"))
        self.assertTrue(decks)
        for deck in decks:
            for name in re.findall(r"\]\((.+\.svg)\)", deck.read_text()):
                self.assertTrue((deck.parent / name).is_file(), f"{deck.name}: {name}")

    def test_a_text_too_long_for_its_box(self) -> None:
        with self.assertRaises(ValueError):
            Drawing("a figure", 200, 100).box(0, 0, 50, 20, "more than fits into it")

    def test_what_is_cut_off(self) -> None:
        for x, y in ((190, 50), (20, 110)):
            with self.assertRaises(ValueError):
                Drawing("a figure", 200, 100).text(x, y, "some words")

    def test_words_are_escaped(self) -> None:
        figure = Drawing("a figure", 200, 100)
        figure.text(100, 50, "a < b")
        self.assertIn("a &lt; b", figure.svg())


if __name__ == "__main__":
    unittest.main()
