# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of tools/website."""

import re
import tempfile
from pathlib import Path

import pytest

from tools.website import check, fill, mend, pages, sources
from tools.website.markdown import Pages
from tools.website.sources import NotThere


HEAD = '<title>{}</title><meta name="description" content="{}">'
FIRST = HEAD.format("First", "a page")


def site(body: str, style: str = "", script: str = "", indexed: str = '"index", "other"', head: str = FIRST) -> list[str]:
    """What the check says of a site of two pages."""
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder)
        (html / "index.html").write_text(head + f"<body>{body}</body>")
        (html / "other.html").write_text(HEAD.format("Other", "another page") + '<h1 id="there">Other</h1>')
        (html / "style.css").write_text(style)
        (html / "searchindex.js").write_text(f'Search.setIndex({{"docnames": [{indexed}], "a": 1}})\n{script}')
        return check.site(html)


def test_a_good_one() -> None:
    body = '<a href="other.html#there">a</a><a href="https://example.org">b</a><script src="searchindex.js">'
    assert site(body, "p { background: url(data:x) }") == []


def test_a_page_that_is_not_there() -> None:
    assert len(site('<a href="none.html">a</a>')) == 1


def test_an_anchor_that_is_not_there() -> None:
    assert len(site('<a href="other.html#here">a</a>')) == 1


def test_what_comes_from_other_hosts() -> None:
    assert "another host" in site('<script src="https://example.org/a.js"></script>')[0]
    assert len(site("", "@import url(https://example.org/a.css);")) == 1
    assert len(site("", "@import url(/javascript/a.css);")) == 1


def test_a_script_that_files_do_not_load() -> None:
    assert len(site("", "", 'import A from "./a.js";')) == 1


def test_a_page_that_a_search_does_not_find() -> None:
    assert site("", indexed='"index"') == ["other.html is not in the index to search"]


def test_dark_by_preference() -> None:
    text = '@media not print {\n  body[data-theme="dark"] {\n    --a: #131416; }\n}\n'
    mended = mend.also_by_preference(text)
    assert "(prefers-color-scheme: dark)" in mended
    assert mended.count("--a: #131416;") == 2
    assert mend.also_by_preference(mended) == mended
    assert mend.also_by_preference("p {}") == "p {}"


def course(notes: bool) -> set[str]:
    """All pages of the site, and the files of course/ that its pages show."""
    names = [page for part in pages.sections(notes) for page in part.pages]
    with tempfile.TemporaryDirectory() as folder:
        site = Pages(Path(folder), names)
        for name in names:
            if name.startswith("course/"):
                site.convert(name, (pages.TOP / name).read_text())
        return {*names, *site.shown}


def test_students_do_not_see_notes() -> None:
    assert [name for name in course(notes=False) if "notes" in name or "written-test" in name] == []


def test_each_lab_has_notes() -> None:
    found = course(notes=True)
    if not [name for name in found if "notes" in name]:
        pytest.skip("this is a students' tree")
    labs = [name for name in found if re.fullmatch(r"course/labs/lab-\d\.md", name)]
    assert labs
    assert {name.replace(".md", "-notes.md") for name in labs} <= found


def convert(text: str) -> str:
    """A page docs/page.md with this text."""
    with tempfile.TemporaryDirectory() as folder:
        return Pages(Path(folder), ["ping-sr-1/README.md"]).convert("docs/page.md", text)


def test_links() -> None:
    assert convert("[a](../ping-sr-1)") == "[a](../ping-sr-1/README.md)"
    assert convert("[a](../program/stage.h)") == "[a](../sources/program/stage.h.md)"
    assert convert("`[a](none)`\n") == "`[a](none)`\n"
    assert convert("~~~\n[a](none)\n~~~\n") == "~~~\n[a](none)\n~~~\n"


def test_a_link_to_nothing() -> None:
    with pytest.raises(NotThere):
        convert("[a](none.md)")


def test_code() -> None:
    text = convert("<!-- code: ping-sr-0/retry.c our_run_client -->")
    assert "int our_run_client(" in text
    assert "/* With -w" in text
    assert "static int run_with_any" not in text


def test_code_that_has_gone() -> None:
    for marker in ("ping-sr-0/client.c no_such_function", "ping-sr-0/none.c main"):
        with pytest.raises(NotThere):
            convert(f"<!-- code: {marker} -->")


def test_filled_again() -> None:
    once = fill.filled("<!-- code: ping-sr-0/retry.c our_run_client -->\ntext\n<!-- table: exercises -->\n", "docs")
    assert "](../ping-sr-0/retry.c):\n\n```c\n" in once
    assert fill.filled(once, "docs") == once
    assert fill.filled(once.replace("int our_run_client", "int other"), "docs") == once
    assert "\ntext\n" in once


def test_code_that_has_moved() -> None:
    assert "code: ping-sr-0/retry.c our_run_client" in fill.filled("<!-- code: a/b.c our_run_client -->\n", "docs")


def test_a_declaration_is_no_function() -> None:
    with pytest.raises(NotThere):
        sources.function("common/transfer_completion.h", "our_await_completion")


def test_a_figure_without_words() -> None:
    with pytest.raises(NotThere):
        convert("![short](figures/pyramid.svg)")
