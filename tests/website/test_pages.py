# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares pages and slides with the sources, the programs and the figures: names of functions and files, the README's first
screen, docs/objects.md, and the course's notes and written tests."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.folders import files, folder
from tools.stages import before
from tools.site import sources
from tools.site.pages import TOP, stages

PAGES = [name for name in files(".md") if name != "CHANGELOG.md"]
IN_A_FILE = re.compile(r"`(\w+)`,?\s+in\s+`([\w.-]+/[\w./-]+\.[ch])`")
OURS = re.compile(r"`(our_\w+)`")
GONE = {"our_setup_client_buffers", "our_setup_agent_buffers", "our_report_wc_status"}  # docs/course-map.md: of the course
ADDS = re.compile(r"^\| \[(\S+)\]\(\.\./(\S+)/README\.md\) \| ([^:;|\n]*)", re.MULTILINE)
VERB = re.compile(r"\b(?:ibv|rdma)_\w+")


def test_a_file_has_the_function() -> None:
    found = [(page, *pair) for page in PAGES for pair in IN_A_FILE.findall((TOP / page).read_text())]
    assert len(found) > 10
    for page, name, file in found:
        places = [TOP / file, (TOP / page).parent / file]
        texts = [place.read_text() for place in places if place.is_file()]
        assert any(re.search(rf"\b{name}\b", text) for text in texts), f"{page}: {name} in {file}"


def test_there_are_such_functions() -> None:
    known = {name for file in files(".c", ".h", ".py") for name in re.findall(r"\bour_\w+", (TOP / file).read_text())}
    for page in PAGES:
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


# ---- The first screen -----------------------------------------------------------------------------------

README = (TOP / "README.md").read_text()
CLIENT = "ping-sr-0/client.c"


def words(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())


def test_the_program_is_the_first_client() -> None:
    """The page has the program's calls in their order, with the verbs that the source names for them; `...` stands for arguments."""
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


# ---- Figures --------------------------------------------------------------------------------------------

FIGURES = sorted((TOP / "docs/figures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def test_each_can_be_shown() -> None:
    """Has words for those who cannot see it, and a style for each of its classes."""
    assert FIGURES
    for path in FIGURES:
        root = ElementTree.parse(path).getroot()
        assert root.tag == f"{SVG}svg" and root.get("aria-label") and root.get("viewBox"), path.name
        style = "".join(root.find(f"{SVG}style").itertext())  # type: ignore[union-attr]
        used = {word for element in root.iter() for word in element.get("class", "").split()}
        assert [word for word in used if f".{word} {{" not in style] == [], path.name


def test_each_is_on_a_page() -> None:
    """A page of docs/ is named once; or a page of the labs."""
    pages = "".join(path.read_text() for path in (TOP / "docs").glob("*.md"))
    labs = "".join(path.read_text() for path in (TOP / "course/labs").glob("*.md"))
    for path in FIGURES:
        assert pages.count(f"](figures/{path.name})") == 1 or f"](../../docs/figures/{path.name})" in labs, path.name


def test_pages_and_slides_have_their_figures() -> None:
    """Each figure has words for those who cannot see it."""
    found = [(page, *one) for page in files(".md") for one in re.findall(r"^!\[(.*)\]\((.+\.svg)\)", (TOP / page).read_text(), re.MULTILINE)]
    assert len(found) > 20
    for page, words, name in found:
        assert ((TOP / page).parent / name).is_file(), f"{page}: {name}"
        assert len(words) >= 20, f"{page}: {name}"


def test_slides_are_read_on_a_forge_too() -> None:
    """A forge shows pandoc's fences as they are."""
    for deck in (TOP / "course/slides").glob("*.md"):
        assert not re.search(r"^:::", deck.read_text(), re.MULTILINE), deck.name


# ---- Texts for lecturers --------------------------------------------------------------------------------

NOTES = sorted((TOP / "course/slides").glob("*-notes.md"))
LECTURE = 90  # minutes of a lecture
TEST = 45  # minutes of a test, and its points


of_lecturers = pytest.mark.skipif(not NOTES, reason="this is a students' tree")


def headings(name: str) -> list[str]:
    """Returns the headings of the second level."""
    return re.findall(r"^## (.*)$", (TOP / name).read_text(), re.MULTILINE)


@of_lecturers
def test_each_deck_has_notes() -> None:
    decks = sorted((TOP / "course/slides").glob("[0-9][0-9]-*.md"))
    assert [deck for deck in decks if deck not in NOTES] == [Path(str(note).replace("-notes", "")) for note in NOTES]


@of_lecturers
@pytest.mark.parametrize("note", [note.name for note in NOTES])
def test_notes_are_of_each_slide_and_fill_a_lecture(note: str) -> None:
    found = [re.fullmatch(r"(.*) \((\d+) minutes\)", title) for title in headings(f"course/slides/{note}")]
    assert all(found)
    assert [one[1] for one in found if one] == headings(f"course/slides/{note.replace('-notes', '')}")
    assert sum(int(one[2]) for one in found if one) == LECTURE


@of_lecturers
@pytest.mark.parametrize("name", ["written-test", "written-test-b", "written-test-2"])
def test_a_written_test(name: str) -> None:
    """Questions and answers have the same headings; the marks of an answer add up, where not three of more are counted."""
    questions = headings(f"course/{name}.md")
    assert questions == headings(f"course/{name}-answers.md")
    points = [int(re.findall(r"\((\d+) points\)$", title)[0]) for title in questions]
    assert sum(points) == TEST
    answers = re.split(r"^## .*$", (TOP / f"course/{name}-answers.md").read_text(), flags=re.MULTILINE)[1:]
    for title, due, answer in zip(questions, points, answers):
        marks = [int(mark) for mark in re.findall(r"^- (\d+): ", answer, re.MULTILINE)]
        assert sum(marks[:3] if "three of:" in answer.split("- ")[0] else marks) == due, title


def test_pages_that_are_evidence_for_a_trait() -> None:
    """tools/verbs-sim/tests looks for the questions."""
    named = re.findall(r"\bdocs/[\w.-]+", (TOP / "tools/verbs-sim/device/traits.c").read_text())
    assert named and not [page for page in named if not (TOP / page).exists()]
