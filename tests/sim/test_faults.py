# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Faults that are no failing call: an event that a program does not expect, a host that falls silent, a request
that nobody answers, a message that breaks off. Both programs end, with 0 or 1, and leave nothing."""

from __future__ import annotations

import json
import re

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, SIDES, TRANSPORTS, Run, each_stage, pair, simulate
from sim.simulation import ROWS as STAGES
from sim.test_stops import stops
from live.table import Stage

AT = 6  # calls of a side, spread over all
NO_IDS = ("ping-rc-0",)
SYNCHRONOUS = ("ping-ep-0",)  # its calls take the next event, whichever it is, for their own, as librdmacm does
SEEDS = range(1, 25)
# A WRITE over TCP completes here before it has arrived there; the server of ping-rc-0 hears of the end from a socket; the others have no count.
DONE_BEFORE = ("blast-rdma-1", "ping-rdma-1", "ping-rdma-2", "ping-rc-0", "ping-ep-0", "talk-rdma-0")


def ends(question: str, *options: str) -> Run:
    """A program with both ends of a connection."""
    return simulate([["build/tests/sim/ends", question]], *options)


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_it_does_not_mind_that_an_address_changes(stage: Stage, transport: list[str], side: int) -> None:
    runs = stops(stage, transport, side, "ADDR_CHANGE", AT)
    for run in runs:
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
        assert stage.name in SYNCHRONOUS or not run.exit, run.why()
    assert stage.name in NO_IDS or any(run.fault for run in runs)


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_it_knows_that_its_peer_cannot_be_reached(stage: Stage, transport: list[str], side: int) -> None:
    """A program that waits for no event of the connection manager goes on."""
    for run in stops(stage, transport, side, "UNREACHABLE", AT):
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
        assert not run.statuses[side] or "UNREACHABLE" in run.err or "timed out" in run.err, run.why()


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_its_host_falls_silent(stage: Stage, transport: list[str], side: int) -> None:
    for run in stops(stage, transport, side, "SILENCE", AT):
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()


@pytest.mark.parametrize("stage, transport", [row for row in STAGES if str(row.values[0]) not in DONE_BEFORE])
def test_no_server_is_done_before_its_client(stage: Stage, transport: list[str]) -> None:
    """The client's host falls silent at one of its last calls. Then an answer without an acknowledgement may not have arrived."""
    programs = [[*program, "-j", "--timeout", "20"] for program in pair(stage, 3)]
    usual = simulate(programs, *transport)
    assert not any(usual.statuses), usual.why()
    for number in range(usual.calls[1] - 19, usual.calls[1] - 9):
        run = simulate(programs, *transport, "--fail", f"1:{number}:SILENCE")
        complete = {one["role"]: one["complete"] for one in map(json.loads, run.out.splitlines())}
        assert complete["client"] or not complete["agent"], run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("call, first, last", [("rdma_create_qp", "CREATE_QP", "MODIFY_QP"), ("rdma_destroy_qp", "DESTROY_QP", "DESTROY_QP")])
def test_an_event_while_another_thread_uses_the_qp(call: str, first: str, last: str, transport: list[str]) -> None:
    """ping-sr-2's reads it neither meanwhile, as rdma_get_cm_event uses the QP, too, nor, if rdma_destroy_id discards it, at all."""
    for seed in SEEDS:
        options = f"--strategy mixed --seed {seed} --trace --fail 1:{first}:1:TIMEWAIT_EXIT".split()
        run = simulate([["ping-sr-2/server", "-q", "-a", ADDRESS], ["ping-sr-2/client", "-q", "-a", ADDRESS, "-c", "2"]], *transport, *options)
        during = re.search(rf" 1\.0 +\d+ {call}\(\)\n((?:.*\n)*?.* 1\.0 +\d+   {last})\n", run.err)
        assert run.fault and not run.exit and during and not re.search(r" 1\.1 +\d+ rdma_get_cm_event", during[1]), run.why()


def test_the_first_part_of_a_chain_is_posted() -> None:
    run = ends("chains", "--fail", "0:ibv_post_recv:2", "--fail", "0:ibv_post_send:3:EINVAL")
    assert run.out == "receive b failed\nsend z failed\nserver: a success\nclient: x success\n"


def test_a_message_that_breaks_off() -> None:
    """The message may have taken a receive, which is flushed when the connection ends; or it has not begun."""
    outs = {ends("break-off", "--seed", str(seed)).out for seed in SEEDS} - {""}
    assert outs == {"server: r success\n", "server: r Work Request Flushed Error\n"}


def test_events_of_iwarp_queue_pairs() -> None:
    """The events come sometimes, not always."""
    outs = [ends("wild-write", "--iwarp", "--seed", str(seed)).out for seed in SEEDS]
    assert 0 < sum("local access violation" in out for out in outs) < len(outs)
    assert not any(ends("wild-write", "--seed", str(seed)).out for seed in SEEDS)


def test_a_post_raises_sigpipe_on_iwarp() -> None:
    """The event comes sometimes, if the connection is breaking."""
    roce, iwarp = (
        {ends("send-to-nobody", "--device", kind, "--seed", str(seed)).statuses[0] for seed in SEEDS} for kind in ("roce", "iwarp")
    )
    assert (roce, iwarp) == ({0}, {0, 128 + 13})
