# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The same seed is the same run, whatever else the machine does; and whatever the order, all messages arrive, nothing is left, and
nothing works only by chance."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sim.simulation import TRANSPORTS, Run, each_stage, pair, simulate
from live.table import STAGES, Stage

MESSAGES = 20
MOST_MS = 100  # simulated; a wake-up that is lost costs a second or more: then a keepalive or a limit on time is due
AT_ONCE = 4  # runs at a time: they keep more processors busy than there are


def runs(stage: Stage, transport: list[str], seeds: range) -> list[Run]:
    """Runs with each seed twice, one after the other in the list."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        programs = pair(stage, MESSAGES)
        return list(pool.map(lambda seed: simulate(programs, *transport, "--strict", "--strategy", "mixed", "--seed", str(seed)), [s for s in seeds for _ in "ab"]))


def check(done: list[Run]) -> None:
    """Checks runs, in pairs."""
    for one, other in zip(done[::2], done[1::2]):
        assert not one.exit and not one.missing, one.why()
        assert one.ms < MOST_MS, f"it has waited in vain: {one.ms} ms\n{one.why()}"
        assert (one.hash, one.ms, one.calls) == (other.hash, other.ms, other.calls), one.command
        assert sorted(one.out.splitlines()) == sorted(other.out.splitlines())
    assert len({one.hash for one in done}) == len(done) // 2, "two seeds have the same run"


@each_stage
def test_a_seed_is_a_run(stage: Stage, transport: list[str]) -> None:
    check(runs(stage, transport, range(1, 9)))


# Runs that use buffers and receives again and again, or by several clients: server, client, clients.
CROWDED = [
    ("ping-sr-2", "", "", 3),
    ("ping-sr-3", "", "", 3),
    ("ping-sr-4", "", "", 3),
    ("ping-sr-5", "", "", 3),
    ("ping-srq-4", "--pool 6", "", 3),
    ("ping-srq-4", "--pool 16", "", 6),
    ("blast-sr-2", "-v", "-b 1 -v", 2),
    ("blast-sr-2", "-v --credit-batch 1", "-b 3 -v --chain 2", 2),
    ("blast-sr-2", "-v", "-b 8 -v --signal-every 8 -c 100", 1),
    ("blast-sr-2", "-v --credit-batch 1", "-b 64 -v -c 200", 1),  # this makes more messages of credits than may be on their way
    ("blast-rdma-1", "", "-b 3 -v -c 60 --chain 2", 1),
    ("blast-rdma-1", "--read", "-b 3 -c 60 --read", 1),
    ("ping-rdma-1", "", "-s 4k", 1),
    ("ping-rdma-3", "", "-s 4k", 1),
    ("pubsub-rdma-2", "", "", 3),
]


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("name, server, client, clients", CROWDED)
def test_a_crowd_is_served_in_every_order(name: str, server: str, client: str, clients: int, transport: list[str]) -> None:
    of_server, of_client = pair(next(stage for stage in STAGES if stage.name == name), MESSAGES)
    programs = [[*of_server, *server.split(), "-n", str(clients)], *[[*of_client, *client.split(), "-w", "9"]] * clients]
    exact = transport or ["--device", "roce,rounds_wr=0,rounds_cq=0,max_inline=0"]  # no queue has more room than was asked for, and data is read late
    for seed in range(1, 9):
        run = simulate(programs, *exact, "--strict", "--strategy", "mixed", "--seed", str(seed))
        assert not run.exit and not run.err and run.ms < MOST_MS * clients, run.why()


@pytest.mark.long
@each_stage
def test_many_seeds_are_as_many_runs(stage: Stage, transport: list[str]) -> None:
    check(runs(stage, transport, range(1000, 1200)))


@pytest.mark.long
@each_stage
def test_very_many_messages(stage: Stage, transport: list[str]) -> None:
    """Tests counters that are never decremented, and acks in batches."""
    run = simulate(pair(stage, 100000), *transport, within_s=600)
    assert not run.exit, run.why()
