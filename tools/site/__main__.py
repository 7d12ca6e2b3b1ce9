# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes the site: one folder of HTML from the Markdown of the tree, to be read without a network.

Place: `make docs` calls it. Contract: see --help. A link that leads nowhere, a function or figure that is
not there, and anything that would be fetched from another host ends it with exit status 1.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tools.folders import folder

from . import files_only, practice, sources
from .markdown import FRONT, Pages
from .pages import EXERCISE_PAGES, TOP, Section, sections, stages
from .sources import NotThere, fence


def parse() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.site", description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=Path, help="where the site goes: DIRECTORY/html/index.html")
    parser.add_argument("--notes", action="store_true", help="with the notes for instructors, which have the labs' answers")
    return parser.parse_args()


def folded(title: str, text: str, language: str) -> str:
    """Code that is unfolded by a click."""
    lines = len(text.splitlines())
    return f"<details><summary>{title} ({lines} lines)</summary>\n\n{fence(text, language)}\n</details>\n\n"


def of_stage(stage: str) -> str:
    """Returns the rest of a stage's page, after its README: the delta, and the stage's own files."""
    text = "\n\n## The code, as it is now\n\n"
    delta = sources.delta(stage)
    if delta:
        text += folded(f"<code>make delta STAGE={stage}</code>", delta, "diff")
    for path in sources.own_files(stage):
        text += folded(f"<code>{path}</code>", (TOP / path).read_text(), "c")
    return text


def contents(parts: list[Section]) -> str:
    """The table of contents, for the front page."""
    text = ""
    for part in parts:
        text += f"\n```{{toctree}}\n:caption: {part.title}\n:maxdepth: 1\n:hidden:\n\n"
        text += "\n".join(page.removesuffix(".md") for page in part.pages) + "\n```\n"
    return text


def write_pages(destination: Path, notes: bool) -> None:
    """Writes what Sphinx reads."""
    parts = sections(notes)
    names = [page for part in parts for page in part.pages]
    of_stages = {f"{folder(stage)}/README.md": stage for stage in stages()}
    pages = Pages(destination, names)
    for page in names:
        text = pages.convert(page, (TOP / page).read_text())
        if page in of_stages:
            text += of_stage(of_stages[page])
        if page in EXERCISE_PAGES:
            text += practice.commands(page)
        pages.write(page, text)
    pages.write("index.md", pages.convert(FRONT, (TOP / FRONT).read_text()) + contents(parts))
    pages.write_shown()


def build(directory: Path, notes: bool) -> int:
    """Makes the site anew. Returns the exit status."""
    source, html = directory / "pages", directory / "html"
    shutil.rmtree(directory, ignore_errors=True)
    source.mkdir(parents=True)
    write_pages(source, notes)
    command = ["sphinx-build", "-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-c", "tools/site"]
    if subprocess.run([*command, "-d", str(directory / "doctrees"), str(source), str(html)], cwd=TOP).returncode:
        return 1
    files_only.repair(html)
    mistakes = files_only.mistakes(html)
    for mistake in mistakes:
        print(f"tools/site: {mistake}", file=sys.stderr)
    if mistakes:
        return 1
    print(f"{html}/index.html")
    return 0


if __name__ == "__main__":
    try:
        options = parse()
        sys.exit(build(options.directory, options.notes))
    except NotThere as missing:
        print(f"tools/site: {missing}", file=sys.stderr)
        sys.exit(1)
