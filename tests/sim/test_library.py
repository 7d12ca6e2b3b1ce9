# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Promises of our_control.h about posts and shared receive queues: library.c has both ends of a connection, and prints the library's results."""

from __future__ import annotations

import pytest
from sim.simulation import ADDRESS, simulate

# The first device grants more than it is asked for, but in CQs no more; the second is soft-iWARP.
DEVICES = ["roce,rounds_wr=1,max_qp=20", "iwarp,max_qp=20", "adapter,max_qp=20"]
SRQ_SERVER = f"build/examples/srq_server {ADDRESS}".split()
FULL, WRONG = "Cannot allocate memory", "Invalid argument"
SAID = {
    "most-private": ["57: Message too long", "197: Message too long"],
    "sends": [f"5 sends, then: {FULL}", "with a completion: Success"],
    "receives": [f"5 receives, then: {FULL}", "with a completion: Success"],
    "unsignaled": [f"one more: {FULL}", "with its completion: Success", "the last one: Success", f"one more: {FULL}"],
    "long-list": [f"5 of 7, then: {FULL}", "the list is whole: yes"],
    "wrong-list": [f"1 of 3, then: {WRONG}"],
    "by-verbs": ["receive 3 of the library", "receive 8 of its own", "send 1 of the library", "send 7 of its own"],
    "own-pool": ["receive 0"],
    "take-after-end": ["then: Connection reset by peer"],
    "accept-and-take": ["connected: 1, accepted: 1"],
    "bind-also-twice": ["also: Address already in use"] * 2,
    "take-no-more": ["Permission denied: b", "Connection refused: -", "of the agent: 1, RDMA_CM_EVENT_DISCONNECTED"],
    "get-after-removal": ["No such device, agent: 0"] * 2,
    "reject-without-channel": ["client: refused"],
    "own-receives": [],
    "own-queue": ["low: 0", "low: 1, of the whole: 0", f"another queue: {WRONG}"],
    "own-receive": [],
    "left-to-device": [],
    "many": [f"some QPs, then: {FULL}"],
}


UNORDERED = {"by-verbs"}
FAULTS = {"get-after-removal": "0:ibv_query_device:1:REMOVAL", "reject-without-channel": "0:rdma_migrate_id:1:ENOMEM"}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("question", SAID)
def test_what_the_library_does(question: str, device: str) -> None:
    fault = ["--fail", FAULTS[question]] if question in FAULTS else []
    run = simulate([["build/tests/sim/library", question]], "--device", device, *fault)
    said = run.out.splitlines()
    assert (sorted(said) if question in UNORDERED else said) == SAID[question] and not run.exit and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", ["roce", "iwarp", "adapter"])
def test_a_request_that_fails_is_named(device: str) -> None:
    """Soft-iWARP says of no request why it has failed."""
    flushed = "Connection reset by peer, Work Request Flushed Error"
    wrong, end = (flushed, "Connection reset by peer") if device == "iwarp" else ("Software caused connection abort, remote access error", "Connection timed out")
    run = simulate([["build/tests/sim/library", "wrong-key"]], "--device", device)
    assert run.out.splitlines() == ["0: Success, done", f"1: {wrong}", f"2: {flushed}", f"{end}, none"] and not run.exit and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", DEVICES)
def test_a_key_lives_as_long_as_its_region(device: str) -> None:
    """It is the PD's, whoever was told it, and whoever has left. Soft-iWARP does not ask for the right to READ."""
    run = simulate([["build/tests/sim/library", "keys"]], "--device", device)
    serves = "done" if "iwarp" in device else "refused"
    said = ["of the client: done", "of another client: done", "of another PD: refused", "deregistered: refused", f"without the right: {serves}"]
    assert run.out.splitlines() == said and not run.exit and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", DEVICES)
def test_a_shared_cq_grows_with_its_connections(device: str) -> None:
    """It was asked for a single place. Soft-iWARP cannot resize a CQ."""
    run = simulate([["build/tests/sim/library", "grow-cq"]], "--device", device)
    number = "several CQs" if "iwarp" in device else "one CQ"
    assert run.out == f"{number}, 40 completions, room: 5, of the client: 5, 5\n" and not run.exit and run.left == "nothing", run.why()


ENDED = "Software caused connection abort, in time"


@pytest.mark.parametrize("device", ["roce", "adapter"])
def test_a_send_that_meets_no_receive_ends_in_time(device: str) -> None:
    """One that has completed is none, even if the program takes no completion. On iWARP it ends the connection at once."""
    run = simulate([["build/tests/sim/library", "no-receive"]], "--device", device)
    assert run.out.splitlines() == [f"wait: {ENDED}", *(f"{how}: Success, {ENDED}" for how in ("loop", "shared"))], run.why()
    assert run.err.count("a send has not completed for 4 s") == 3 and not run.exit and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", ["roce", "iwarp"])
def test_a_read_without_an_answer_ends_in_time(device: str) -> None:
    """An adapter gives it up earlier by itself."""
    programs = [["build/examples/store_server", ADDRESS], ["build/tests/sim/library", "read-from-silent"]]
    run = simulate(programs, "--device", device, "--fail", "1:ibv_post_send:1:SILENCE")
    assert run.out == f"{ENDED}\n" and "a send has not completed for 4 s" in run.err and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", ["roce", "iwarp", "adapter"])
@pytest.mark.parametrize("server, said", [("build/examples/epoll_server", "Success\n"), ("", "Connection refused\n")], ids=["served", "refused"])
def test_a_loop_learns_how_its_connect_ends(server: str, said: str, device: str) -> None:
    """By no other descriptor than that of CM events: without an event, its poll ends by a time-out. On iWARP a thread connects."""
    asks = ["build/tests/sim/library", "connect-in-loop"]
    run = simulate([[server, ADDRESS], asks] if server else [asks], "--device", device)
    assert run.out.startswith(said) and not run.exit and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", ["roce", "roce-6.12", "iwarp"])
def test_a_shared_queue_outlasts_clients_that_are_killed(device: str) -> None:
    """The client is killed in a long message, whose receive soft-RoCE of Linux 6.12 loses: the queue of srq_server has two."""
    programs = [f"build/examples/srq_server {ADDRESS} 12321 8 2", f"build/tests/sim/library be-killed {ADDRESS}", f"build/tests/sim/programs later 60 build/examples/echo_client {ADDRESS} 12321 5"]
    run = simulate([program.split() for program in programs], "--device", device)
    assert run.statuses[1:3] == [0, 0] and "5 messages of 64 bytes" in run.out and not run.statuses[0], run.why()


@pytest.mark.parametrize("device, wait_s", [("roce", 7), ("iwarp", 0)])  # soft-iWARP does not wait for the peer
def test_all_are_closed_in_the_time_of_one(device: str, wait_s: int) -> None:
    """The connections are one of a dead peer, three, and the three of a device."""
    server = f"build/examples/srq_server {ADDRESS} 12321 8 32".split()
    run = simulate([server, ["build/tests/sim/library", "close-all"]], "--device", device, "--fail", "0:ibv_post_send:1:SILENCE")
    assert run.out.startswith(f"{wait_s} s, {wait_s} s, {wait_s} s\n") and run.statuses[1] == 0 and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("question", ["own-receive", "own-receives"])
def test_no_buffer_is_posted_twice(question: str, device: str) -> None:
    run = simulate([["build/tests/sim/library", question]], "--strict", "--device", device)
    assert run.statuses == [0] and "has memory of one that is posted" not in run.wrong, run.why()
    assert "ibv_post_srq_recv" not in run.err, run.why()


def test_a_cq_that_its_program_resizes() -> None:
    """Completions wait meanwhile that the library has polled to find its own. Soft-iWARP cannot resize a CQ."""
    run = simulate([["build/tests/sim/library", "resize-cq"]])
    assert not run.out and not run.exit and run.left == "nothing", run.why()


AGAIN = ["again: Success", "the other: Success", "answered", f"elsewhere: {WRONG}"]


@pytest.mark.parametrize("how, then", [("RETRY_EXC_ERR", AGAIN), ("REMOVAL", ["again: Input/output error"])])
@pytest.mark.parametrize("device", ["roce", "adapter", "iwarp"])
def test_a_client_of_a_shared_device_connects_anew(device: str, how: str, then: list[str]) -> None:
    """PD, MRs, CQ and the completions of another connection stay. Neither another device nor one that was removed will do."""
    if device == "iwarp" and how != "REMOVAL":  # libsiw knows no status for a peer that does not answer
        how = "WR_FLUSH_ERR"
    devices = [f"--device={device},address=192.0.2.{number}" for number in (1, 2)]
    run = simulate([[*SRQ_SERVER], ["build/tests/sim/library", "reconnect-shared"]], *devices, "--servers=1", f"--fail=1:ibv_post_send:2:{how}")
    assert [line for line in run.out.splitlines() if "messages sent back" not in line] == ["answered", "broke", *then], run.why()
    assert not run.statuses[1] and run.left == "nothing", run.why()


@pytest.mark.parametrize("device", ["roce", "adapter", "iwarp"])
def test_a_loop_connects_anew(device: str) -> None:
    """The server is killed, and another comes after seconds. Nothing but the loop sleeps, whose pauses are of our_pause_ms."""
    later = ["build/tests/sim/programs", "later", "5", *SRQ_SERVER]
    run = simulate([SRQ_SERVER, later, ["build/tests/sim/library", "reconnect-by-loop"]], "--device", device, "--servers=2", "--fail=0:ibv_post_send:3:SIGKILL")
    assert run.out.startswith("slept elsewhere: no\n") and run.statuses[1:] == [0, 0] and run.ms > 5000 and run.left == "nothing", run.why()
