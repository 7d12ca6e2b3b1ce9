# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Fills the Markdown files of the tree with what they show of it, so that a clone or a forge shows it, too.

Place: beside tools/site/markdown.py. Run as a program (python3 -B -m tools.site.fill), it writes what follows
`<!-- code: FILE FUNCTION -->`, `<!-- code: FILE -->` and `<!-- table: NAME -->`, up to `<!-- end -->`; with --check it writes nothing, and
exits with status 1 if a file is not current.
"""

import argparse
import os
import re
import sys
from pathlib import Path

from tools.folders import files

from . import practice, sources
from .pages import TOP
from .sources import NotThere

MARKER = re.compile(r"^<!-- (code|table): (.+) -->(?:\n|\Z)(?:\n(?:(?!<!-- (?:code|table): ).*\n)*?<!-- end -->\n)?", re.MULTILINE)


def filled(text: str, folder: str) -> str:
    """A page of a folder with what its markers ask for."""

    def block(found: re.Match[str]) -> str:
        kind, what = found.group(1), found.group(2)
        if kind == "table":
            return f"<!-- table: {what} -->\n\n{practice.table(what).strip()}\n\n<!-- end -->\n"
        path, _, name = what.partition(" ")
        text = sources.function(path, name) if name else sources.whole(path)
        link = f"[{path}]({os.path.relpath(path, folder)}):"
        return f"<!-- code: {what} -->\n\n{link}\n\n```c\n{text}\n```\n\n<!-- end -->\n"

    return MARKER.sub(block, text)


def pages() -> list[Path]:
    """The Markdown files that have a marker."""
    return [TOP / name for name in files(".md") if MARKER.search((TOP / name).read_text())]


def main() -> int:
    """Fills or checks all pages. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -B -m tools.site.fill", description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if a file is not current")
    check, failed = parser.parse_args().check, 0
    for path in pages():
        old = path.read_text()
        try:
            new = filled(old, str(path.parent.relative_to(TOP)))
        except NotThere as missing:
            print(f"{path.relative_to(TOP)}: {missing}", file=sys.stderr)
            failed = 1
            continue
        if new != old and check:
            print(f"{path.relative_to(TOP)} does not show the code as it is now: run `make fill`", file=sys.stderr)
            failed = 1
        elif new != old:
            path.write_text(new)
    return failed


if __name__ == "__main__":
    sys.exit(main())
