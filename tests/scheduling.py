# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which worker of xdist runs which test: the guests of the lab those that need a driver, others the rest.

Place: xdist's scheduler, made by tests/conftest.py in the controller. Contract: the workers of a place have collected the
same tests, and get them in that order, file by file or one by one, when the places before theirs are done. When a worker
dies, as when a guest's kernel panics, the test that it ran has failed, and the worker that replaces it has the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import groupby
from typing import Any

AHEAD = 2  # tests that a worker has: it wants to know the next one when it ends one


def place_of(worker: Any) -> str:
    """Which tests it runs; all, if it is plain -n that made it."""
    return str(worker.gateway.spec.env.get("TESTS_PLACE", ""))


class Place:
    """Some workers, and the tests that they are to run."""

    def __init__(self, ids: list[str], apart: set[str]) -> None:
        """In their order."""
        self.ids = ids
        groups = groupby(range(len(ids)), lambda n: n if ids[n].split("/")[0] in apart else ids[n].split("::")[0])
        self.waiting = deque([*group] for _, group in groups)


class Scheduler:
    """What xdist asks a scheduler, as its LoadScheduling has it."""

    def __init__(self, session: Any, places: Mapping[str, set[str]], apart: set[str]) -> None:
        """The places that have workers, each with those that come before it; tests in the folders `apart` need not stay
        together."""
        self.session, self.missing, self.before, self.apart = session, {*places}, places, apart
        self.places: dict[str, Place] = {}
        self.pending: dict[Any, list[int]] = {}
        self.ready: set[Any] = set()  # workers that have collected

    @property
    def nodes(self) -> list[Any]:
        """The workers that are there."""
        return list(self.pending)

    @property
    def collection_is_completed(self) -> bool:
        """Whether some worker can begin: guests take longer to boot, and need not be waited for."""
        return bool(self.ready)

    @property
    def has_pending(self) -> bool:
        """Whether any test has been handed out."""
        return any(self.pending.values())

    @property
    def tests_finished(self) -> bool:
        """Whether no worker needs to hear of another test."""
        waiting = any(place.waiting for place in self.places.values())
        return not self.missing and not waiting and all(len(tests) < AHEAD for tests in self.pending.values())

    def add_node(self, node: Any) -> None:
        """A worker has started."""
        self.pending[node] = []

    def add_node_collection(self, node: Any, collection: list[str]) -> None:
        """A worker has collected."""
        place = self.places.setdefault(place_of(node), Place(list(collection), self.apart))
        if place.ids != collection:
            raise RuntimeError(f"{node} has collected other tests than the first of its kind")
        self.session.testscollected = sum(len(each.ids) for each in self.places.values())
        self.missing.discard(place_of(node))
        self.ready.add(node)

    def schedule(self) -> None:
        """Gives each worker what it can take."""
        for node in self.ready:
            self._feed(node)

    def _is_done(self, name: str) -> bool:
        """Whether a place has no more to do."""
        busy = any(tests for one, tests in self.pending.items() if place_of(one) == name)
        return not busy and name in self.places and not self.places[name].waiting

    def _feed(self, node: Any) -> None:
        if not all(self._is_done(name) for name in self.before[place_of(node)] if name in self.before):
            return
        waiting, pending = self.places[place_of(node)].waiting, self.pending[node]
        while waiting and len(pending) < AHEAD and not node.shutting_down:
            tests = waiting.popleft()
            pending += tests
            node.send_runtest_some(tests)
        if not waiting and not node.shutting_down:
            node.shutdown()  # when it has run these

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """A worker has run a test."""
        self.pending[node].remove(item_index)
        self._feed(node)
        if not self.pending[node]:
            self.schedule()  # its place may be done

    def mark_test_pending(self, item: str) -> None:
        """Nobody asks for a test to be run again."""
        raise NotImplementedError

    def remove_node(self, node: Any) -> str | None:
        """A worker has ended. Returns the test that ended it, if one did."""
        tests = self.pending.pop(node)
        self.ready.discard(node)
        if not tests:
            return None
        place = self.places[place_of(node)]
        if tests[1:]:
            place.waiting.appendleft(tests[1:])
        return place.ids[tests[0]]
