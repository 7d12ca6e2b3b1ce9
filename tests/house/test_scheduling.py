# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The scheduler of tests/scheduling.py, with workers that are made up; and how what programs in C say is judged."""

from types import SimpleNamespace
from typing import Any

import pytest
from fake.test_programs import failures as over_fake_verbs
from scheduling import Scheduler
from unit.test_unit import failures as of_check

FILES = {"alone": ["hosts/a.py::1"], "guest": [f"live/a.py::{n}" for n in range(4)], "here": ["x/a.py::1", "x/a.py::2", "x/b.py::1"],
         "last": ["y/a.py::1"]}  # fmt: skip
PLACES = {"alone": set[str](), "guest": {"alone"}, "here": {"alone"}}


class Worker:
    """Notes what it is told to run."""

    def __init__(self, place: str) -> None:
        """Of a place."""
        self.gateway = SimpleNamespace(spec=SimpleNamespace(env={"TESTS_PLACE": place}))
        self.place, self.shutting_down = place, False
        self.told: list[int] = []

    def send_runtest_some(self, tests: list[int]) -> None:
        """As xdist has it."""
        self.told += tests

    def shutdown(self) -> None:
        """As xdist has it."""
        self.shutting_down = True


def begin(scheduler: Scheduler, worker: Any) -> None:
    """A worker has started, and has collected."""
    scheduler.add_node(worker)
    scheduler.add_node_collection(worker, FILES[worker.place])
    scheduler.schedule()


@pytest.fixture
def scheduler() -> Scheduler:
    """Of three places."""
    return Scheduler(SimpleNamespace(testscollected=0), PLACES, {"live"})


def test_the_first_place_has_its_turn_first(scheduler: Scheduler) -> None:
    """Files stay together, but for those of folders that need not."""
    here, guest, alone = Worker("here"), Worker("guest"), Worker("alone")
    for worker in (here, guest, alone):
        begin(scheduler, worker)
    assert (here.told, guest.told, alone.told) == ([], [], [0])
    assert scheduler.session.testscollected == 8 and alone.shutting_down and not scheduler.tests_finished
    scheduler.mark_test_complete(alone, 0)
    assert (here.told, guest.told) == ([0, 1], [0, 1])
    for n in range(4):
        scheduler.mark_test_complete(guest, n)
    assert guest.told == [0, 1, 2, 3] and guest.shutting_down and not scheduler.tests_finished
    scheduler.mark_test_complete(here, 0)
    assert here.told == [0, 1, 2] and scheduler.tests_finished is False
    scheduler.mark_test_complete(here, 1)
    assert scheduler.tests_finished


def test_a_place_that_waits_for_two() -> None:
    """Also while one of them has not collected."""
    scheduler = Scheduler(SimpleNamespace(testscollected=0), PLACES | {"last": {"alone", "guest"}}, set())
    last, alone, guest = Worker("last"), Worker("alone"), Worker("guest")
    begin(scheduler, last)
    begin(scheduler, alone)
    scheduler.mark_test_complete(alone, 0)
    assert not last.told
    begin(scheduler, guest)
    for n in range(4):
        assert not last.told
        scheduler.mark_test_complete(guest, n)
    assert last.told == [0] and last.shutting_down


def test_a_guest_that_dies(scheduler: Scheduler) -> None:
    """Its test is named, and not run again; the rest is the next worker's, or another's."""
    alone, guest, other = Worker("alone"), Worker("guest"), Worker("guest")
    for worker in (alone, guest, other):
        begin(scheduler, worker)
    scheduler.mark_test_complete(alone, 0)
    assert (guest.told, other.told) in (([0, 1], [2, 3]), ([2, 3], [0, 1]))
    dies, lives = (guest, other) if guest.told == [0, 1] else (other, guest)
    assert scheduler.remove_node(dies) == "live/a.py::0"
    begin(scheduler, again := Worker("guest"))
    assert (again.told, lives.told) == ([1], [2, 3])


def test_workers_that_have_collected_other_tests(scheduler: Scheduler) -> None:
    """Nothing would be known of what they run."""
    begin(scheduler, Worker("guest"))
    scheduler.add_node(odd := Worker("guest"))
    with pytest.raises(RuntimeError):
        scheduler.add_node_collection(odd, ["live/b.py::1"])


@pytest.mark.parametrize(
    "said, status, words",
    [
        ("1..2\nok 1 - a\nok 2 - b\n", 0, None),
        ("1..2\nok 1 - a\nnot ok 2 - b: 1 != 2\n", 1, "b: 1 != 2"),
        ("1..2\nok 1 - a\n", 139, "after 1 tests, of which 2 were planned"),
        ("ok 1 - a\n", 0, "nobody knows how many"),
        ("", 127, "after 0 tests"),
        ("1..0\n", 0, "after 0 tests"),
        ("1..1\nok 1 - a\n", 1, "exit status 1, though no test failed"),
    ],
)
def test_what_check_says(said: str, status: int, words: str | None) -> None:
    """TAP, with a plan."""
    assert words in "\n".join(of_check(said, status)) if words else not of_check(said, status)


@pytest.mark.parametrize(
    "said, status, words",
    [
        ("ok p sweep\n1..1\n", 0, None),
        ("ok p a\nnot ok p b: 1 line\n1..2\n", 1, "p b: 1 line"),
        ("ok p a\n", 0, "exit status 0; the last that it said:\nok p a"),  # it has ended early
        ("ok p a\nSegmentation", 139, "exit status 139; the last that it said:\nok p a\nSegmentation"),
        ("ok p a\n", 124, "exit status 124"),
        ("not ok p a: 1 line\n", 139, "exit status 139"),
        ("ok p a\n1..1\n", 1, "exit status 1"),
        ("", 0, "exit status 0"),
    ],
)
def test_what_a_program_over_fake_verbs_says(said: str, status: int, words: str | None) -> None:
    """A line for each test, and then how many there are."""
    assert words in "\n".join(over_fake_verbs(said, status)) if words else not over_fake_verbs(said, status)
