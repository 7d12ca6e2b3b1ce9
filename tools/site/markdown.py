# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Turns a Markdown file of the tree into a page of the site: links, figures, and live code.

Place: between tools/site/__main__.py and sources.py. Contract: the page stays where the file is, relative to
the top, so that links between pages hold as they are, and a picture is beside it. A link to any other file of the tree leads to a page
that shows that file. What the markers of fill.py ask for is shown as it is now, whatever the file has.
"""

import os
import posixpath
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from . import sources
from .fill import filled
from .pages import TOP
from .sources import NotThere, fence

FRONT = "README.md"
# Fenced blocks and code spans hold no links.
VERBATIM = re.compile(r"(^(`{3,}|~{3,}).*?^\2[`~]*$|(`+)(?!`).+?(?<!`)\3(?!`))", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"L\d+")  # a line of a source, on a forge
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text, changed where it is not code."""
    result, end = "", 0
    for block in VERBATIM.finditer(text):
        result += change(text[end : block.start()]) + block.group(0)
        end = block.end()
    return result + change(text[end:])


def shown(path: Path) -> str:
    """A file's text as code, or the names in a folder."""
    if path.is_dir():
        return fence("\n".join(sorted(entry.name for entry in path.iterdir())), "none")
    return fence(path.read_text(), sources.language(path))


class Pages:
    """Writes pages, and keeps account of the files that links lead to."""

    def __init__(self, destination: Path, pages: list[str]) -> None:
        self.destination = destination
        self.pages = set(pages)
        self.shown: set[str] = set()

    def _link(self, page: str, target: str) -> str:
        """Returns the target on the site of a link of a page."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, anchor = target.partition("#")
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if wanted.endswith(".svg") and (TOP / wanted).is_file():
            (self.destination / wanted).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / wanted, self.destination / wanted)
            return target
        if (TOP / wanted / "README.md").is_file():
            wanted = posixpath.join(wanted, "README.md")
        if not (TOP / wanted).exists():
            raise NotThere(f"{page}: a link leads to {target}, which is not there")
        if wanted == FRONT:
            wanted = "index.md"
        elif wanted not in self.pages:
            self.shown.add(wanted)
            wanted = f"sources/{wanted}.md"
        relative = os.path.relpath(wanted, posixpath.dirname(page) or ".")
        return relative + (f"#{anchor}" if anchor and not LINE.fullmatch(anchor) else "")

    def convert(self, page: str, text: str) -> str:
        """The text of a page, as Sphinx gets it."""

        def links(part: str) -> str:
            return TARGET.sub(lambda found: f"]({self._link(page, found.group(1))})", part)

        return outside_code(filled(text, posixpath.dirname(page) or "."), links)

    def write(self, page: str, text: str) -> None:
        """Puts a page where Sphinx looks for it."""
        path = self.destination / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_shown(self) -> None:
        """A page for each file that links lead to, and that is no page by itself."""
        for path in sorted(self.shown):
            self.write(f"sources/{path}.md", f"---\norphan: true\n---\n\n# `{path}`\n\n{shown(TOP / path)}")
