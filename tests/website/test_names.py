# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Names of functions and files on pages, and the verbs that a stage adds, against the sources and the programs."""

import re
import subprocess

import pytest

from tools.folders import folder
from tools.stages import before
from tools.website.pages import TOP

IN_A_FILE = re.compile(r"`(\w+)`,?\s+in\s+`([\w.-]+/[\w./-]+\.[ch])`")
OURS = re.compile(r"`(our_\w+)`")
GONE = {"our_setup_client_buffers", "our_setup_agent_buffers", "our_report_wc_status"}  # docs/course-map.md: of the course
ADDS = re.compile(r"^\| \[(\S+)\]\(\.\./(\S+)/README\.md\) \| ([^:;|\n]*)", re.MULTILINE)
VERB = re.compile(r"\b(?:ibv|rdma)_\w+")


def files(*patterns: str) -> list[str]:
    """Tracked files, but for the log of changes."""
    said = subprocess.run(["git", "ls-files", *patterns], cwd=TOP, check=True, capture_output=True, text=True).stdout
    return [name for name in said.split() if name != "CHANGELOG.md"]


def test_a_file_has_the_function() -> None:
    found = [(page, *pair) for page in files("*.md") for pair in IN_A_FILE.findall((TOP / page).read_text())]
    assert len(found) > 10
    for page, name, file in found:
        places = [TOP / file, (TOP / page).parent / file]
        texts = [place.read_text() for place in places if place.is_file()]
        assert any(re.search(rf"\b{name}\b", text) for text in texts), f"{page}: {name} in {file}"


def test_there_are_such_functions() -> None:
    known = {name for file in files("*.c", "*.h", "*.py") for name in re.findall(r"\bour_\w+", (TOP / file).read_text())}
    for page in files("*.md"):
        unknown = {*OURS.findall((TOP / page).read_text())} - known - GONE
        assert {name for name in unknown if not name.endswith("_")} == set(), page


def imports(stage: str) -> set[str]:
    """The functions of the libraries that both programs of a stage call; those that verbs.h defines are not among them."""
    programs = [f"{folder(stage)}/{role}" for role in ("client", "server")]
    said = subprocess.run(["nm", "-D", "--undefined-only", *programs], cwd=TOP, check=True, capture_output=True, text=True)
    return {*VERB.findall(said.stdout)}


@pytest.mark.parametrize("stage", ["ping-sr-2e", "ping-sr-2", "ping-sr-3", "ping-sr-4", "blast-sr-2", "ping-srq-4"])
def test_what_a_stage_adds(stage: str) -> None:
    """docs/objects.md names, before any explanation, each verb that the stage before does not have, and no other."""
    told = {found[0]: {*VERB.findall(found[2])} for found in ADDS.findall((TOP / "docs/objects.md").read_text())}
    previous = before(stage)
    defined_in_header = {"ibv_req_notify_cq", "ibv_post_srq_recv"}
    assert imports(stage) - imports(previous) == told[stage] - imports(previous) - defined_in_header
    assert not told[stage] & imports("ping-sr-0")
