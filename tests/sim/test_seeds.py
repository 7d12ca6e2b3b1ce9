# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The same seed is the same run, whatever else the machine does; and whatever the order, all messages arrive, nothing is left, and
nothing works only by chance."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sim.simulation import Run, each_stage, pair, simulate
from table import Stage

MESSAGES = 20
MOST_MS = 100  # simulated; a wake-up that is lost costs a second or more: then a keepalive or a limit on time is due
AT_ONCE = 4  # runs: they keep more processors busy than there are


def runs(stage: Stage, transport: list[str], seeds: range) -> list[Run]:
    """Each seed twice, one after the other in the list."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        programs = pair(stage, MESSAGES)
        return list(pool.map(lambda seed: simulate(programs, *transport, "--strict", "--strategy", "mixed", "--seed", str(seed)), [s for s in seeds for _ in "ab"]))


def check(done: list[Run]) -> None:
    """That they are as they should be, in pairs."""
    for one, other in zip(done[::2], done[1::2]):
        assert not one.exit, one.why()
        assert one.ms < MOST_MS, f"it has waited in vain: {one.ms} ms\n{one.why()}"
        assert (one.hash, one.ms, one.calls) == (other.hash, other.ms, other.calls), one.command
        assert sorted(one.out.splitlines()) == sorted(other.out.splitlines())
    assert len({one.hash for one in done}) == len(done) // 2, "two seeds have the same run"


@each_stage
def test_a_seed_is_a_run(stage: Stage, transport: list[str]) -> None:
    check(runs(stage, transport, range(1, 9)))


@pytest.mark.long
@each_stage
def test_many_seeds_are_as_many_runs(stage: Stage, transport: list[str]) -> None:
    check(runs(stage, transport, range(1000, 1200)))
