# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of examples/, and the stages of datagrams: each call of each of them fails, each allocation does, they are told to stop, and events come that
they do not expect. All end, say why, and leave nothing; who is not concerned is served.

To add a pair, add a row to PAIRS: the server, and its clients, of which the first is the one that is swept.
"""

from __future__ import annotations

import re
from itertools import count

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, SIDES, TRANSPORTS, Run, calls_in, chosen, nth, simulate
from sim.test_failing_calls import ALLOCATIONS, OF_ALL_CLIENTS

OFTEN, AT = 2, 6  # counts for make check: how many calls of a name fail, and at how many calls something else happens
ECHO, PLAIN = "echo_client {a} 12321 2", "plain/echo_client {a} 12321 2"
SYNCHRONOUS = "extended_client"  # its calls take the next event, whichever it is, for their own, as librdmacm does
PAIRS = {
    "echo": ("echo_server", ECHO),
    "loop": ("echo_server", "loop_client {a} 12321 2"),
    "epoll": ("epoll_server", ECHO, PLAIN),
    "srq": ("srq_server", ECHO, PLAIN),
    "reconnect": ("srq_server", "reconnect_client {a} 12321 4"),
    "storm": ("ping-sr-4/server -q -n 0 --timeout 5 --keepalive 0 -a", "storm_client {a} 12321 2"),
    "memory": ("epoll_server", "memory_client {a} 12321 malloc"),
    "store": ("store_server", "store_client {a} try 3", "store_client {a} put a <docs/primer.md"),
    "stream": ("stream_server", "stream_client {a} <docs/primer.md"),
    "plain": ("plain/echo_server", PLAIN),
    "extended": ("plain/echo_server", "plain/extended_client {a} 12321 2"),
    "mcast-ud": ("beyond/mcast-ud-0/client 224.1.2.3", "beyond/mcast-ud-0/server 224.1.2.3 {a} 3"),
    "ping-ud": ("beyond/ping-ud-0/server -a", "beyond/ping-ud-0/client -c 2 -a {a}"),
}
# Calls of a server for all of its clients.
ALL_NEED = OF_ALL_CLIENTS | {"ibv_poll_cq", "epoll_wait", "poll"}
WORDS = re.compile(r"^([\w/-]+): (?!listening|\d+ calls)(.*)$", re.MULTILINE)
CLIENTS_ALONE = ("loop", "memory", "reconnect", "storm", "extended")  # these clients use the servers of others
UNCAUGHT = {128 + 15}  # a client's status, or that of a program that ends with its peer
ENDS_WITH_IT = ("stream_server", "beyond/mcast-ud-0/client 224.1.2.3")
each_side = pytest.mark.parametrize(
    "pair, side",
    [
        pytest.param(pair, side, id=f"{name}-{SIDES[side]}", marks=[pytest.mark.long] if name == "memory" else [])
        for name, pair in PAIRS.items()
        for side in (0, 1)
        if side or name not in CLIENTS_ALONE
    ],
)


def play(pair: tuple[str, ...], transport: list[str], *options: str) -> Run:
    """A server whose clients are there at the same time; its keepalives are not waited for. storm_client gives up after five minutes.
    No memory is freed while the device may use it; but a QP in a group that it cannot leave outlives it."""
    programs = [program if program.startswith(("beyond/", "ping-")) else f"build/examples/{program}" for program in (f"{pair[0]} {{a}}", *pair[1:])]
    words = [program.format(a=ADDRESS) for program in programs]
    strict = [] if "rdma_leave_multicast" in " ".join(options) else ["--strict"]
    return simulate([["sh", "-c", f"exec {one}"] if "<" in one else one.split() for one in words], *transport, *strict, "--patience", "400" if "storm" in pair[1] else "30", *options)


def calls_of(pair: tuple[str, ...], transport: list[str], side: int) -> list[str]:
    """The names of the calls that a side makes, in order; all goes well."""
    run = play(pair, transport, "--trace")
    assert not run.exit and not any(run.statuses), run.why()
    return calls_in(run.err, side)


def ends_by_signal(pair: tuple[str, ...]) -> set[int]:
    """Returns the statuses of a server that is told to stop."""
    return UNCAUGHT if pair[0] in ENDS_WITH_IT else {0}


def judge(pair: tuple[str, ...], run: Run, side: int, statuses: set[int]) -> None:
    """Judges a run, whatever has happened to this side, which may have one of these statuses."""
    assert run.exit not in OF_ITS_OWN and run.statuses[side] in statuses and {*run.statuses} <= {0, 1} | UNCAUGHT, run.why()
    assert WORDS.search(run.err) or 1 not in run.statuses, f"nobody says why\n{run.why()}"
    assert run.left == "nothing" or QUIET.search(run.fault), run.why()
    assert "posted-memory" not in run.wrong and "changed-send" not in run.wrong, run.why()
    assert "Unknown error" not in run.err and "(null)" not in run.err, run.why()
    server = {0, 1} | UNCAUGHT if pair[0] in ENDS_WITH_IT else {0}  # this server ends with its client
    assert not side or run.statuses[0] in server and not any(run.statuses[2:]), f"the others suffer\n{run.why()}"


# The work of these calls is over, or they belong to another call: a program may ignore their failure.
QUIET = re.compile("destroy|dealloc|dereg|rdma_ack|rdma_disconnect|ibv_modify_qp|ibv_query|ibv_get_device_list")
# These calls have names of their own.
NAMED = {"ibv_post_send": "post", "ibv_wr_complete": "post", "ibv_poll_cq": "poll", "ibv_start_poll": "poll"}


def judge_words(pair: tuple[str, ...], run: Run, side: int, needs: bool) -> None:
    """The program names the failed call, and ends with 1 if it needs it."""
    call, *_ = run.fault.split() or ["destroy"]
    if not QUIET.search(call) and "-ud" not in pair[0] and "storm" not in pair[1]:  # these have their own words, or count
        program = pair[side].split()[0].rpartition("/")[2]
        lines = re.findall(rf"^(?:\S+/)?{program}: (.*)$", run.err, re.MULTILINE)
        assert any(name in line for line in lines for name in (call, NAMED.get(call, call))), f"{call} is not named\n{run.why()}"
        assert run.statuses[side] == 1 or not needs, f"it goes on\n{run.why()}"


def fail_each(pair: tuple[str, ...], transport: list[str], side: int, often: int) -> None:
    """Lets each call fail, those of one name at most `often` times."""
    calls = calls_of(pair, transport, side)
    for number in chosen(calls, often):
        run = play(pair, transport, "--fail", f"{side}:{nth(calls, number)}")
        judge(pair, run, side, {0, 1})
        needs = "rdma_disconnect" not in calls[:number] if side else "rdma_listen" in calls[number - 1 :]
        judge_words(pair, run, side, needs)
        assert side or "said nothing for" not in run.err, f"a client waits in vain\n{run.why()}"
        all_need = ALL_NEED | ({"ibv_req_notify_cq"} if pair[0] == "srq_server" else set())  # all have the same CQ
        serves = number > (calls.index("rdma_get_cm_event") if len(pair) > 2 else 0) and run.fault and run.fault.split()[0] not in all_need
        assert side or not serves or len(pair) < 3 or 0 in run.statuses[1:], f"nobody is served\n{run.why()}"


def happens_at(pair: tuple[str, ...], transport: list[str], side: int, how: str, at: int) -> list[Run]:
    """Runs the pair so that something happens at about `at` of the calls of a side."""
    calls = calls_of(pair, transport, side)
    return [play(pair, transport, "--fail", f"{side}:{nth(calls, call)}:{how}") for call in range(1, len(calls) + 1, max(1, len(calls) // at))]


@each_side
def test_each_call_fails(pair: tuple[str, ...], side: int) -> None:
    fail_each(pair, [], side, OFTEN)


@each_side
def test_a_call_fails_and_leaves_errno_0(pair: tuple[str, ...], side: int) -> None:
    """The first call of each name fails: that is a failure, too."""
    for call in sorted({*calls_of(pair, [], side)}):
        run = play(pair, [], "--fail", f"{side}:{call}:1:0")
        judge(pair, run, side, {0, 1})
        assert "Success" not in run.err, run.why()


@each_side
def test_each_allocation_fails(pair: tuple[str, ...], side: int) -> None:
    """Allocations of the program and its library fail."""
    for name in ALLOCATIONS:
        for number in count(1):
            run = play(pair, [], "--fail", f"{side}:{name}:{number}")
            if not re.search("^sh: .*Out of space$", run.err, re.MULTILINE):  # an allocation of the shell that opens stdin
                judge(pair, run, side, {0, 1})
            if not run.fault:
                break


@pytest.mark.parametrize("how", ["SIGTERM", "ADDR_CHANGE", "UNREACHABLE"])
@each_side
def test_it_is_told_to_stop_or_of_what_it_does_not_expect(pair: tuple[str, ...], side: int, how: str) -> None:
    """Servers end with 0; most clients do not catch the signal."""
    for run in happens_at(pair, [], side, how, AT):
        judge(pair, run, side, {0, 1} if how != "SIGTERM" else {0, 1} | UNCAUGHT if side else ends_by_signal(pair))
        named = ": RDMA_CM_EVENT_ADDR_CHANGE" in run.err or SYNCHRONOUS in pair[side]
        assert how != "ADDR_CHANGE" or not any(run.statuses) or named, run.why()


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in CLIENTS_ALONE])
def test_a_server_is_told_to_stop_while_a_request_is_under_way(name: str) -> None:
    for number in range(1, 10):
        run = play(PAIRS[name], [], "--fail", f"0:ibv_post_send:{number}:SIGTERM")
        judge(PAIRS[name], run, 0, ends_by_signal(PAIRS[name]) | {0})


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("name", [name for name in PAIRS if "-ud" not in name])
def test_the_device_of_a_server_is_removed(name: str, transport: list[str]) -> None:
    """The device goes before a client has come, or when it comes: both programs end."""
    calls = calls_of(PAIRS[name], [], 0)
    for call in range(calls.index("rdma_bind_addr") + 1, calls.index("rdma_get_cm_event") + 2):
        run = play(PAIRS[name], transport, "--fail", f"0:{nth(calls, call)}:REMOVAL")
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1}, run.why()


PIPES = [name for name in PAIRS if "-ud" not in name and name != "memory"]


@pytest.mark.parametrize("name", PIPES)
def test_it_does_not_mind_a_broken_pipe(name: str) -> None:
    """soft-iWARP raises SIGPIPE."""
    for side in (0, 1):
        for run in happens_at(PAIRS[name], [], side, "SIGPIPE", 2):
            assert not any(run.statuses), run.why()


# The longest stay of a client whose server's host falls silent, in seconds: its own limit, and 7 of a disconnect request; where it
# has none, keepalives of 5 and 20. A device gives up after 16.
STAY_S = {"echo": 10 + 7, "loop": 10 + 25 + 7, "epoll": 10 + 7, "srq": 10 + 7, "store": 11 + 7, "stream": 25 + 16, "plain": 10 + 10}


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
@pytest.mark.parametrize("name", STAY_S)
def test_its_server_falls_silent(name: str, transport: list[str]) -> None:
    """A client that still waits for something says why it ends, and ends in time."""
    pair = PAIRS[name][:2]
    calls = calls_of(pair, transport, 1)
    connects = calls.index("rdma_connect") + 1
    for call in range(connects, connects + 16, 4):
        run = play(pair, transport, "--trace", "--fail", f"1:{nth(calls, call)}:SILENCE", "--patience", "200")
        ended = max(float(us) for us in re.findall(r"^\[ *([\d.]+) us\] 1\.", run.err, re.MULTILINE)) / 1e6
        assert 1 not in run.told and ended < STAY_S[name] + 1, f"it stays for {ended} s\n{run.command}"
        assert (run.statuses[1] == 1) == (ended > 9), f"it stays for {ended} s\n{run.command}"


@pytest.mark.parametrize("name, transport", [(name, TRANSPORTS[of]) for name in ("echo", "epoll", "srq", "store", "plain") for of in TRANSPORTS if (name, of) != ("store", "iWARP")])
def test_its_client_falls_silent(name: str, transport: list[str]) -> None:
    """A server notices that by itself, and keeps nothing of it for longer than the device's retries, or the silence and the
    answer of a keepalive take. A store sends none on iWARP."""
    run = play(PAIRS[name][:2], transport, "--trace", "--fail", "1:ibv_post_send:1:SILENCE", "--patience", "200")
    (gone,) = re.findall(r"^\[ *([\d.]+) us\] 0\.\d+ +\d+ rdma_destroy_qp", run.err, re.MULTILINE)
    assert re.search("_server: .*(keepalive|retry counter|silent|said nothing)", run.err) and float(gone) < 40e6, run.why()
