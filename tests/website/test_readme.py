# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The first screen: the program in README.md is the one in the tree, and each stage is in one of the two tables."""

import re

from tools.folders import folder
from tools.website import sources
from tools.website.pages import TOP, stages

README = (TOP / "README.md").read_text()
CLIENT = "ping-sr-0/client.c"
VERB = re.compile(r"\b(?:rdma|ibv)_\w+")


def words(text: str) -> str:
    """With single spaces."""
    return " ".join(text.split())


def test_the_program_is_the_first_client() -> None:
    """Its calls in their order, with the verbs that the source names for them; `...` stands for arguments."""
    shown = re.search(r"```c\n(.*?)```", README, re.DOTALL)
    assert shown
    lines = shown[1].splitlines()
    assert len(lines) == 12
    source, at = words(sources.function(CLIENT, "our_ping_client")), 0
    loop = sources.function(CLIENT, "our_client_operation") + sources.function(CLIENT, "await_send_and_recv")
    for line in lines:
        call, comment = line.split("/*")
        pattern = re.escape(words(call)).replace(re.escape("..."), "[^;]*")
        found = re.compile(pattern).search(source, at)
        assert found, call
        at = found.end()
        assert {*VERB.findall(comment)} <= {*VERB.findall(loop if "operation" in call else source)}


def test_each_stage_is_in_a_table() -> None:
    tables = [re.findall(r"^\| \[([\w-]+)\]\((\S+)/README.md\)", part, re.MULTILINE) for part in README.split("## The programs")[1].split("\n\n")]
    ladder, beside = [table for table in tables if table]
    assert sorted(name for name, _ in ladder + beside) == sorted(stages())
    assert all(path == folder(name) for name, path in ladder + beside)
    assert [name for name, path in ladder if path.startswith("beyond/")] == []
    assert [name for name, path in beside if not path.startswith("beyond/")] == []
