# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Lists the verbs that the programs call, and their folders, for docs/verbs.md.

Place: for the test of that page. Contract: reads the sources of the stages, of the rooms and of tools/devices/.
"""

import re
from collections import defaultdict

from tools.folders import folder
from tools.stages import variable

from .pages import TOP, stages

CALL = re.compile(r"\b((?:rdma|ibv)_[a-z_0-9]+)\(")
COMMENT = re.compile(r"/\*.*?\*/|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
ROW = re.compile(r"^\| `((?:rdma|ibv)_\w+)` \|.*\| ([^|]*) \|$", re.MULTILINE)


def used() -> dict[str, set[str]]:
    """The folders in which each verb is called."""
    result: dict[str, set[str]] = defaultdict(set)
    for name in [*variable("ROOMS"), *stages(), "tools/devices"]:
        for path in (TOP / folder(name)).glob("*.[ch]"):
            for verb in CALL.findall(COMMENT.sub("", path.read_text())):
                result[verb].add(name.removeprefix("tools/"))
    return dict(result)


def documented() -> dict[str, set[str]]:
    """The folders that docs/verbs.md names for each verb."""
    text = (TOP / "docs/verbs.md").read_text()
    return {verb: set(folders.split(", ")) for verb, folders in ROW.findall(text)}
