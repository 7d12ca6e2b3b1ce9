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
    assert [name for name in course(notes=False) if re.search(r"slides/.*-notes|written-test", name)] == []


SHEETS = sorted(pages.TOP.glob("course/labs/lab-*[0-9].md"))
ANSWER = re.compile(r"^<details><summary>(Answers?|What a good half page has)</summary>$", re.MULTILINE)


def test_each_lab_has_notes() -> None:
    assert len(SHEETS) == 11
    for sheet in SHEETS:
        assert f"({sheet.stem}-notes.md)" in sheet.read_text()


@pytest.mark.parametrize("sheet", SHEETS, ids=[sheet.stem for sheet in SHEETS])
def test_each_step_has_its_answer(sheet: Path) -> None:
    """The answers are for those who learn alone; what a stage's README answers, and an exercise, are linked."""
    parts = re.split(r"^## (.*)$", sheet.read_text(), flags=re.MULTILINE)
    steps = {title: text for title, text in zip(parts[1::2], parts[2::2]) if not re.search(r"Is everything there|Exercise", title)}
    if not ANSWER.search("".join(steps.values())):
        pytest.skip("this is a students' tree")
    assert len(steps) >= (3 if sheet.stem in ("lab-10", "lab-11") else 5)
    assert [title for title, text in steps.items() if not ANSWER.search(text) and "#questions)" not in text] == []


def folds(text: str) -> list[str]:
    """The beginnings and ends of what is folded, in their order."""
    return re.findall(r"<(/?details)>", text)


def test_what_is_unfolded_ends() -> None:
    """Each answer ends before the next one, with an empty line after its title, so that what is inside is read as Markdown."""
    found = [path for path in [*SHEETS, pages.TOP / "course/practice.md"] if path.exists()]
    for path in found:
        text = path.read_text()
        assert folds(text) == ["details", "/details"] * (len(folds(text)) // 2), path.name
        assert len(re.findall(r"<details><summary>.+</summary>\n\n", text)) * 2 == len(folds(text)), path.name


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
