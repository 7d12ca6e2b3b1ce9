# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The common view of the clients of one server: count-atomic-1's words, pubsub-rdma-1's record and ping-reconnect-2's journal are as if each
operation had happened at once, in whatever order of events."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim.linearizable import NEVER, Model, Operation, atomics, journal, linearization, reads, register, words
from sim.simulation import ADDRESS, OF_ITS_OWN, TRANSPORTS, Run, simulate
from sim.test_reconnect import run as reconnect

A, B = 0x1000, 0x1008
SEEDS = range(1, 7)


def add(called: float, returned: float, found: int | None, address: int = A) -> Operation:
    return Operation(called, returned, "FETCH_AND_ADD", (address, 1, 0), found)


def swap(called: float, returned: float, expected: int, new: int, found: int) -> Operation:
    return Operation(called, returned, "COMPARE_AND_SWAP", (A, expected, new), found)


def write(called: float, returned: float, number: int) -> Operation:
    return Operation(called, returned, "write", (number,))


def read(called: float, returned: float, *ends: int) -> Operation:
    return Operation(called, returned, "read", (), ends)


def append(called: float, returned: float, number: int) -> Operation:
    return Operation(called, returned, "append", (number,))


def look(called: float, *numbers: int) -> Operation:
    return Operation(called, called + 1, "look", (), numbers)


# A history that happened, a similar one that cannot have happened, and their model.
HISTORIES: dict[str, tuple[Model, object, list[Operation], list[Operation]]] = {
    "overlapping-adds": (words, frozenset(), [add(0, 9, 1), add(1, 8, 0)], [add(0, 9, 0), add(1, 8, 0)]),
    "adds-one-by-one": (words, frozenset(), [add(0, 1, 0), add(2, 3, 1)], [add(0, 1, 1), add(2, 3, 0)]),
    "an-add-without-a-result": (words, frozenset(), [add(0, NEVER, None), add(5, 6, 1)], [add(7, NEVER, None), add(5, 6, 1)]),
    "an-add-of-a-dead-client-may-be-none": (words, frozenset(), [add(0, NEVER, None), add(5, 6, 0)], [add(0, 4, None), add(5, 6, 0)]),
    "two-words": (words, frozenset(), [add(0, 1, 0), add(2, 3, 0, B)], [add(0, 1, 0), add(2, 3, 0)]),
    "a-lock": (words, frozenset(), [swap(0, 1, 0, 7, 0), swap(2, 3, 0, 8, 7), swap(4, 5, 7, 0, 7)], [swap(0, 1, 0, 7, 0), swap(2, 3, 0, 8, 0), swap(4, 5, 7, 0, 7)]),
    "a-torn-read": (register, 0, [write(0, 9, 1), write(9, 20, 2), read(10, 12, 2, 2)], [write(0, 9, 1), write(9, 20, 2), read(10, 12, 2, 1)]),
    "a-stale-read": (register, 0, [write(0, 30, 1), read(1, 2, 0, 0), read(3, 4, 1, 1)], [write(0, 30, 1), read(1, 2, 1, 1), read(3, 4, 0, 0)]),
    "a-read-beside-another": (register, 0, [write(0, 30, 1), read(1, 5, 1, 1), read(3, 9, 0, 0)], [write(0, 2, 1), read(3, 5, 1, 1), read(3, 9, 0, 0)]),
    "exactly-once": (journal, (), [append(0, 1, 0), append(2, 3, 1), look(4, 0, 1)], [append(0, 1, 0), append(2, 3, 1), look(4, 0, 1, 1)]),
    "in-order": (journal, (), [append(0, 3, 0), append(2, 3, 1), look(4, 1, 0)], [append(0, 1, 0), append(2, 3, 1), look(4, 1, 0)]),
    "none-lost": (journal, (), [append(0, 1, 0), append(2, NEVER, 1), look(4, 0)], [append(0, 1, 0), append(2, 3, 1), look(4, 0)]),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_and_its_neighbour(name: str) -> None:
    model, state, good, bad = HISTORIES[name]
    order = linearization(good, model, state)
    assert order is not None and {*good} >= {*order} and linearization(bad, model, state) is None
    for one in order:
        state = model(state, one)
    assert state is not None


def run(stage: str, seed: int, server: str, *clients: str) -> Run:
    """A run with its trace in `err`."""
    programs = [[f"beyond/{stage}/server", "-q", "-a", ADDRESS, "-n", str(len(clients)), *server.split()]]
    programs += [[f"beyond/{stage}/client", "-q", "-w", "5", "-a", ADDRESS, *client.split()] for client in clients]
    return simulate(programs, "--trace", "--strategy", "mixed", "--seed", str(seed), within_s=20)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lock", ["", "--lock"])
def test_counting_together(lock: str, seed: int) -> None:
    """Judges the history, whatever client and server say about it."""
    done = run("count-atomic-1", seed, "", *[f"-c 10 --timeout 1 {lock}"] * 3)
    history = atomics(done.err, range(1, 4))
    assert not done.exit and len(history) >= (120 if lock else 30), done.why()
    order = linearization(history, words, frozenset())
    assert order and len(order) == len(history), done.command
    wrong = [Operation(one.called, one.returned, one.name, one.arguments, 0) if one == order[-2] else one for one in history]
    assert lock or linearization(wrong, words, frozenset()) is None, "another result is as good"


def test_reading_a_record_together() -> None:
    """No reader goes back behind what another one has seen; and a reader that accepts all copies is noticed in some of these orders."""
    torn = 0
    for seed in SEEDS:
        done = run("pubsub-rdma-1", seed, "--record 4k --rate 100000", *["-s 4k -c 6"] * 2)
        history = reads(done.err, range(1, 3))
        assert not done.exit and len([one for one in history if one.name == "read"]) >= 12, done.why()
        assert linearization(history, register, 0), done.command
        torn += linearization(reads(done.err, range(1, 3), accepts_all=True), register, 0) is None
    assert torn, "no copy was torn"


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_journal_of_servers_that_are_killed(transport: list[str], tmp_path: Path) -> None:
    """The client has the answer to one message before it sends the next."""
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        done = reconnect(folder, transport, "--seed", str(seed), f"--fail=0:{40 + 5 * seed}:SIGKILL", count=8)
        assert done.exit not in OF_ITS_OWN and not done.statuses[-1], done.why()
        (file,) = folder.iterdir()
        history = [append(number, number + 0.5, number) for number in range(8)]
        assert linearization([*history, look(8, *map(int, file.read_text().split()))], journal, ()), done.why()
