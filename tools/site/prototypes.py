# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The prototypes of the verbs on docs/verbs.md, as the installed headers declare them.

Place: fill.py and markdown.py ask for one block for each part of that page. Contract: a verb that no header declares is
an error. Names and types of parameters come from libclang; the layout is the kernel's.
"""

import functools
import re

from . import structures
from .pages import TOP
from .sources import NotThere

HEADING = re.compile(r"^## (.+)$")
ROW = re.compile(r"^\| `((?:rdma|ibv)_\w+)` \|")
WIDTH = 96


def parts() -> dict[str, list[str]]:
    """The verbs of each part of the page, under the first word of its heading, as in prototypes-memory."""
    found: dict[str, list[str]] = {}
    part = ""
    for line in (TOP / "docs/verbs.md").read_text().splitlines():
        if heading := HEADING.match(line):
            part = "prototypes-" + re.sub(r"\W+", "-", heading[1].split(":")[0].lower())
        elif row := ROW.match(line):
            found.setdefault(part, []).append(row[1])
    return found


def _declaration(type_name: str, name: str) -> str:
    """A result or a parameter, with its name at the right side of the stars."""
    return type_name + ("" if type_name.endswith("*") else " ") + name


def wrapped(head: str, parameters: list[str]) -> str:
    """A prototype whose lines are short enough; the parameters that do not fit begin below the first one."""
    lines, left = [head], len(head)
    for number, parameter in enumerate(parameters):
        piece = parameter + (");" if number == len(parameters) - 1 else ",")
        gap = " " if number else ""
        if number and len(lines[-1]) + len(piece) + 1 > WIDTH:
            lines.append(" " * left)
            gap = ""
        lines[-1] += gap + piece
    return "\n".join(lines)


@functools.cache
def prototypes() -> dict[str, str]:
    """The prototype of each function that the headers declare. Some verbs are macros for a function with underscores, whose
    types are those that a program uses."""
    found: dict[str, str] = {}
    for cursor in structures.functions():
        name = str(cursor.spelling)
        plain = name.removeprefix("___")
        if plain in found and plain == name:
            continue
        parameters = [_declaration(each.type.spelling, each.spelling) for each in cursor.get_arguments()] or ["void"]
        found[plain] = wrapped(_declaration(cursor.result_type.spelling, plain) + "(", parameters)
    return found


def block(part: str) -> str:
    """The prototypes of one part of the page."""
    verbs = parts()[part]
    missing = [verb for verb in verbs if verb not in prototypes()]
    if missing:
        raise NotThere(f"the installed headers do not declare {', '.join(missing)}")
    return "```c\n" + "\n".join(prototypes()[verb] for verb in verbs) + "\n```\n"
