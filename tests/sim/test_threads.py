# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-mt-4: whatever threads share, each has its own answers, in any order of events; and one that fails ends all."""

from itertools import count

import pytest
from sim.simulation import ADDRESS, TRANSPORTS, simulate

WAYS = ("nothing", "cq", "poller", "qp")
EACH = pytest.mark.parametrize("way, transport", [(way, transport) for way in WAYS for transport in TRANSPORTS])


def programs(way: str) -> list[list[str]]:
    """A store, and three threads."""
    return [["build/examples/store_server", ADDRESS], ["build/beyond/ping-mt-4/client", ADDRESS, way, "3", "10"]]


@EACH
def test_threads_share(way: str, transport: str) -> None:
    for seed in range(1, 21):
        run = simulate(programs(way), "--strategy", "mixed", "--seed", str(seed), *TRANSPORTS[transport])
        assert not run.exit and f"3 threads share {way}: " in run.out, run.why()


@EACH
def test_one_that_fails_ends_all(way: str, transport: str) -> None:
    for number in range(1, 31, 4):
        run = simulate(programs(way), "--fail", f"1:ibv_post_send:{number}:REM_ACCESS_ERR", *TRANSPORTS[transport])
        assert run.statuses == [0, 1] and run.left == "nothing" and "remote access error" in run.err, run.why()


@pytest.mark.parametrize("words", ["", "cq 3", "other 3 1", "cq 0 1", "cq 65 1", "cq 3 0"])
def test_wrong_usage(words: str) -> None:
    run = simulate([["build/beyond/ping-mt-4/client", ADDRESS, *words.split()]])
    assert run.statuses == [2] and "usage: ping-mt-4/client" in run.err, run.why()


def test_as_many_threads_as_it_says() -> None:
    run = simulate([["build/examples/store_server", ADDRESS], ["build/beyond/ping-mt-4/client", ADDRESS, "cq", "64", "1"]])
    assert not run.exit and "64 threads share cq: " in run.out, run.why()


def test_each_allocation_fails() -> None:
    for number in count(1):
        run = simulate(programs("cq"), "--fail", f"1:calloc:{number}")
        assert run.statuses == [0, 1 if run.fault else 0] and run.left == "nothing", run.why()
        if not run.fault:
            break
