# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Two machines of the lab for tests that run on this one: what happens to the hosts, or to the link between them.

    python3 -m pytest tests/hosts -m '' -k 'cut and rxe0'

Contract: the machines are booted for the first test that asks for them, and again after one that they did not survive.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hosts.case import Case, resources
from hosts.disturbances import Disturbance
from hosts.judge import Seen
from hosts.pair import Lost, Pair


class Machines:
    """The pair of hosts, and another pair after that one was given up."""

    def __init__(self, kernel: str | None) -> None:
        """Starts without a pair. `kernel`: as lab/run has it."""
        self.kernel = kernel
        self.pair: Pair | None = None
        self.baseline: list[str] = []

    def get(self) -> Pair:
        """Returns the pair, which it boots if there is none."""
        if not self.pair:
            self.pair = Pair(self.kernel)
            self.baseline = [resources(host) for host in self.pair.hosts]
        return self.pair

    def play(self, device: str, stages: list[str], row: Disturbance) -> tuple[dict[str, Seen], list[str]]:
        """Plays a case; returns the results of each stage, and complaints about the hosts."""
        pair = self.get()
        try:
            return Case(pair, device, stages, row).play(self.baseline)
        except Lost as error:
            self.give_up()
            pytest.fail(f"a machine was lost: {error}")

    def give_up(self) -> None:
        """Ends the machines."""
        if self.pair:
            self.pair.close()
        self.pair = None


@pytest.fixture(scope="session")
def machines(request: pytest.FixtureRequest) -> Iterator[Machines]:
    """The machines of all tests."""
    both = Machines(request.config.option.kernel)
    yield both
    both.give_up()
