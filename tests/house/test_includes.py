# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The rules for includes, and for comments: the names of files in them, and how they begin."""

import re
from pathlib import Path

from tools.folders import files

TOP = Path(__file__).resolve().parents[2]

# The folders that files of a folder may include, besides their own. Stages are in no row.
ALLOWED: dict[str, set[str]] = {
    "examples": {"common"},
    "program": {"common"},
    "program/measure": {"common", "program"},
    "program/serve": {"common", "program/measure", "program"},
    "common": set(),
    "tools/verbs-sim": {"tools/verbs"},
    "tools/verbs-trace": {"tools/verbs"},
    "tools/devices": {"common", "program/measure", "program"},
}
# A way of waiting is not to know what moves over the connection, nor who serves whom.
WAYS = ("cm_events.c", "completions.c", "keepalive.c", "wake_up.c")
OF_OTHER_WAYS = {"comp_channel.h", "channels.h", "keepalive.h", "spin.h", "bare.h"}


def tracked() -> list[str]:
    """All sources and headers."""
    return files(".c", ".h")


def included(name: str) -> list[str]:
    """The project's files that a file includes."""
    found = re.findall(r'^#include "([^"]+)"', (TOP / name).read_text(), re.MULTILINE)
    places = [[one, f"tools/{one}", str(Path(name).parent / one)] for one in found]
    return [next((place for place in three if (TOP / place).exists()), three[-1]) for three in places]


def folder(name: str) -> str:
    """The first folder of a path; in beyond/ the stage's, in program/ the room, in tools/ the product."""
    if name.startswith("program/"):
        return str(Path(name).parent)
    parts = name.removeprefix("beyond/").split("/")
    return "/".join(parts[: 2 if parts[0] == "tools" else 1])


def test_rooms() -> None:
    for name in tracked():
        allowed = ALLOWED.get(folder(name))
        if allowed is not None:
            others = {folder(one) for one in included(name)} - {folder(name)}
            assert others <= allowed, name


def test_what_common_keeps_to_itself() -> None:
    for name in tracked():
        if "common/private.h" in included(name):
            assert folder(name) == "common" or name.startswith("tests/unit/"), name


def test_ways_of_waiting() -> None:
    ways = [name for name in tracked() if Path(name).name in WAYS and folder(name).count("-") == 2]
    assert len(ways) > 10
    for name in ways:
        for one in included(name):
            assert folder(one) == "common" or Path(one).name in OF_OTHER_WAYS, f"{name}: {one}"


def test_comments_say_where_a_file_is() -> None:
    """A name without its folder is of a file beside it. Each folder of the ladder has the files of WAYS: there the folder
    is always named."""
    names = {Path(name).name for name in tracked()} - {"stage.c"}  # each stage has a stage.c, and comments say so
    for file in tracked():
        for line in (TOP / file).read_text().splitlines() if not file.startswith(("tests/", "course/")) else ():
            for name in re.findall(r"(?<![\w/.-])(\w+\.[ch])\b", "" if line.startswith("#include") else line):
                if name in names:
                    assert (TOP / file).with_name(name).exists() and name not in ("completions.c", "cm_events.c"), f"{file}: {line.strip()}"


# A comment that begins so continues the line it stands on.
FRAGMENT = re.compile(r"(?:of|what|who|whose|whoever|whether|how|which|that|where|and|but|nor)\b[^?]*$", re.IGNORECASE)


def comments(name: str) -> list[str]:
    """Returns the comments and docstrings of a file; of comments on consecutive lines, the first line."""
    text = (TOP / name).read_text()
    if not name.endswith(".py"):
        return [" ".join(one.split()) for one in re.findall(r"/\*[\s*]*(.*?)\*/", text, re.DOTALL)]
    lines = re.findall(r"^(?!\s*# .*\n).*(?<!\S)# (.*)|^(?!\s*# ).*\n\s*# (.*)", "\n" + text, re.MULTILINE)
    return re.findall(r'^\s*"""(\S.*?)"""', text, re.DOTALL | re.MULTILINE) + ["".join(line) for line in lines]


def test_comments_read_by_themselves() -> None:
    """A question may begin as a fragment does."""
    found = {name: comments(name) for name in files(".c", ".h", ".py")}
    assert sum(map(len, found.values())) > 5000
    assert not [f"{name}: {one}" for name, them in found.items() for one in them if FRAGMENT.match(one)]
