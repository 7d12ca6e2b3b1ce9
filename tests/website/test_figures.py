# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of tools/figures, which draws docs/figures/*.svg."""

import re
from pathlib import Path
from xml.etree import ElementTree

TOP = Path(__file__).resolve().parents[2]

import pytest

from tools.figures.drawings import FIGURES
from tools.figures.lessons import LESSONS
from tools.figures.svg import Drawing


def test_each_is_well_formed() -> None:
    for name, figure in {**FIGURES, **LESSONS}.items():
        assert ElementTree.fromstring(figure().svg()).tag == "{http://www.w3.org/2000/svg}svg", name


def test_each_is_in_the_tree_and_on_one_page() -> None:
    assert {path.stem for path in (TOP / "docs/figures").glob("*.svg")} & set(FIGURES) == set(FIGURES)
    pages = "".join(path.read_text() for path in (TOP / "docs").glob("*.md"))
    assert {name: pages.count(f"](figures/{name}.svg)") for name in FIGURES} == dict.fromkeys(FIGURES, 1)


def test_those_of_lessons_are_in_labs() -> None:
    labs = "".join(path.read_text() for path in (TOP / "course/labs").glob("*.md"))
    for name in LESSONS:
        assert (TOP / f"docs/figures/{name}.svg").exists(), name
        assert f"](../../docs/figures/{name}.svg)" in labs


def test_slides_have_their_figures() -> None:
    decks = sorted((TOP / "course/slides").glob("[0-9]*.md"))
    assert decks
    for deck in decks:
        for words, name in re.findall(r"!\[(.*)\]\((.+\.svg)\)", deck.read_text()):
            assert (deck.parent / name).is_file(), f"{deck.name}: {name}"
            assert len(words) >= 20, f"{deck.name}: {name} needs words for those who cannot see it"


def test_slides_are_read_on_a_forge_too() -> None:
    """Which shows pandoc's fences as they are."""
    for deck in (TOP / "course/slides").glob("*.md"):
        assert not re.search(r"^:::", deck.read_text(), re.MULTILINE), deck.name


def test_a_text_too_long_for_its_box() -> None:
    with pytest.raises(ValueError):
        Drawing("a figure", 200, 100).box(0, 0, 50, 20, "more than fits into it")


def test_what_is_cut_off() -> None:
    for x, y in ((190, 50), (20, 110)):
        with pytest.raises(ValueError):
            Drawing("a figure", 200, 100).text(x, y, "some words")


def test_words_are_escaped() -> None:
    figure = Drawing("a figure", 200, 100)
    figure.text(100, 50, "a < b")
    assert "a &lt; b" in figure.svg()
