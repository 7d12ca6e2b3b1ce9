# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of docs/failure.md: each row's options bring about what its first cell says, in the programs that the page names."""

from __future__ import annotations

import re

import pytest
from sim.simulation import TOP, simulate

PAGE = (TOP / "docs/failure.md").read_text()
ROWS = re.findall(r"^\| (.*?) \|.*\| `(--fail [^`]+)` \|$", PAGE, re.MULTILINE)
PROGRAMS = [f"ping-sr-2/{words}".split() for words in ("server -q -a 192.0.2.1", "client -q -c 9 -a 192.0.2.1")]


@pytest.mark.parametrize("what, options", ROWS)
def test_a_row_is_shown(what: str, options: str) -> None:
    run = simulate(PROGRAMS, "--leaks", "ignore", *options.split())
    assert run.fault and any(run.statuses), run.why()
    assert all(said in run.err for said in re.findall("`(.*?)`", what) if " of " not in what), run.why()


def test_each_row_has_options() -> None:
    assert len(ROWS) == PAGE.count("\n| ") - 1
