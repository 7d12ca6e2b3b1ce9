# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""tools/site, with the pages of this tree; Sphinx itself looks for links that lead nowhere (make docs)."""

import re
import tempfile
from pathlib import Path

import pytest

from tools.site import fill, pages, sources
from tools.site.markdown import Pages
from tools.site.sources import NotThere


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


def test_a_picture_is_beside_its_page(tmp_path: Path) -> None:
    text = "![words](figures/pyramid.svg)"
    assert Pages(tmp_path, []).convert("docs/page.md", text) == text
    assert (tmp_path / "docs/figures/pyramid.svg").is_file()


def test_a_link_to_nothing() -> None:
    with pytest.raises(NotThere):
        convert("[a](none.md)")


def test_code() -> None:
    text = convert("<!-- code: program/serve/client.c our_run_client -->")
    assert "int our_run_client(" in text
    assert "/* Runs the client. With -w" in text
    assert "static int run_with_any" not in text


def test_code_that_has_gone() -> None:
    for marker in ("ping-sr-0/client.c no_such_function", "ping-sr-0/none.c main"):
        with pytest.raises(NotThere):
            convert(f"<!-- code: {marker} -->")


def test_filled_again() -> None:
    once = fill.filled("<!-- code: program/serve/client.c our_run_client -->\ntext\n<!-- table: exercises -->\n", "docs")
    assert "](../program/serve/client.c):\n\n```c\n" in once
    assert fill.filled(once, "docs") == once
    assert fill.filled(once.replace("int our_run_client", "int other"), "docs") == once
    assert "\ntext\n" in once


def test_a_declaration_is_no_function() -> None:
    with pytest.raises(NotThere):
        sources.function("common/roles.h", "our_await_completion")
