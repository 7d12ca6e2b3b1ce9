# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The page docs/left-out.md: each row is what runs without its line show now. `make left-out` writes it anew."""

from __future__ import annotations

import re

import pytest
from course import left_out, scenes

LINES = left_out.table()
QUICK = ["qp-before-memory", "poll-after-arming"]  # one has a finding of --strict, the other a delay in a quarter of the runs


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in LINES])
def test_a_row_is_what_runs_show(name: str) -> None:
    page = left_out.PAGE.read_text()
    if not page.endswith(scenes.versions()):
        pytest.skip(f"{page.splitlines()[-1]} Here it is otherwise: {scenes.versions()}")
    due = [row for row in page.splitlines(True) if f"<a id='{name}'>" in row]
    assert [left_out.row(left_out.measure(LINES[name]))] == due, "make left-out writes what runs show now; read it as a reader would"


def test_the_page_has_all_rows_and_no_others() -> None:
    page = left_out.PAGE.read_text()
    assert re.findall(r"<a id='([^']+)'>", page) == sorted(LINES, key=lambda name: [line.stage for line in LINES.values()].index(LINES[name].stage))
    moved = [name for name, line in LINES.items() if f"<a id='{name}'></a>[{line.file}:{line.number}](" not in page]
    assert moved == [], "these lines have moved: make left-out writes the page anew"
    hidden = re.findall(r"<a id='([^']+)'>.*No run of these shows it", page)
    assert f"{len(LINES)} lines; runs show {len(LINES) - len(hidden)} of them. No run shows: {', '.join(hidden)}." in page


def test_a_line_that_makes_no_difference_is_seen_as_such() -> None:
    """The edit replaces a statement by itself, and no outcome is new."""
    line = left_out.Line("same", "ping-sr-3", "ping-sr-3/completions.c", "take_cq_event", "channel->armed = false;", "", "", new="channel->armed = false ;")
    measured = left_out.measure(line)
    assert not measured.shown
    assert {text for outcomes in measured.before.values() for text, _, _ in outcomes} == {left_out.WELL}


def test_what_two_sides_do_wrong_is_told_once() -> None:
    wrong = "program 0: small-cq: a CQ of 1 entries; program 1: small-cq: a CQ of 1 entries; program 1: inline: a; b"
    assert left_out.findings(wrong, ["server", "client"]) == "inline: a; b (client); small-cq: a CQ of 1 entries (server, client)"
