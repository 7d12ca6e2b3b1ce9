# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The pages docs/scenes: each is what its runs show now, and each line of theirs has the call. `make scenes` writes them anew."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

import pytest
from course import scenes
from tools.folders import TOP

ABOUT, STAGES = scenes.table()
ROW = re.compile(r"^\|[^|]*\|[^|]*\| `(\w+)`, \[(\S+):(\d+)\]\(\S+\) \| `(\w+)", re.MULTILINE)


@pytest.mark.parametrize("stage", STAGES)
def test_a_page_is_what_runs_show(stage: str) -> None:
    due = (scenes.PAGES / f"{stage}.md").read_text().splitlines()
    if due[-1] != scenes.versions().rstrip():
        pytest.skip(f"{due[-1]} Here it is otherwise: {scenes.versions()}")
    found = scenes.page(stage, ABOUT[stage], STAGES[stage]).splitlines()
    assert found == due, "\n".join([*difflib.unified_diff(due, found, "page", "runs", lineterm=""), "make scenes writes what runs show now; read it as a reader would"])


@pytest.mark.parametrize("stage", STAGES)
def test_each_line_has_the_call(stage: str) -> None:
    """The line, or the one before or after it if the statement takes several, has the call: so addr2line alone does not decide."""
    rows = ROW.findall((scenes.PAGES / f"{stage}.md").read_text())
    assert len(rows) > 10
    for function, file, line, call in rows:
        text = (TOP / file).read_text().splitlines()
        near = "\n".join(text[int(line) - 2 : int(line) + 1])
        assert re.search(rf"\b{call}\(", near), f"{file}:{line} does not call {call}; if lines have moved: make scenes"
        begins = [name[1] for name in (re.match(r"(?:\w.*\W)?(\w+)\(", one) for one in text[: int(line)]) if name]
        assert begins[-1] == function, f"{file}:{line} is in {begins[-1]}, not {function}; if lines have moved: make scenes"


def test_a_scene_that_does_not_show_what_it_has_to() -> None:
    """The scene fails if the event does not happen, and if it does not begin or end."""
    scene = replace(next(one for one in STAGES["ping-sr-0"] if one.name == "message"), name="x")
    wrong = [replace(scene, shows="no such row"), replace(scene, begins="no such row"), replace(scene, ends="no such row")]
    for one in wrong:
        with pytest.MonkeyPatch.context() as few, pytest.raises(LookupError, match="^ping-sr-0 x: with no seed up to 2 "):
            few.setattr(scenes, "SEEDS", range(1, 3))
            scenes.tell(one, "ping-sr-0")


def test_what_comes_again_is_folded() -> None:
    """Rows that come again with other figures are folded, but not with another call; and not rows that come only twice."""
    rows = [scenes.Row(at, "client", "main", call=call, found=f"nothing, for {at} s") for at, call in enumerate("xabababyabab")]
    told = [row.call or row.found for row in scenes.folded(rows)]
    assert told == ["x", "a", "b", "… the last 2 rows 2 times more", "y", "a", "b", "a", "b"]
