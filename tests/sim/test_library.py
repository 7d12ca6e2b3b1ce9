# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Promises of our_control.h about posts and shared receive queues: library/ has both ends of a connection, and prints the library's results."""

from __future__ import annotations

import errno
import os
import re

import pytest
from sim.simulation import ADDRESS, TOP, simulate

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
    "too-long": [f"{what}: {WRONG}" for what in ("send", "READ", "WRITE")],
    "by-verbs": ["receive 3 of the library", "receive 8 of its own", "send 1 of the library", "send 7 of its own"],
    "forget": ["of the next QP: Resource temporarily unavailable"],
    "own-pool": ["receive 0"],
    "take-after-end": ["then: Connection reset by peer"],
    "accept-and-take": ["connected: 1, accepted: 1"],
    "bind-also-twice": ["also: Address already in use"] * 2,
    "ack-timeouts": ["31: Success", f"32: {WRONG}"],
    "take-no-more": ["Permission denied: b", "Connection refused: -", "of the agent: 1, RDMA_CM_EVENT_DISCONNECTED"],
    "get-after-removal": ["No such device, agent: 0"] * 2,
    "reject-without-channel": ["client: refused"],
    "own-receives": [],
    "own-queue": ["low: 0", "low: 1, of the whole: 0", f"another queue: {WRONG}"],
    "queue-of-whole": ["low: 0", "low: 1, of the whole: 0"],
    "own-receive": [],
    "left-to-device": [],
    "many": [f"some QPs, then: {FULL}"],
    "again": ["entries: as many as before"],
}
# Reports of the library meanwhile; other questions have none. The rest of the report of "many" depends on the device.
OUTSTANDING = f"{FULL} (12): all 5 that our_setup_qp was asked for are outstanding"
PRIVATE, USED = "Message too long (90)", "Address already in use (98): 192.0.2.1:12321: another program listens there: stop it, or choose another port"
REFUSED = "rdma_connect: Permission denied (13), RDMA_CM_EVENT_REJECTED: the server at 192.0.2.1:12321 refused us"
REPORTED = {
    "most-private": [f"rdma_connect: {PRIVATE}: 57 bytes of private data, and 56 fit", f"rdma_accept: {PRIVATE}: at most 196 bytes of private data fit"],
    "sends": [f"ibv_post_send: {OUTSTANDING}"],
    "receives": [f"ibv_post_recv: {OUTSTANDING}"],
    "unsignaled": [f"ibv_post_send: {OUTSTANDING}"] * 2,
    "long-list": [f"ibv_post_send: {OUTSTANDING}"],
    "wrong-list": [f"ibv_post_send: {WRONG} (22)"],
    "too-long": [f"ibv_post_send: {WRONG} (22): 65 bytes of a buffer of 64"] * 3,
    "bind-also-twice": [f"rdma_bind_addr: {USED}"] * 2,
    "ack-timeouts": [f"rdma_set_option: {WRONG} (22): an ack timeout of 32: it is at most 31, and Linux before 5.1 has none"],
    "take-no-more": [REFUSED, "rdma_connect: Connection refused (111): nobody listens on 192.0.2.1:12321: start the server first"],
    "get-after-removal": ["rdma_get_cm_event: No such device (19), RDMA_CM_EVENT_DEVICE_REMOVAL: nobody can connect any more"] * 2,
    "reject-without-channel": [f"rdma_migrate_id: {FULL} (12)", REFUSED],
    "own-queue": [f"our_device_create_srq: {WRONG} (22): the device has one already"],
    "many": [f"rdma_create_qp: {FULL} (12)", "20 QPs"],
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
    reported = [line.partition(": asked ")[0] for line in run.err.splitlines()]
    assert reported == [f"library: {line}" for line in REPORTED.get(question, [])], run.why()


# For each function, or the first of a block, each error that our_control.h promises, and what brings it about in the question "each": a
# call that fails, or several; nothing: it always comes. A row in brackets is a test of tests/unit, or another question.
PROMISED = """
our_create_stop ENOMEM=calloc:1 EMFILE=eventfd:1:EMFILE ENFILE=eventfd:2:ENFILE
our_create_control_struct ENOMEM=calloc:2
our_create_id ENODEV=rdma_create_event_channel:1 EMFILE=rdma_create_event_channel:1:EMFILE
our_client_bind ENODEV=rdma_resolve_addr:1:ENODEV EADDRNOTAVAIL=rdma_resolve_addr:1 EHOSTUNREACH=rdma_resolve_route:1
    ETIMEDOUT=rdma_resolve_route:1:ROUTE_ERROR=ETIMEDOUT,rdma_resolve_route:2:ROUTE_ERROR=ETIMEDOUT,rdma_resolve_route:3:ROUTE_ERROR=ETIMEDOUT
    ENETUNREACH=rdma_resolve_route:1:ENETUNREACH ENOSYS=rdma_set_option:1:ENOSYS EINTR=rdma_resolve_addr:1:EINTR
our_start_bind EINVAL=(what_a_function_refuses)
our_listener_bind EADDRINUSE=rdma_listen:1:EADDRINUSE ENODEV=rdma_bind_addr:1:ENODEV EADDRNOTAVAIL=rdma_bind_addr:1:EADDRNOTAVAIL,socket:1
our_get_request EINTR=pthread_create:1:SIGTERM ENODEV=(get-after-removal) ENOMEM=calloc:14
our_migrate_id ENOMEM=rdma_migrate_id:1 EMFILE=rdma_create_event_channel:3:EMFILE
our_use_device EINVAL=(what_a_function_refuses)
our_setup_qp ENOMEM=ibv_alloc_pd:2 EINVAL=(queues_that_no_cq_has_room_for) EOPNOTSUPP=moderate/ ECONNABORTED=rdma_create_qp:2:EINVAL,rdma_create_qp:3:EINVAL
our_setup_buffers ENOMEM=ibv_reg_mr:2 EINVAL=(all_buffers_are_not_opened_by_one_key)
our_client_connect ECONNREFUSED=rdma_connect:1:REJECTED=8 EACCES=rdma_connect:1:REJECTED EMSGSIZE=(most-private) ETIMEDOUT=rdma_connect:1:UNREACHABLE=ETIMEDOUT
    EHOSTUNREACH=rdma_connect:1:UNREACHABLE=EHOSTUNREACH EINTR=rdma_connect:1:SIGTERM
our_agent_connect ECONNABORTED=rdma_accept:1:EINVAL ECONNREFUSED=rdma_accept:1:REJECTED ECONNRESET=rdma_accept:1:ECONNRESET EMSGSIZE=(most-private)
    ETIMEDOUT=rdma_accept:1:UNREACHABLE=ETIMEDOUT EINTR=ibv_modify_qp:1:SIGTERM
our_post_send ECONNRESET=ibv_post_send:1:ENOTCONN ENOMEM=(sends)
our_read_depth EINVAL=ibv_query_qp:1:EINVAL
our_post EINVAL=(wrong-list)
our_await_completion EINTR=ibv_post_send:1:SIGTERM ECONNRESET=ibv_post_send:2:WR_FLUSH_ERR ETIMEDOUT EHOSTUNREACH=iwarp/ibv_post_send:2:SILENCE
    ENODEV=rdma_get_cm_event:8:DEVICE_REMOVAL ECONNABORTED=ibv_post_send:2:RETRY_EXC_ERR EIO=ibv_post_send:2:LOC_PROT_ERR EPIPE=(a_transfer_that_fails_is_named)
our_report_end ECONNABORTED=ibv_post_send:2:WR_FLUSH_ERR
our_take_completion EAGAIN
our_await_disconnect EINTR=ibv_req_notify_cq:1:SIGTERM ETIMEDOUT
our_take_cm_event EAGAIN ENODEV=(lose-device)
our_look_after ECONNABORTED=ibv_post_send:3:RETRY_EXC_ERR EHOSTUNREACH=iwarp/ibv_post_send:3:SILENCE EIO=ibv_post_send:3:DEVICE_FATAL ECONNRESET=ibv_post_send:3:WR_FLUSH_ERR
our_take_async_events EIO=ibv_query_qp:1:DEVICE_FATAL EPIPE=ibv_query_qp:1:QP_FATAL ECONNABORTED=ibv_query_qp:1:QP_REQ_ERR
our_reconnect EINVAL=(reconnect-shared) EIO=(reconnect-shared) EHOSTDOWN EINTR
our_create_device EINVAL=(what_a_function_refuses) ENOMEM=ibv_alloc_pd:1
our_join_device ENOMEM=calloc:8
our_device_create_cq ENOMEM=ibv_create_cq:1 EINVAL=(own-queue) EMFILE=ibv_create_comp_channel:1
our_device_create_srq EINVAL=(own-queue)
our_setup_mr ENOMEM=ibv_reg_mr:4 EFAULT=ibv_reg_mr:4:EFAULT EINVAL=ibv_reg_mr:4:EINVAL
our_device_take_completion EAGAIN
our_device_take_async_events EIO=ibv_reg_mr:4:DEVICE_FATAL
our_create_poll_group ENOMEM=calloc:3 EMFILE
our_join_poll_group EINVAL=(poll-busily) ENOMEM=(a_group_that_cannot_be_joined) ENOSPC=(a_group_that_cannot_be_joined)
our_fd EAGAIN=(live)
"""
ROWS = [(words[0], *row.partition("=")[::2]) for words in map(str.split, PROMISED.replace("\n    ", " ").strip().splitlines()) for row in words[1:]]
UNTOLD = {"our_create_stop", "EINTR", "our_post_send ECONNRESET", "our_look_after ECONNRESET"}


def test_each_error_that_the_header_promises_has_a_row() -> None:
    header, found = (TOP / "common/our_control.h").read_text(), set[tuple[str, str]]()
    for name, block in re.findall(r"^/\*\n \* (our_\w+)(.*?)\*/", header, re.MULTILINE | re.DOTALL):
        errors = re.search(r"ERRORS: (.*?)(?=\n \* (?:OWNER|THREADS|SEE)|$)", block, re.DOTALL)
        found |= {(name, error) for error in re.findall(r"\bE[A-Z]{2,}\b", errors[1] if errors else "")}
    assert found == {row[:2] for row in ROWS} and len(found) > 80
    tests = "".join(path.read_text() for path in [*(TOP / "tests/unit").glob("*.c"), *(TOP / "tests/sim").glob("**/*.c")])
    assert all(how[1:-1] in tests for _, _, how in ROWS if how.startswith("("))


@pytest.mark.parametrize("function, error, how", [row for row in ROWS if not row[2].startswith("(")])
def test_a_function_returns_the_error_that_it_promises(function: str, error: str, how: str) -> None:
    """It tells the error once, unless it is none."""
    *where, calls = how.split("/")
    faults = [f"--fail=0:{fault}" for fault in calls.split(",") if fault]
    iwarp, question = ["--iwarp"] * ("iwarp" in where), "moderate" if "moderate" in where else "each"
    run = simulate([["build/tests/sim/library", question]], *iwarp, *faults)
    assert f"{function}: {os.strerror(getattr(errno, error))}" in run.out.splitlines(), run.why()
    assert faults or where or not run.statuses[0] and run.left == "nothing" and run.ms < 32000, run.why()  # 1 s and 30 s are waited for
    told = [re.sub(r":\d+", "", line) for line in re.findall("^library: .*", run.err, re.MULTILINE)]
    assert len({*told}) == (not UNTOLD & {function, error, f"{function} {error}"}) or not faults, run.why()


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


@pytest.mark.parametrize("device", ["roce", "adapter", "iwarp"])
def test_the_three_hundredth_connection_is_as_the_first(device: str) -> None:
    """No completion, no place in a queue and no descriptor is left of the one before it; nor is memory deregistered that is posted."""
    run = simulate([[*SRQ_SERVER, "12321", "400", "64"], ["build/tests/sim/library", "reconnect-often"]], "--strict", "--device", device)
    assert "descriptors: 0 more\n" in run.out and not re.search(r"^\d+: ", run.out, re.MULTILINE) and not run.statuses[1] and run.left == "nothing", run.why()


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
