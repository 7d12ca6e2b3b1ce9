# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Texts for lecturers: each slide has notes, which fill a lecture, and each question of the written test has marks."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
NOTES = sorted((TOP / "course/slides").glob("*-notes.md"))
LECTURE = 90  # minutes
TEST = 45  # minutes, and points
pytestmark = pytest.mark.skipif(not NOTES, reason="this is a students' tree")


def headings(name: str) -> list[str]:
    """Of the second level."""
    return re.findall(r"^## (.*)$", (TOP / name).read_text(), re.MULTILINE)


def test_each_deck_has_notes() -> None:
    decks = sorted((TOP / "course/slides").glob("[0-9][0-9]-*.md"))
    assert [deck for deck in decks if deck not in NOTES] == [Path(str(note).replace("-notes", "")) for note in NOTES]


@pytest.mark.parametrize("note", [note.name for note in NOTES])
def test_notes_are_of_each_slide_and_fill_a_lecture(note: str) -> None:
    found = [re.fullmatch(r"(.*) \((\d+) minutes\)", title) for title in headings(f"course/slides/{note}")]
    assert all(found)
    assert [one[1] for one in found if one] == headings(f"course/slides/{note.replace('-notes', '')}")
    assert sum(int(one[2]) for one in found if one) == LECTURE


def test_the_written_test() -> None:
    """Questions and answers have the same headings; the marks of an answer add up, where not three of more are counted."""
    questions = headings("course/written-test.md")
    assert questions == headings("course/written-test-answers.md")
    points = [int(re.findall(r"\((\d+) points\)$", title)[0]) for title in questions]
    assert sum(points) == TEST
    answers = re.split(r"^## .*$", (TOP / "course/written-test-answers.md").read_text(), flags=re.MULTILINE)[1:]
    for title, due, answer in zip(questions, points, answers):
        marks = [int(mark) for mark in re.findall(r"^- (\d+): ", answer, re.MULTILINE)]
        assert sum(marks[:3] if "three of:" in answer.split("- ")[0] else marks) == due, title
