# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each call of each side fails once: a client ends by itself, a server may serve others; both end with 0 or 1, name the
call if it was their end, and leave nothing."""

from __future__ import annotations

import re

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, SIDES, TRANSPORTS, Run, calls_of, chosen, each_stage, each_stage_once, nth, pair, simulate
from live.table import STAGES, Stage

MESSAGES = 2
OFTEN = 3  # a call that a program makes again and again: how many of them fail in make check


# Inline functions of rdma_verbs.h, which ping-ep-0 calls: it names them.
BEHIND = {
    "ibv_reg_mr": ("rdma_reg_msgs",),
    "ibv_dereg_mr": ("rdma_dereg_mr",),
    "ibv_post_send": ("rdma_post_send",),
    "ibv_post_recv": ("rdma_post_recv",),
    "ibv_poll_cq": ("rdma_get_send_comp", "rdma_get_recv_comp"),
    "ibv_get_cq_event": ("rdma_get_send_comp", "rdma_get_recv_comp"),
    "ibv_req_notify_cq": ("rdma_get_send_comp", "rdma_get_recv_comp"),
}


# These stages say more than errors, without -q.
CHATTY = ("ping-ep-0", "talk-rdma-0")
SAID_AGAIN = re.compile("destroy|dealloc|dereg|close|rdma_disconnect")  # an object that cannot be destroyed keeps those that it needs
ANOTHER_ERROR = ("rdma_resolve_addr", "ibv_post_send")  # EADDRINUSE means more; rdma_verbs.h returns -1 for each


def judge_words(stage: Stage, run: Run, side: int) -> None:
    """The side whose call has failed reports it once, with its error, and nothing that follows from it. A server does not fail
    for what its client could not do; and who fails says why."""
    call, error = run.fault.split()[0], run.fault.rpartition(": ")[2]
    lines = [line for line in run.err.splitlines() if "holds the lock" not in line]  # lines about the lock are another matter
    said = [[line for line in lines if re.match(rf"[\w-]+/{name}\b", line)] for name in SIDES]
    assert not re.search(r"\(null\)|Unknown error", run.err), run.why()
    # To soft-iWARP a post to a client that is gone is an error, and ping-ep-0 takes it for one.
    may_fail = stage.name == "ping-ep-0" and "--iwarp" in run.command
    assert not (side and run.statuses[0]) or may_fail, f"the server fails\n{run.why()}"
    assert all(words or not status for words, status in zip(said, run.statuses)), f"it does not say why\n{run.why()}"
    assert not run.statuses[side] or error in run.err or call in ANOTHER_ERROR, f"not its error\n{run.why()}"
    if stage.name not in CHATTY and not SAID_AGAIN.search(call):
        assert len(said[side]) <= 1, f"more than one line\n{run.why()}"


def judge(run: Run, side: int) -> None:
    """Checks a run in which a call of this side has failed."""
    assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
    assert side not in run.told or SIDES[side] == "server", f"it did not end by itself\n{run.why()}"
    call = run.fault.split()[0]
    named = any(name in run.err for name in (call, *BEHIND.get(call, ())))
    assert named or not run.statuses[side], f"{call} is not named\n{run.why()}"
    assert run.left == "nothing" or SAID_AGAIN.search(call), run.why()
    assert "posted-memory" not in run.wrong and "changed-send" not in run.wrong, run.why()


def fail_each(stage: Stage, transport: list[str], side: int, often: int, server: str = "", client: str = "") -> None:
    """Lets each call fail, so often at most; with these options besides the usual ones. No memory is freed while the device may use it."""
    programs = [[*usual, *more.split()] for usual, more in zip(pair(stage, MESSAGES), (server, client))]
    calls, failed = calls_of(programs, side, *transport), set[str]()
    for number in chosen(calls, often):
        strict = [] if SAID_AGAIN.search(calls[number - 1]) else ["--strict"]
        run = simulate(programs, *transport, *strict, "--fail", f"{side}:{nth(calls, number)}")
        if run.fault:
            judge(run, side)
            judge_words(stage, run, side)
            failed.add(run.fault.split()[0])
        else:
            assert not run.exit, run.why()
    assert "ibv_dereg_mr" in failed and len(failed) > 9, failed


ALLOCATIONS = ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "eventfd", "sigaction", "socket", "accept")


def fail_each_allocation(stage: Stage, transport: list[str], side: int, name: str) -> int:
    """Fails each allocation of this name, and returns how many there were. The program notices each."""
    number = 0
    while True:
        run = simulate(pair(stage, MESSAGES), *transport, "--fail", f"{side}:{name}:{number + 1}")
        if not run.fault:
            return number
        judge(run, side)
        judge_words(stage, run, side)
        assert name in run.err, run.why()
        number += 1


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage_once
def test_each_allocation_fails(stage: Stage, transport: list[str], side: int) -> None:
    assert sum(fail_each_allocation(stage, transport, side, name) for name in ALLOCATIONS)


# Besides the first way in its man page. Who waits until the disconnect is over does not need it to succeed.
WAYS = {
    "rdma_create_event_channel": "EMFILE",
    "rdma_resolve_addr": "ADDR_ERROR ADDR_ERROR=EHOSTUNREACH DEVICE_REMOVAL",
    "rdma_resolve_route": "ENETUNREACH ROUTE_ERROR ROUTE_ERROR=EHOSTUNREACH DEVICE_REMOVAL",
    "rdma_bind_addr": "EADDRNOTAVAIL ENODEV",
    "rdma_connect": "ECONNREFUSED EADDRINUSE REJECTED=8 REJECTED REJECTED=ECONNRESET UNREACHABLE CONNECT_ERROR DEVICE_REMOVAL",
    "rdma_accept": "CONNECT_ERROR=ECONNRESET UNREACHABLE REJECTED DEVICE_REMOVAL",
    "rdma_get_cm_event": "ENODATA EINTR",
    "rdma_create_qp": "EINVAL",
    "rdma_disconnect": "ENOMEM",
    "ibv_create_srq": "EINVAL",
    "ibv_create_qp": "EINVAL",
    "ibv_post_recv": "WR_FLUSH_ERR LOC_LEN_ERR LOC_QP_OP_ERR",
    "ibv_post_send": "LOC_PROT_ERR WR_FLUSH_ERR RETRY_EXC_ERR REM_OP_ERR RNR_RETRY_EXC_ERR",
}


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_a_call_fails_in_each_way(stage: Stage, transport: list[str], side: int) -> None:
    """The first one of its name. An event, and a completion, need not name the call."""
    server, client = pair(stage, MESSAGES)
    client += [] if stage.notices_death else ["--timeout", "9"]
    for call in WAYS.keys() & {*calls_of([server, client], side, *transport)}:
        for how in WAYS[call].split():
            run = simulate([server, client], *transport, "--fail", f"{side}:{call}:1:{how}")
            assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()
            assert side not in run.told or SIDES[side] == "server", f"it did not end by itself\n{run.why()}"
            assert run.err or not run.statuses[side], f"it does not say why it failed\n{run.why()}"


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage_once
def test_a_call_fails_and_leaves_errno_0(stage: Stage, transport: list[str], side: int) -> None:
    """The first call of each name fails: that is a failure, too."""
    programs, failed = pair(stage, MESSAGES), 0
    for call in sorted({*calls_of(programs, side, *transport)}):
        run = simulate(programs, *transport, "--fail", f"{side}:{call}:1:0")
        if run.fault:
            judge(run, side)
            assert not re.search("Success|Unknown error", run.err), run.why()
            failed += 1
    assert failed > 9


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_each_call_fails(stage: Stage, transport: list[str], side: int) -> None:
    fail_each(stage, transport, side, OFTEN)


# Options of a server and its client by which they make other calls.
OTHERWISE = [
    ("ping-rdma-3", "RoCE", "--immediate", "--immediate"),
    ("blast-rdma-1", "RoCE", "--read", "--read -b 2"),
    ("blast-rdma-1", "iWARP", "--read", "--read -b 2"),
    ("count-atomic-1", "RoCE", "", "--lock"),
]


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@pytest.mark.parametrize("name, transport, server, client", OTHERWISE)
def test_each_call_fails_that_is_made_otherwise(name: str, transport: str, server: str, client: str, side: int) -> None:
    fail_each(next(stage for stage in STAGES if stage.name == name), TRANSPORTS[transport], side, 3 * OFTEN, server, client)


@pytest.mark.long
@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_each_call_fails_however_often_it_is_made(stage: Stage, transport: list[str], side: int) -> None:
    fail_each(stage, transport, side, 1 << 30)


# A server that cannot do one of these serves nobody.
OF_ALL_CLIENTS = {
    "rdma_create_event_channel", "rdma_create_id", "rdma_bind_addr", "rdma_listen", "rdma_get_cm_event", "ibv_query_port",
    "ibv_get_cq_event", "pthread_create", "ibv_query_device",
}  # fmt: skip
MANY = [
    pytest.param(stage, options, id=f"{stage}-{transport}")
    for stage in STAGES
    if stage.serves_many
    for transport, options in TRANSPORTS.items()
    if not (stage.roce_only and transport == "iWARP")
]


@pytest.mark.parametrize("stage, transport", MANY[::4])
def test_what_fails_with_one_client_is_nothing_to_another(stage: Stage, transport: list[str]) -> None:
    fail_with_two(stage, transport)


@pytest.mark.long
@pytest.mark.parametrize("stage, transport", MANY)
def test_what_fails_with_one_client_is_nothing_to_another_of_any_stage(stage: Stage, transport: list[str]) -> None:
    fail_with_two(stage, transport)


def fail_with_two(stage: Stage, transport: list[str]) -> None:
    """Lets each call of the server fail while it has two clients: at least one of them is served."""
    server, client = pair(stage, MESSAGES)
    programs = [[*server, "-n", "2"], client, [*client, "-w", "5"]]
    calls = calls_of(programs, 0, *transport)
    for number in chosen(calls, 2):
        run = simulate(programs, *transport, "--fail", f"0:{nth(calls, number)}")
        assert run.exit not in OF_ITS_OWN, run.why()
        assert 0 in run.statuses[1:] or run.fault.split()[0] in OF_ALL_CLIENTS, run.why()


@pytest.mark.parametrize("name", ["ping-sr-0", "ping-sr-2", "ping-sr-3", "ping-sr-4"])
def test_each_step_of_a_bind_has_three_attempts(name: str) -> None:
    """Those for the address do not count for the route."""
    faults = [f"--fail=1:{call}:{n}:{how}=ETIMEDOUT" for call, how in (("rdma_resolve_addr", "ADDR_ERROR"), ("rdma_resolve_route", "ROUTE_ERROR")) for n in (1, 2)]
    run = simulate([[f"{name}/server", "-q", "-a", ADDRESS], [f"{name}/client", "-q", "-c", "3", "-a", ADDRESS]], *faults)
    assert not run.exit and run.fault and not run.missing, run.why()
