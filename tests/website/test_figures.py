# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The figures of docs/figures, which are edited by hand, and the slides that show them."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tools.folders import files

TOP = Path(__file__).resolve().parents[2]
FIGURES = sorted((TOP / "docs/figures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def test_each_can_be_shown() -> None:
    """Has words for those who cannot see it, and a style for each of its classes."""
    assert FIGURES
    for path in FIGURES:
        root = ElementTree.parse(path).getroot()
        assert root.tag == f"{SVG}svg" and root.get("aria-label") and root.get("viewBox"), path.name
        style = "".join(root.find(f"{SVG}style").itertext())  # type: ignore[union-attr]
        used = {word for element in root.iter() for word in element.get("class", "").split()}
        assert [word for word in used if f".{word} {{" not in style] == [], path.name


def test_each_is_on_a_page() -> None:
    """Of docs/ once; or of the labs."""
    pages = "".join(path.read_text() for path in (TOP / "docs").glob("*.md"))
    labs = "".join(path.read_text() for path in (TOP / "course/labs").glob("*.md"))
    for path in FIGURES:
        assert pages.count(f"](figures/{path.name})") == 1 or f"](../../docs/figures/{path.name})" in labs, path.name


def test_pages_and_slides_have_their_figures() -> None:
    """Each with words for those who cannot see it."""
    found = [(page, *one) for page in files(".md") for one in re.findall(r"^!\[(.*)\]\((.+\.svg)\)", (TOP / page).read_text(), re.MULTILINE)]
    assert len(found) > 20
    for page, words, name in found:
        assert ((TOP / page).parent / name).is_file(), f"{page}: {name}"
        assert len(words) >= 20, f"{page}: {name}"


def test_slides_are_read_on_a_forge_too() -> None:
    """Which shows pandoc's fences as they are."""
    for deck in (TOP / "course/slides").glob("*.md"):
        assert not re.search(r"^:::", deck.read_text(), re.MULTILINE), deck.name
