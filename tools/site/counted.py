# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of examples/ and their library, with their lines: the table of examples/README.md.

Place: fill.py asks for it. Contract: what a program shows is what its first comment says of it.
"""

import re
from pathlib import Path

from tools.stages import variable

from .pages import TOP, existing
from .sources import NotThere

HEAD = re.compile(r"\A/\* SPDX.*\*/\n/\*\n((?: \* .+\n)+)")


def lines(*names: str) -> str:
    """The lines of some files together."""
    return f"{sum((TOP / name).read_text().count(chr(10)) for name in names):,}"


def shows(name: str) -> str:
    """The first two sentences of the first comment of a file."""
    found = HEAD.match((TOP / name).read_text())
    if not found:
        raise NotThere(f"{name} does not begin with a comment that says what it is")
    said = " ".join(line.removeprefix(" * ") for line in found[1].splitlines())
    return "".join(re.split(r"(?<=\.)(?= [A-Z])", said)[:2])


def examples() -> str:
    """A row for each program, and one for the library."""
    rows = ["| | shows | lines |", "|---|---|---|"]
    for name in (*existing("examples/*.c"), *existing("examples/plain/*.c")):
        path = Path(name).relative_to("examples")
        rows.append(f"| [{path}]({path}) | {shows(name)} | {lines(name)} |")
    library = variable("LIBRARY_SOURCES")
    rows.append(f"| the library | {len(library)} sources, and its header [our_control.h](../common/our_control.h), "
                f"which has {lines('common/our_control.h')} lines more | {lines(*library)} |")  # fmt: skip
    return "\n".join(rows) + "\n"
