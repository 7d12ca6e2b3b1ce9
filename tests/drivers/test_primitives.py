# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""bench/primitives, which says what waiting costs before any load runs: its figures against the test's own clock."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tools.place import IN_GUEST

pytestmark = pytest.mark.skipif(not IN_GUEST, reason="it takes two processors for itself: only in a guest of the lab")
PROGRAM = Path(__file__).resolve().parents[2] / "build/bench/primitives"
PAUSES_US = [100, 500, 2000, 7000, 50000]
STEPS_US = 4_800_000  # the steps together take at least this long
CALLS = 20000  # repetitions of each kind
LONGEST_US = 5_000_000  # limit of any wait


def measure(how: str, link: str) -> tuple[dict[str, Any], float]:
    """Returns the program's output, and how long it ran, in us."""
    began = time.monotonic()
    done = subprocess.run([PROGRAM, how, os.environ[link]], capture_output=True, text=True, timeout=120)
    took_us = (time.monotonic() - began) * 1e6
    assert (done.returncode, done.stderr) == (0, "")
    said: dict[str, Any] = json.loads(done.stdout)
    return said, took_us


@pytest.mark.parametrize("link", ["LAB_ROCE_ADDR", pytest.param("LAB_IWARP_ADDR", marks=pytest.mark.long)])
def test_no_figure_is_shorter_or_longer_than_it_can_be(link: str) -> None:
    """A pause is in its period, a message arrives before the next one is sent, and all calls take no longer than is left."""
    said, took_us = measure("asleep", link)
    assert said["cpus"] == os.cpu_count()
    assert len(said["pauses"]) == len(PAUSES_US)
    for pause_us, one in zip(PAUSES_US, said["pauses"]):
        assert pause_us <= one["period_us"] < LONGEST_US
        assert 0 < one["reached_us"] < one["period_us"] + LONGEST_US
        assert 0 <= one["busy_us"]
    assert 0 < said["trip_us"] < LONGEST_US
    assert 0 < said["arm_us"] and 0 < said["poll_us"] and 0 < said["wake_up_us"] < LONGEST_US
    assert CALLS * (said["arm_us"] + said["poll_us"]) < took_us - STEPS_US


@pytest.mark.long
def test_who_polls_keeps_a_cpu_busy_and_who_sleeps_does_not() -> None:
    """The longest pause shows the difference: it takes thousands of times as long as a message."""
    asleep, polled = (measure(how, "LAB_ROCE_ADDR")[0]["pauses"][-1] for how in ("asleep", "polled"))
    assert asleep["busy_us"] < PAUSES_US[-1] < polled["busy_us"]


@pytest.mark.long
@pytest.mark.parametrize("words, status, said", [("asleep", 2, "usage: "), ("awake 192.0.2.1", 2, "usage: "), ("asleep 127.0.0.1", 1, "no RDMA device")])
def test_what_cannot_be_measured(words: str, status: int, said: str) -> None:
    done = subprocess.run([PROGRAM, *words.split()], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (status, "") and said in done.stderr
