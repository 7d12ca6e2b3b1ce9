# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Cuts functions out of a C source: the solution is removed, the signature and its comment stay.

Place: used by make.py. Contract: the sources are in the project's style, so a function ends with the first brace in
column 1. If a function is missing, that is an error; so an exercise cannot become wrong without notice.
"""

import re

TODO = "/* EXERCISE: write this. */"


class NotThere(Exception):
    """The source has no such function."""


def find(lines: list[str], name: str) -> tuple[int, int, int]:
    """The positions of a function's comment, its signature and its closing brace."""
    begins = re.compile(rf"^[a-z][\w *]*\b{re.escape(name)}\(")
    for first, line in enumerate(lines):
        if not begins.match(line):
            continue
        opening = next((i for i in range(first, len(lines)) if lines[i] == "{" or lines[i].endswith(";")), None)
        if opening is None or lines[opening] != "{":
            continue
        comment = first
        while comment and re.match(r"/\*| \*", lines[comment - 1]):
            comment -= 1
        return comment, first, lines.index("}", opening)
    raise NotThere(f"there is no function {name}")


def parameters(signature: str) -> list[str]:
    """The names of a function's parameters."""
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    names = [re.findall(r"\w+", part)[-1] for part in inside.split(",")]
    return [name for name in names if name != "void"]


def empty(source: str, name: str, result: str = "ENOSYS") -> str:
    """The source with an empty body for the function, which returns `result`."""
    lines = source.split("\n")
    _, first, last = find(lines, name)
    opening = lines.index("{", first)
    signature = " ".join(lines[first:opening])
    body = [f"\t(void){parameter};" for parameter in parameters(signature) if parameter not in result]
    body.append(f"\t{TODO}")
    if not re.match(r"(static )?void ", signature):
        body.append(f"\treturn {result};")
    return "\n".join(lines[: opening + 1] + body + lines[last:])


def remove(source: str, name: str) -> str:
    """The source without the function and its comment."""
    lines = source.split("\n")
    comment, _, last = find(lines, name)
    rest = lines[last + 1 :]
    return "\n".join(lines[:comment] + (rest[1:] if rest and not rest[0] else rest))
