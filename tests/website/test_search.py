# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What search engines read of the site: tools/website/search.py, and what tools/website/check.py asks of each page."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from website.test_website import FIRST, HEAD, site

from tools.website import search

PAGE = """# Lab 1: a title

| | |
|---|---|
| Time | two hours |

![A picture that is described in words](a.svg)

    a command

Say what [a device](../docs/a.md) *is*, and `which` address it serves.
"""
SPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def test_the_first_paragraph() -> None:
    assert search.description(PAGE) == "Say what a device is, and which address it serves."


def test_a_page_without_paragraphs() -> None:
    cell = "what a page in tables says in its first long cell"
    assert search.description(f"# T\n\n| a | b |\n|---|---|\n| short | {cell} |\n") == cell
    assert search.description("# Words\n\n| a | b |\n").startswith("Words, in RDMA by example")


@pytest.mark.parametrize("sentence", ["Short words of one sentence that goes on a little. ", "wordy " * 5])
def test_it_is_not_longer_than_what_is_shown(sentence: str) -> None:
    text = search.shortened(sentence * 20)
    assert search.SHORTEST <= len(text) <= search.LONGEST
    assert text.endswith(". ".strip()) or text.endswith("wordy…")


def test_a_source_says_its_head() -> None:
    said = search.of_source("a/b.c", "/* SPDX-License-Identifier: X */\n/*\n * The client. Read\n * it first.\n */\nint x;\n")
    assert said.startswith("a/b.c ") and said.endswith("The client. Read it first.")
    assert search.of_source("a/b.py", '# SPDX-License-Identifier: X\n"""Draws."""\n').endswith("Draws.")
    long = search.of_source("a/b.c", f"/* The client. {'It waits. ' * 30}*/")
    assert "The client." in long and len(long) <= search.LONGEST
    assert search.of_source("a.md", PAGE) == search.description(PAGE)


def test_each_page_needs_a_title_and_a_description() -> None:
    assert site("") == []
    assert site("", head=HEAD.format("First", "")) == ["index.html has no description"]
    assert site("", head=FIRST.replace("First", "")) == ["index.html has no title"]
    assert "says of itself what" in site("", head=HEAD.format("First", "another page"))[0]


def test_the_title_of_a_picture_is_not_the_page_s() -> None:
    assert site("<svg><title>Other</title></svg>") == []


def test_a_sitemap(tmp_path: Path) -> None:
    for name in ("index.html", "a/b.html", "genindex.html", "_static/c.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    search.sitemap(tmp_path, "https://example.org/it/")
    found = [entry.text for entry in ElementTree.parse(tmp_path / "sitemap.xml").iter(f"{SPACE}loc")]
    assert found == ["https://example.org/it/a/b.html", "https://example.org/it/index.html"]
    search.sitemap(tmp_path, "")
    assert not (tmp_path / "sitemap.xml").exists()


def test_the_first_title(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>x</title><svg><title>y</title></svg>")
    search.title_front(tmp_path)
    assert (tmp_path / "index.html").read_text() == f"<title>{search.FRONT_TITLE}</title><svg><title>y</title></svg>"
