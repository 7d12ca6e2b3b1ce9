# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Our programs on --device adapter: each stage and example, with --strict."""

from __future__ import annotations

import re

import pytest
from live.table import STAGES, Stage
from sim.simulation import Run, pair, simulate
from sim.test_device import BY_NAME
from sim.test_examples_sweep import PAIRS, play


def test_a_killed_peer_shows_in_two_ways() -> None:
    """The dead peer's QP goes first, or its regions do."""
    said = set()
    for seed in range(1, 60):
        run = simulate(pair(BY_NAME["ping-rdma-3"], 200), "--device", "adapter", "--seed", str(seed), "--fail", f"0:{120 + seed * 3}:SIGKILL")
        assert run.statuses[1] == 1 and run.exit not in (120, 121, 124), run.why()
        said |= {*re.findall("the server left|remote access error", run.err)}
    assert said == {"the server left", "remote access error"}


# ---- Our programs ----

STRICT = ("--strict", "--strategy", "mixed")


def judge(run: Run) -> None:
    """Checks that all is well, and that nothing works only by chance."""
    assert not run.exit and not any(run.statuses), run.why()


@pytest.mark.parametrize("stage", [stage for stage in STAGES if not stage.nine], ids=str)
def test_a_stage_runs_on_it(stage: Stage) -> None:
    for seed in (1, 2):
        judge(simulate(pair(stage, 50), "--device", "adapter", *STRICT, "--seed", str(seed)))


@pytest.mark.parametrize("name", PAIRS)
def test_an_example_runs_on_it(name: str) -> None:
    """Only a store, which takes no messages, posts no receive before it is connected."""
    judge(play(PAIRS[name], ["--device", "adapter"], *STRICT[name == "store" :]))
