# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests of the time limits of run_cases.py.

Contract: clocks that the test sets replace those of the machine.
"""

import pytest

from course import run_cases


class Clock:
    """Set by hand, and a limit of ten seconds, or of three without activity."""

    def __init__(self) -> None:
        self.now, self.activity = 100.0, 0
        self.limit: run_cases.Limit

    def passes(self, seconds: float, active: bool) -> bool:
        """Looks after a time, in which there was activity or not."""
        self.now += seconds
        self.activity += active
        return self.limit.over()

    def looks(self, active: bool, most: int = 1000) -> int:
        """How many looks, each after a twentieth of a second, it takes."""
        return next((look for look in range(1, most + 1) if self.passes(0.05, active)), most)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """In place of the machine's."""
    own = Clock()
    monkeypatch.setattr("course.run_cases.time.monotonic", lambda: own.now)
    own.limit = run_cases.Limit(10, 3, lambda: own.activity)
    return own


@pytest.mark.parametrize("active, looks, told", [(True, 200, "was still running after 10 s"), (False, 60, "used no CPU for 3 s")])
def test_there_is_less_time_without_activity(clock: Clock, active: bool, looks: int, told: str) -> None:
    assert clock.looks(active) == pytest.approx(looks, abs=2)
    assert clock.limit.reached() == told


def test_idle_times_do_not_add_up(clock: Clock) -> None:
    for _ in range(4):
        assert clock.looks(active=False, most=35) == 35
        assert not clock.passes(0.05, True)
        assert clock.looks(active=True, most=5) == 5


def test_a_host_that_stood_still_takes_no_time(clock: Clock) -> None:
    for _ in range(4):
        assert not clock.passes(3600, False)
    assert not clock.passes(3600, True)
    assert clock.looks(active=True) == pytest.approx(150, abs=2)
