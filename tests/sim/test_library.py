# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What our_control.h promises of posts and of shared receive queues: library.c has both ends of a connection, and says what
the library did."""

from __future__ import annotations

import pytest
from sim.simulation import ADDRESS, simulate

# One that grants more than it is asked for, but in CQs no more; and soft-iWARP.
DEVICES = ["roce,rounds_wr=1,max_qp=20", "iwarp,max_qp=20"]
FULL, WRONG = "Cannot allocate memory", "Invalid argument"
SAID = {
    "sends": [f"5 sends, then: {FULL}", "with a completion: Success"],
    "receives": [f"5 receives, then: {FULL}", "with a completion: Success"],
    "unsignaled": [f"one more: {FULL}", "with its completion: Success", "the last one: Success", f"one more: {FULL}"],
    "long-list": [f"5 of 7, then: {FULL}", "the list is whole: yes"],
    "wrong-list": [f"1 of 3, then: {WRONG}"],
    "own-queue": ["low: 0", "low: 1, of the whole: 0", f"another queue: {WRONG}"],
    "own-receive": [],
    "left-to-device": [],
    "many": [f"some QPs, then: {FULL}"],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("question", SAID)
def test_what_the_library_does(question: str, device: str) -> None:
    run = simulate([["build/tests/sim/library", question]], "--device", device)
    assert run.out.splitlines() == SAID[question] and not run.exit, run.why()


@pytest.mark.parametrize("device", ["roce", "roce-6.12", "iwarp"])
def test_a_shared_queue_outlasts_clients_that_are_killed(device: str) -> None:
    """In a long message, whose receive soft-RoCE of Linux 6.12 loses: the queue of srq_server has two."""
    programs = [f"build/examples/srq_server {ADDRESS} 12321 8 2", f"build/tests/sim/library be-killed {ADDRESS}", f"build/tests/sim/odd later 60 build/examples/echo_client {ADDRESS} 12321 5"]
    run = simulate([program.split() for program in programs], "--device", device)
    assert run.statuses[1:3] == [0, 0] and "5 messages of 64 bytes" in run.out and not run.statuses[0], run.why()


@pytest.mark.parametrize("device", DEVICES)
def test_no_buffer_is_posted_twice(device: str) -> None:
    run = simulate([["build/tests/sim/library", "own-receive"]], "--strict", "--device", device)
    assert run.statuses == [0] and "has memory of one that is posted" not in run.wrong, run.why()
