# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of tools/website."""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.website import check, fill, mend, pages, sources  # noqa: E402
from tools.website.markdown import Pages  # noqa: E402
from tools.website.sources import NotThere  # noqa: E402


class Checks(unittest.TestCase):
    """What is wrong with a site is found."""

    def site(self, body: str, style: str = "", script: str = "", indexed: str = '"index", "other"') -> list[str]:
        """What the check says of a site of two pages."""
        with tempfile.TemporaryDirectory() as folder:
            html = Path(folder)
            (html / "index.html").write_text(f"<html><body>{body}</body></html>")
            (html / "other.html").write_text('<h1 id="there">Other</h1>')
            (html / "style.css").write_text(style)
            (html / "searchindex.js").write_text(f'Search.setIndex({{"docnames": [{indexed}], "a": 1}})\n{script}')
            return check.site(html)

    def test_a_good_one(self) -> None:
        body = '<a href="other.html#there">a</a><a href="https://example.org">b</a><script src="searchindex.js">'
        self.assertEqual(self.site(body, "p { background: url(data:x) }"), [])

    def test_a_page_that_is_not_there(self) -> None:
        self.assertEqual(len(self.site('<a href="none.html">a</a>')), 1)

    def test_an_anchor_that_is_not_there(self) -> None:
        self.assertEqual(len(self.site('<a href="other.html#here">a</a>')), 1)

    def test_what_comes_from_other_hosts(self) -> None:
        self.assertIn("another host", self.site('<script src="https://example.org/a.js"></script>')[0])
        self.assertEqual(len(self.site("", "@import url(https://example.org/a.css);")), 1)
        self.assertEqual(len(self.site("", "@import url(/javascript/a.css);")), 1)

    def test_a_script_that_files_do_not_load(self) -> None:
        self.assertEqual(len(self.site("", "", 'import A from "./a.js";')), 1)

    def test_a_page_that_a_search_does_not_find(self) -> None:
        self.assertEqual(self.site("", indexed='"index"'), ["other.html is not in the index to search"])

    def test_dark_by_preference(self) -> None:
        text = '@media not print {\n  body[data-theme="dark"] {\n    --a: #131416; }\n}\n'
        mended = mend.also_by_preference(text)
        self.assertIn("(prefers-color-scheme: dark)", mended)
        self.assertEqual(mended.count("--a: #131416;"), 2)
        self.assertEqual(mend.also_by_preference(mended), mended)
        self.assertEqual(mend.also_by_preference("p {}"), "p {}")


class Notes(unittest.TestCase):
    """The notes for instructors have the answers."""

    def site(self, notes: bool) -> set[str]:
        """All pages of the site, and the files of course/ that its pages show."""
        names = [page for part in pages.sections(notes) for page in part.pages]
        with tempfile.TemporaryDirectory() as folder:
            site = Pages(Path(folder), names)
            for name in names:
                if name.startswith("course/"):
                    site.convert(name, (pages.TOP / name).read_text())
            return {*names, *site.shown}

    def test_students_do_not_see_them(self) -> None:
        self.assertEqual([name for name in self.site(notes=False) if "notes" in name], [])

    def test_each_lab_has_some(self) -> None:
        site = self.site(notes=True)
        labs = [name for name in site if re.fullmatch(r"course/labs/lab-\d\.md", name)]
        self.assertTrue(labs)
        self.assertLessEqual({name.replace(".md", "-notes.md") for name in labs}, site)


class Markdown(unittest.TestCase):
    """Pages name only what is there."""

    def convert(self, text: str) -> str:
        """A page docs/page.md with this text."""
        with tempfile.TemporaryDirectory() as folder:
            return Pages(Path(folder), ["ping-sr-1/README.md"]).convert("docs/page.md", text)

    def test_links(self) -> None:
        self.assertEqual(self.convert("[a](../ping-sr-1)"), "[a](../ping-sr-1/README.md)")
        self.assertEqual(self.convert("[a](../program/stage.h)"), "[a](../sources/program/stage.h.md)")
        self.assertEqual(self.convert("`[a](none)`\n"), "`[a](none)`\n")
        self.assertEqual(self.convert("~~~\n[a](none)\n~~~\n"), "~~~\n[a](none)\n~~~\n")

    def test_a_link_to_nothing(self) -> None:
        with self.assertRaises(NotThere):
            self.convert("[a](none.md)")

    def test_code(self) -> None:
        text = self.convert("<!-- code: ping-sr-0/retry.c our_run_client -->")
        self.assertIn("int our_run_client(", text)
        self.assertIn("/* With -w", text)
        self.assertNotIn("static int run_with_any", text)

    def test_code_that_has_gone(self) -> None:
        for marker in ("ping-sr-0/client.c no_such_function", "ping-sr-0/none.c main"):
            with self.assertRaises(NotThere):
                self.convert(f"<!-- code: {marker} -->")

    def test_filled_again(self) -> None:
        once = fill.filled("<!-- code: ping-sr-0/retry.c our_run_client -->\ntext\n<!-- table: exercises -->\n", "docs")
        self.assertIn("](../ping-sr-0/retry.c):\n\n```c\n", once)
        self.assertEqual(fill.filled(once, "docs"), once)
        self.assertEqual(fill.filled(once.replace("int our_run_client", "int other"), "docs"), once)
        self.assertNotIn("```", fill.unfilled(once))
        self.assertIn("\ntext\n", fill.unfilled(once))

    def test_code_that_has_moved(self) -> None:
        self.assertIn("code: ping-sr-0/retry.c our_run_client", fill.filled("<!-- code: a/b.c our_run_client -->\n", "docs"))

    def test_a_declaration_is_no_function(self) -> None:
        with self.assertRaises(NotThere):
            sources.function("common/transfer_completion.h", "our_await_completion")

    def test_a_figure_without_words(self) -> None:
        with self.assertRaises(NotThere):
            self.convert("![short](figures/pyramid.svg)")


if __name__ == "__main__":
    unittest.main()
