# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Takes pieces out of the sources for the site, so that a page shows the code as it is now.

Place: used by tools/site/markdown.py. Contract: what is asked for and not there is an error.
"""

import re
import subprocess
from pathlib import Path

from tools.folders import folder
from tools.stages import before

from .pages import TOP

LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".sh": "bash", ".json": "json"}


class NotThere(Exception):
    """A page names something that the tree does not have."""


def language(path: Path) -> str:
    """Returns the highlighter's name for the language of a file."""
    if path.suffix in LANGUAGES:
        return LANGUAGES[path.suffix]
    if path.name == "Makefile":
        return "make"
    with path.open(errors="replace") as file:
        first = file.readline()
    if first.startswith("#!"):
        return "python" if "python" in first else "bash"
    return "none"


def fence(text: str, lang: str) -> str:
    """The text as a block of code."""
    return f"~~~~~~{lang}\n{text.rstrip()}\n~~~~~~\n"


def function(path: str, name: str) -> str:
    """A C function of a file at the top level, with the comment above it."""
    if not (TOP / path).is_file():
        raise NotThere(f"there is no file {path}")
    lines = (TOP / path).read_text().splitlines()
    begins = re.compile(rf"^(?!\s|#|/|\*)[^;=]*\b{re.escape(name)}\(")
    for number, line in enumerate(lines):
        if not begins.match(line):
            continue
        try:
            end = lines.index("}", number)
        except ValueError:
            break
        if any(text.endswith(";") and not text.startswith("\t") for text in lines[number:end]):
            continue  # a declaration
        start = number
        while start and lines[start - 1].strip() and lines[start - 1].lstrip().startswith(("/*", "*")):
            start -= 1
        return "\n".join(lines[start : end + 1])
    raise NotThere(f"{path} has no function {name}")


def whole(path: str) -> str:
    """A C file without the line of its license."""
    if not (TOP / path).is_file():
        raise NotThere(f"there is no file {path}")
    return (TOP / path).read_text().partition("\n")[2].strip()


def delta(stage: str) -> str:
    """Returns the output of `make delta`; empty for the first stage and for stages of one file."""
    if not before(stage):
        return ""
    command = ["tools/stage", "delta", stage]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout


def own_files(stage: str) -> list[str]:
    """The sources in a stage's folder."""
    own = (TOP / folder(stage)).iterdir()
    return sorted(str(path.relative_to(TOP)) for path in own if path.suffix in (".c", ".h"))
