# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Whom a server admits, and what its clients share: places, memory, and receives of a pool. A row has its clients, and what
becomes of each.

Contract: {a} is the server's address; a server ends by itself unless its row says that it is told to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, TRANSPORTS, Run, simulate

LEFT = 121
SECOND = "192.0.2.2"
TWO_DEVICES = ("--device", f"roce,name=one,address={ADDRESS}", "--device", f"roce,name=two,address={SECOND}")


@dataclass(frozen=True)
class Row:
    """A server, and its clients."""

    what: str
    server: str
    clients: tuple[str, ...]
    statuses: tuple[int, ...]  # of the clients
    said: str = ""  # by the server, or a client,
    times: int = 1  # so often
    never: str = "\0"
    fault: str = ""  # option --fail, at a call by name
    status: int = 0  # of the server
    told: bool = False  # it serves until it is told to stop
    transports: str = "RoCE iWARP"
    options: tuple[str, ...] = ()  # of verbs-sim
    steps: str = ""  # of the run, separated by |


def client(stage: str, how: str = "-q -v -c 20 -s 64") -> str:
    """Of a stage."""
    return f"{stage}/client {how} -a {{a}}"


def later(s: int, program: str) -> str:
    """After so many seconds, when others have come, or gone."""
    return f"build/tests/sim/programs later {s} {program}"


COUNT = "beyond/count-atomic-1"
SRQ, LONG = "beyond/ping-srq-4", "-q -v -c 20 -s 64 --rate 5"
FULL = "refused us: it is busy: it was to serve 1 clients (-n)"
SENDS = "build/tests/peer --client --stage 0 -s 64 -a {a}"
SILENT = "build/tests/peer --client --stage 1 -s 64 -c 20 --silent-after 3 -a {a}"
ROWS = [
    # Places.
    *(
        Row(f"{stage} refuses who has come at the same time", f"{stage}/server -q -n 1", (client(stage, LONG),) * 4, (0, 1, 1, 1), FULL, 3)
        for stage in ("ping-sr-2", "ping-sr-3", "ping-sr-4", SRQ)
    ),
    *(
        Row(f"{stage} gives the place of one that failed to the next", f"{stage}/server -q -n 1 --max-clients 1",
            (client(stage), later(1, client(stage))), (1, 0), "rdma_create_qp", fault="0:rdma_create_qp:1", status=1)
        for stage in ("ping-sr-2", "ping-sr-4", "blast-sr-2", SRQ)
    ),
    Row("gives it to the next at once, although another is served", "ping-sr-2/server -q -n 2",
        (client("ping-sr-2", LONG), later(1, client("ping-sr-2")), later(2, client("ping-sr-2", "-q -c 20 --timeout 1"))), (0, 1, 0), "rdma_create_qp",
        fault="0:rdma_create_qp:2", status=1, transports="RoCE"),
    Row("ping-sr-5 goes on when it could not measure its wake-up", "ping-sr-5/server -q -n 1",
        (client("ping-sr-5"), later(1, client("ping-sr-5"))), (1, 0), "pthread_create", fault="0:pthread_create:4", status=1),
    # It is told to stop, and waits for a client that does not answer.
    *(
        Row(f"{stage} takes no more clients while it leaves", f"{stage}/server -q -n 0 --timeout 90", (f"{SILENT} {how}", later(2, client(stage, "-q -c 20"))),
            (0, 1), "refused us: it is leaving", steps="wait 1|signal 0 SIGTERM", transports="RoCE")
        for stage, how in (("ping-sr-2", ""), ("ping-sr-3", ""), ("ping-sr-4", ""), ("ping-sr-5", ""), (SRQ, ""), ("blast-sr-2", "--blast"))
    ),
    # Memory, of which it names how much there is.
    *(
        Row(f"{stage} has too little memory for one", f"{stage}/server -q -n 1 --max-memory 8k",
            (client(stage, "-q -c 20 -s 64k"), later(1, client(stage))), (1, 0), " bytes of memory, and 8192 of 8192 are left")
        for stage in ("ping-sr-1", "ping-sr-2", "ping-sr-4")
    ),
    Row("its pool takes too much memory", f"{SRQ}/server -q --max-memory 1m", (client(SRQ),) * 2, (1, 1),
        "client refused: the pool would take ", 2, told=True),
    # Receives.
    Row("has receives for one at a time", f"{SRQ}/server -q -n 2 --pool 2", (client(SRQ, LONG), later(1, client(SRQ)), later(10, client(SRQ))), (0, 1, 0),
        "on iWARP each client needs 2 receives of the pool, and 2 are for 1 clients (--pool)", transports="iWARP"),
    Row("is told that each of two pools is low", f"{SRQ}/server -n 12 --pool 8 -a 0.0.0.0",
        (client(SRQ),) * 6 + (client(SRQ).replace("{a}", SECOND),) * 6, (0,) * 12, "the pool of 8 receives on ", 2,
        transports="RoCE", options=TWO_DEVICES),
    Row("does not count down one that never came", f"{COUNT}/server -n 2",
        (client(COUNT, "-q -c 20 --rate 5"), later(1, client(COUNT, "-q -c 20")), later(10, client(COUNT, "-q -c 20"))), (0, 1, 0),
        "counted to 40, and the clients' counts add up to 40", never=", without", fault="0:rdma_accept:2", status=1, transports="RoCE"),
    Row("has an option that its device cannot do", "blast-sr-2/server -q --sge 3 -a 0.0.0.0", (client("blast-sr-2"),) * 2, (1, 1),
        "--sge 3 is more than rxe0 takes: 2", 2, status=1, told=True, transports="RoCE", options=("--device", "roce,max_sge=2")),
    Row("counts what it has sent", "build/examples/srq_server {a}", (f"{SENDS} -c 400 --silent-after 300 --timeout 20",), (0,),
        never="does not take its messages", told=True),
    Row("keeps who takes its messages when others keep its buffers", "build/examples/srq_server {a}",
        (f"{SENDS} --greedy 8 --silent-after 0 --timeout 20",) * 34 + ("build/examples/echo_client {a} 12321 46000 4096",), (0,) * 35,
        "a client does not take its messages", 34, told=True, transports="RoCE"),
    Row("takes no block that is longer than its memory", "build/examples/write_server {a}", (SENDS.replace("64", "4 -c 1"),), (1,),
        "write_server: a block cannot have ", status=1),
]  # fmt: skip


@pytest.mark.parametrize(
    "row, transport",
    [pytest.param(row, TRANSPORTS[one], id=f"{one}-{row.what.replace(' ', '-')}") for row in ROWS for one in row.transports.split()],
)
def test_a_server_that(row: Row, transport: list[str], tmp_path: Path) -> None:
    server = row.server if "{a}" in row.server or "-a " in row.server else f"{row.server} -a {{a}}"
    programs = [program.format(a=ADDRESS).split() for program in (server, *row.clients)]
    (tmp_path / "steps").write_text(row.steps.replace("|", "\n") + "\n")
    how = [*(["--fail", row.fault] if row.fault else []), *(["--steps", str(tmp_path / "steps")] if row.steps else [])]
    run: Run = simulate(programs, *(row.options or transport), *how)
    assert run.exit not in {*OF_ITS_OWN} - {LEFT} and "of program 0" not in run.left, run.why()
    clients = run.statuses[1:] if len({*row.clients}) > 1 else sorted(run.statuses[1:])  # it is open which of equal ones comes first
    assert [run.statuses[0], *clients] == [row.status, *row.statuses] and run.told == [0] * row.told, run.why()
    assert run.err.count(row.said) == row.times or not row.said, run.why()
    assert row.never not in run.err, run.why()


def test_too_many_clients_wait() -> None:
    """The only one that is wanted says nothing: one more than the server keeps in mind, and it may serve a thousand at a time."""
    server, silent, waits = (program.format(a=ADDRESS).split() for program in ("ping-sr-2/server -q -n 1 -a {a}", client("ping-sr-2"), later(1, client("ping-sr-2"))))
    run = simulate([server, silent, *[waits] * 65], "--fail", "1:rdma_get_cm_event:3:SILENCE")
    assert run.err.count("refused us: it is busy: too many clients wait to be served") == 1, run.why()
    assert "--max-clients" not in run.err and run.statuses[0] == 0, run.why()


MOVES = re.compile(r"^\[ *[\d.]+ us\] 0\.\d+ +\d+ (?:(ibv_post_srq_recv)|(= completion RECV)|(ibv_modify_srq))\b", re.MULTILINE)


@pytest.mark.parametrize("pool", [5, 6, 16])
@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_the_limit_of_a_pool(pool: int, transport: list[str]) -> None:
    """A quarter of the receives: it is set anew as soon as twice as many are posted, but for a completion that the server has
    polled and not looked at yet. Over iWARP no more clients come than there are pairs of receives."""
    limit, clients = (pool + 3) // 4, pool // 2 if transport else pool
    programs = [f"{SRQ}/server -n {clients} --pool {pool} -a {ADDRESS}", *[f"{client(SRQ)} -w 9".format(a=ADDRESS)] * clients]
    run = simulate([program.split() for program in programs], *transport, "--trace")
    assert not run.exit, run.why()
    posted, armed = 0, []
    for post, receive, _ in MOVES.findall(run.err):
        posted += bool(post) - bool(receive)
        armed += [posted] if not post and not receive else []
    times = sum(map(int, re.findall(r" was low (\d+) times", run.err)))
    assert armed[0] == pool and min(armed) >= 2 * limit - 1, armed
    assert len(armed) - 1 <= times <= len(armed) and (times > 1 or transport), (times, armed)


@pytest.mark.parametrize("stage", ["ping-sr-0", "ping-sr-2", "ping-sr-4"])
def test_a_second_server_of_all_addresses(stage: str) -> None:
    """It does not listen on those of IPv6 alone, where nobody else does."""
    run = simulate([[f"{stage}/server", "-a", "0.0.0.0"], [f"{stage}/server"]])
    assert run.statuses == [0, 1] and "another program listens there" in run.err and run.err.count("listening on") == 1, run.why()


@pytest.mark.parametrize("stage", ["ping-sr-0", "ping-sr-4"])
@pytest.mark.parametrize("address", ["192.0.2.9", "2001:db8::9", "::1"])
def test_an_address_that_no_device_serves(stage: str, address: str) -> None:
    run = simulate([[f"{stage}/server", "-a", address]], "--device", f"roce,address={ADDRESS}")
    assert run.statuses == [1] and "no RDMA device serves this address" in run.err, run.why()
