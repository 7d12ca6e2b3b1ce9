# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What options do: their defaults and largest numbers, what a program then posts, where it goes and whom it waits for, and limits
of the device, to the last entry."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, SIDES, TOP, simulate
from live.table import STAGES, Stage

BY_NAME = {stage.name: stage for stage in STAGES}
BUFFERS = 8
COUNT = 20


def pair_of(stage: Stage, client: str = "", server: str = "", agreed: str = f"-c {COUNT}") -> list[list[str]]:
    """The later one of two options counts."""
    common = ["-q"] if stage.name != "ping-ep-0" else []
    talks = stage.name == "talk-rdma-0"
    of_server = "" if stage.negotiates else agreed
    return [
        [f"{stage.folder}/server", *common, "-a", ADDRESS, *of_server.split(), *server.split()],
        [f"{stage.folder}/client", *common, "-a", ADDRESS, *("" if talks else agreed).split(), *client.split()],
    ]


# ---- Numbers: those that --help and an error tell ----

SHORT = "ping-sr-2 ping-sr-5 blast-sr-2 ping-srq-4 pubsub-rdma-1".split()  # in make check: the others take the same
NUMBERED = [
    pytest.param(stage, side, id=f"{stage}-{SIDES[side]}", marks=[] if stage.name in SHORT else [pytest.mark.long])
    for stage in STAGES
    if not stage.nine and stage.name != "ping-ep-0"
    for side in (0, 1)
]
OPTION = re.compile(r"^  (?:-\w, |    )(--[\w-]+) (?:N|BYTES|\w*SECONDS|PORT)\b.*?(?:\(default (\d[\w^]*)(?:;[^)]*)?\))?$", re.MULTILINE)


def numbers_of(stage: Stage, side: int) -> list[tuple[str, str]]:
    """The options of a side that take a number, and what --help says of their defaults."""
    argv = [f"{stage.folder}/{SIDES[side]}", "--help"]
    return OPTION.findall(subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=True).stdout)


def largest(stage: Stage, side: int, option: str) -> int:
    """As the program says when it is given too much."""
    argv = [f"{stage.folder}/{SIDES[side]}", "-a", ADDRESS, option, "9" * 25]
    said = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=False).stderr
    (most,) = re.findall(r" from \d+ to (\d+)", said)
    return int(most)


@pytest.mark.parametrize("stage, side", NUMBERED)
def test_the_defaults_are_those_that_help_tells(stage: Stage, side: int) -> None:
    """With one of them told, the run is the same, to the last call."""
    defaults = [(option, value) for option, value in numbers_of(stage, side) if value and option not in ("--port", "--count")]
    usual = simulate(pair_of(stage))
    assert not usual.exit and defaults, usual.why()
    for option, value in defaults:
        value = re.sub(r"(\d+)\^(\d+)", lambda found: str(int(found[1]) ** int(found[2])), value)
        words = f"{option} {value}"
        run = simulate(pair_of(stage, **{SIDES[side]: words}))
        assert run.hash == usual.hash, f"{words}\n{run.why()}"


@pytest.mark.parametrize("stage, side", NUMBERED)
def test_the_largest_numbers(stage: Stage, side: int) -> None:
    """A run ends as usual; or one line says that the device, or the memory, has less. One that would not end is told to."""
    for option, _ in numbers_of(stage, side):
        most = largest(stage, side, option)
        program = [] if option == "--port" else pair_of(stage, **{SIDES[side]: f"{option} {most}"})
        if option == "--port":
            program = pair_of(stage, f"-p {most}", f"-p {most}")
        endless = option == "--count"
        run = simulate(program, *(["--fail", "1:300:SIGINT"] if endless and side else []))
        assert run.exit not in OF_ITS_OWN and not run.left.replace("nothing", ""), run.why()
        less = re.search(rf"{option}|RDMA device|rxe0|memory", run.err)
        assert {*run.statuses} == {0} or less, f"{option} {most}\n{run.why()}"


# ---- What is posted ----


@dataclass(frozen=True)
class Posted:
    """How a side posts its sends."""

    stage: str
    side: int
    words: str
    inlined: int | None = None
    signaled: int | None = None
    chain: int | None = None  # the longest
    pieces: int | None = None
    device: str = "roce"

    def __str__(self) -> str:
        return f"{self.stage}-{SIDES[self.side]} {self.words} {self.device}"


POSTED = [
    Posted("ping-sr-2", 1, "-s 64", inlined=COUNT),
    Posted("ping-sr-2", 0, "-s 64", inlined=COUNT),
    Posted("ping-sr-2", 1, "-s 65", inlined=0),
    Posted("ping-sr-2", 1, "-s 64", inlined=COUNT, device="roce,max_inline=64,inline_piece=1"),
    Posted("ping-sr-2", 1, "-s 1", inlined=0, device="roce,max_inline=63"),  # as much as was asked for is not to be had
    Posted("ping-sr-2", 1, "-s 1", inlined=0, device="roce,max_inline=0"),
    Posted("blast-sr-2", 1, "-b 8 -s 100 --inline 100", inlined=COUNT),
    Posted("blast-sr-2", 1, "-b 8 -s 101 --inline 100", inlined=0),
    Posted("blast-sr-2", 1, "-b 8 -s 16 --inline 0", inlined=0),
    Posted("blast-sr-2", 1, "-b 8 -s 4095", signaled=COUNT // 2),  # of each -b / 4
    Posted("blast-sr-2", 1, "-b 8 -s 4096", signaled=COUNT),
    Posted("blast-sr-2", 1, "-b 8 --signal-every 1000", signaled=COUNT // BUFFERS),
    Posted("blast-sr-2", 1, "-b 7 --signal-every 3", signaled=COUNT // 3),
    Posted("blast-sr-2", 1, "-b 8 --chain 3", chain=3),
    Posted("blast-sr-2", 1, "-b 8", chain=BUFFERS),
    Posted("blast-sr-2", 1, "-s 200 --sge 3", pieces=3, device="roce,max_sge=3"),
    Posted("blast-sr-2", 1, "-s 2 --sge 3 --inline 0", pieces=2),
    Posted("blast-rdma-1", 1, "-b 8 --chain 3", chain=3),
]
REQUEST = r"^\[.*\] {side}\.\d+ +\d+ = request (\d+) of a chain: \d+ bytes in (\d+) pieces(, inline)?(, signaled)?$"


@pytest.mark.parametrize("row", POSTED, ids=str)
def test_what_is_posted(row: Posted) -> None:
    run = simulate(pair_of(BY_NAME[row.stage], row.words), "--trace", "--device", row.device)
    assert not run.exit, run.why()
    found = re.findall(REQUEST.format(side=row.side), run.err, re.MULTILINE)
    got = {
        "inlined": sum(bool(inline) for _, _, inline, _ in found),
        "signaled": sum(bool(signaled) for *_, signaled in found),
        "chain": max(int(place) for place, *_ in found),
        "pieces": max(int(pieces) for _, pieces, *_ in found),
    }
    assert all(getattr(row, name) in (None, value) for name, value in got.items()), got


@pytest.mark.parametrize("spin_us, sleeps", [(500000, False), (0, True)])
def test_how_long_it_looks_before_it_sleeps(spin_us: int, sleeps: bool) -> None:
    """For longer than any answer takes, or not at all: then it polls only before it arms the CQ, and behind."""
    client = json.loads(simulate(pair_of(BY_NAME["ping-sr-5"], f"-j --spin {spin_us}")).out)["cq"]
    assert bool(client["sleeps"]) == sleeps
    assert not sleeps or client["empty_polls"] <= 2 * client["sleeps"] + COUNT


@pytest.mark.parametrize("stage", ["pubsub-rdma-1", "pubsub-rdma-2"])
def test_a_record_of_a_wrong_size_is_wrong_usage(stage: str) -> None:
    run = simulate(pair_of(BY_NAME[stage], "-s 20"))
    assert run.statuses == [0, 2] and "a record has 32 to 1048576 bytes, and a multiple of 8 (-s)" in run.err, run.why()


@pytest.mark.parametrize("stage", ["ping-sr-1", "ping-sr-2", "ping-sr-4", "blast-sr-2"])
def test_the_device_of_the_server_takes_less(stage: str) -> None:
    """The server says whose option is wrong."""
    devices = ("--device", f"roce,name=small,address={ADDRESS},host=0,max_message=1024", "--device", f"roce,name=large,address={ADDRESS},host=1")
    run = simulate(pair_of(BY_NAME[stage], "-s 1025"), *devices)
    assert run.statuses[1] == 1 and "server: client refused: -s 1025 is more than small takes" in run.err, run.why()
    assert simulate(pair_of(BY_NAME[stage], "-s 1024"), *devices).statuses == [0, 0]


# ---- Where it goes, and how long it waits ----

TWO = ["--device", "roce,address=192.0.2.1,address=192.0.2.9,address=2001:db8:1::1"]
WAYS = "ping-sr-0 ping-sr-2 ping-sr-4".split()  # to wait for the connection manager


@dataclass(frozen=True)
class Row:
    """A pair, what is odd about it, and what comes of it. None: the program is not there."""

    client: str | None
    server: str | None
    statuses: list[int]
    said: str = ""
    lines: int = 1  # on stderr
    faults: str = ""
    least_ms: int = 0
    most_ms: int = 100

    def __str__(self) -> str:
        return f"{self.said or self.client} {self.faults}"


HERE = f"-a {ADDRESS}"
CM = [
    Row("-a 192.0.2.9+192.0.2.1", HERE, [0, 0], "trying the next address of 192.0.2.9+192.0.2.1", 2),
    Row("-a 192.0.2.7+192.0.2.1", HERE, [0, 0], "trying the next address of 192.0.2.7+192.0.2.1", 2),
    Row("-a 192.0.2.1+192.0.2.9 --timeout 5", "", [128 + 9, 1], "", 1, "0:ibv_post_send:5:SIGKILL", most_ms=30000),  # not the next one
    Row(HERE, "-a 192.0.2.7+192.0.2.1", [0, 0], "192.0.2.7:12321: no RDMA device serves this address"),
    Row(HERE, "", [0, 0], "", 0),
    Row(HERE, "", [0, 0], ": rdma_create_id: ", faults="0:rdma_create_id:2"),
    Row(HERE, "", [0, 0], ": rdma_bind_addr: ", faults="0:rdma_bind_addr:2"),
    Row(HERE, "", [0, 0], "another program listens there", faults="0:rdma_listen:2"),
    Row("-a 2001:db8:1::1", "", [0, 0], ": rdma_listen: ", faults="0:rdma_listen:1:ENOMEM"),
    Row(None, "", [1], ": rdma_create_id: ", faults="0:rdma_create_id:1"),
    Row(None, HERE, [1], "another program listens there", faults="0:rdma_bind_addr:1:EADDRNOTAVAIL"),
    Row(HERE, HERE, [0, 1], "our own port, which rdma_resolve_addr has chosen", faults="1:rdma_connect:1:EADDRINUSE", most_ms=10000),
    Row(f"{HERE} -w 2", None, [1], "start the server first, or let the client wait for it with -w", least_ms=2000, most_ms=2200),
    Row(f"{HERE} -w 9", None, [0], "", 0, "0:sleep:3:SIGTERM", most_ms=1000),
]


@pytest.mark.parametrize("row", CM, ids=str)
@pytest.mark.parametrize("name", WAYS)
def test_where_it_goes(name: str, row: Row) -> None:
    stage = BY_NAME[name]
    count = f"-q -c {COUNT}"
    server = [] if row.server is None else [[f"{stage.folder}/server", *count.split(), *row.server.split()]]
    client = [] if row.client is None else [[f"{stage.folder}/client", *count.split(), *row.client.split()]]
    faults = [word for fault in row.faults.split() for word in ("--fail", fault)]
    run = simulate([*server, *client], *TWO, *faults)
    told = [0] if row.statuses == [0, 1] else []
    assert run.statuses == row.statuses and row.said in run.err and run.err.count("\n") == row.lines, run.why()
    assert row.least_ms <= run.ms <= row.most_ms and run.told in ([], told), run.why()


def test_a_client_waits_for_a_server_that_is_not_up_yet() -> None:
    for name in WAYS:
        server, client = pair_of(BY_NAME[name], "-w 9")
        run = simulate([client, server])
        assert not run.exit and not run.err, run.why()


@pytest.mark.parametrize("option", ["-c 200", "-s 200", "-D 200"])
def test_a_server_says_which_options_do_not_matter(option: str) -> None:
    run = simulate([["ping-sr-2/server", *option.split(), *HERE.split()], ["ping-sr-2/client", "-q", *HERE.split()]])
    assert not run.exit and "do not matter here" in run.err, run.why()


def test_a_receiver_is_as_slow_as_it_is_told() -> None:
    run = simulate(pair_of(BY_NAME["blast-sr-2"], "", "--sleep 100000"))
    assert not run.exit and COUNT * 100 <= run.ms <= COUNT * 100 + 100, run.why()


# ---- Limits of the device ----

# What may be under way, and one less. Of a ping: a message and the receive of the next; of a stream: a send and a receive of
# credits for each buffer. The exchange of a one-sided stage: two messages each way. And a keepalive, where there is one.
EXCHANGE = 2
STREAM_WRS = BUFFERS + EXCHANGE + 1
FEW = {"max_qp_wr": 3 + EXCHANGE + 1, "max_cqe": 3 + EXCHANGE + 1 + EXCHANGE}  # talk-rdma-0: a text, its mark and a READ
TOO_MANY = f"{BUFFERS} buffers (-b) are more than rxe0 takes: {BUFFERS - 1}, because "
LIMITS = [
    ("ping-sr-0", "", {"max_qp_wr": 1, "max_cqe": 2}, "max_cqe", 1, "CQs of 1 entries"),
    ("ping-sr-3", "", {"max_qp_wr": 2, "max_cqe": 3}, "max_cqe", 1, "CQs of 2 entries"),
    ("ping-sr-4", "", {"max_qp_wr": 2, "max_cqe": 3}, "max_cqe", 1, "CQs of 2 entries"),
    ("blast-sr-2", "-b 8", {"max_qp_wr": BUFFERS + 1, "max_cqe": 2 * BUFFERS + 1}, "max_cqe", 2, TOO_MANY),
    ("blast-sr-2", "-b 8", {"max_qp_wr": BUFFERS + 1, "max_cqe": 2 * BUFFERS + 1}, "max_qp_wr", 2, TOO_MANY),
    ("blast-rdma-1", "-b 8", {"max_qp_wr": STREAM_WRS, "max_cqe": STREAM_WRS + EXCHANGE}, "max_cqe", 2, TOO_MANY),
    ("blast-rdma-1", "-b 8", {"max_qp_wr": STREAM_WRS, "max_cqe": STREAM_WRS + EXCHANGE}, "max_qp_wr", 2, TOO_MANY),
    *((name, "", FEW, "", 0, "") for name in "ping-rdma-1 ping-rdma-2 ping-rdma-3 pubsub-rdma-2 talk-rdma-0".split()),
    ("blast-sr-2", "--sge 3", {"max_sge": 3}, "max_sge", 2, "--sge 3 is more than rxe0 takes: 2"),
    ("ping-sr-0", "-s 200", {"max_message": 200}, "max_message", 2, "-s 200 is more than rxe0 takes: at most 199 bytes"),
    ("blast-sr-2", "-s 200", {"max_message": 200}, "max_message", 2, "-s 200 is more than rxe0 takes: at most 199 bytes"),
    ("ping-rdma-1", "-s 200", {"max_message": 200}, "max_message", 2, "-s 200 is more than rxe0 takes: at most 199 bytes"),
]


def on(limits: dict[str, int]) -> list[str]:
    """A device with these."""
    return ["--device", ",".join(["roce,rounds_wr=0,rounds_cq=0", *(f"{name}={value}" for name, value in limits.items())])]


@pytest.mark.parametrize(
    "name, words, limits, limit, status, said", [pytest.param(*row, id=f"{row[0]} {row[1]} {row[3]}") for row in LIMITS]
)
def test_a_limit(name: str, words: str, limits: dict[str, int], limit: str, status: int, said: str) -> None:
    """Exactly what is needed does; one less is reported once, by the side that meets it, and not tried again."""
    agreed = f"-c {COUNT} {words if words.startswith('-s') else ''}"
    run = simulate(pair_of(BY_NAME[name], words, agreed=agreed), *on(limits))
    assert not run.exit and not run.err, run.why()
    if limit:
        twice = f"-a {ADDRESS}+{ADDRESS}" if status == 2 else ""
        server, client = pair_of(BY_NAME[name], f"{words} {twice}", agreed=agreed)
        of_server = [server, client] if BY_NAME[name].negotiates else [server] if status == 2 else [client]
        for programs in ([client], of_server):
            run = simulate(programs, *on({**limits, limit: limits[limit] - 1}))
            assert status in run.statuses or "refused us" in run.err, run.why()
            assert run.err.count(said) == 1, run.why()


LESS = [
    ("ping-sr-3", "-s 200", "-s 100", "max_message=100", "-s 200 is more than rxe0 takes: at most 100 bytes", "messages of 1 to 100 bytes (-s)"),
    ("ping-rdma-1", "-s 200", "-s 100", "max_message=100", "-s 200 is more than rxe0 takes: at most 100 bytes", "messages of 1 to 100 bytes (-s)"),
    ("blast-sr-2", "-b 10", "-b 9", "max_qp_wr=9", "10 buffers (-b) are more than rxe0 takes: 9, because ", "1 to 9 buffers (-b)"),
    ("blast-sr-2", "-b 10", "-b 9", "max_cqe=18", "10 buffers (-b) are more than rxe0 takes: 9, because ", "1 to 9 buffers (-b)"),
]


@pytest.mark.parametrize("name, words, less, limit, said, told", LESS)
def test_an_agent_refuses_what_its_device_has_not(name: str, words: str, less: str, limit: str, said: str, told: str) -> None:
    """The devices of the clients have it. One that asks for less is served."""
    (server, client), (_, modest) = pair_of(BY_NAME[name], words, "-n 1"), pair_of(BY_NAME[name], f"-v {less}")
    devices = [f"roce,host=0,rounds_wr=0,rounds_cq=0,{limit}", "roce,host=1", "roce,host=2"]
    later = ["build/tests/sim/programs", "later", "100", *modest]
    run = simulate([server, client, later], *(word for device in devices for word in ("--device", device)))
    assert run.statuses == [0, 1, 0] and not run.told and run.err.count(said) == 1 and run.err.count(told) == 1, run.why()


def test_a_server_asks_for_more_than_its_device_has() -> None:
    server, client = pair_of(BY_NAME["blast-sr-2"], "", "--sge 3")
    run = simulate([server, client], "--device", "roce,max_sge=2")
    assert run.statuses[0] == 2 and run.err.count("--sge 3 is more than rxe0 takes: 2") == 1, run.why()
    assert "client refused" not in run.err and "refused us" not in run.err, run.why()


@pytest.mark.parametrize("words", ["-s 2g", "-b 1000000", "--sge 100"])
def test_a_client_asks_for_more_than_any_device_has(words: str) -> None:
    run = simulate([["blast-sr-2/client", *HERE.split(), *words.split()]])
    assert run.statuses == [2] and " more than rxe0 takes: " in run.err and run.err.count("\n") == 1, run.why()
