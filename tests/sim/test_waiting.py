# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Waiting that takes minutes or hours, which here take none: peers that fall silent, keepalives and what may become of one,
signals that come twice, and rates.

To add a row, say what the other side does (options of tests/peer), what the program says, and when it has ended.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, SIDES, TRANSPORTS, Run, calls_of, each_stage, nth, simulate
from sim.simulation import pair as two_of
from live.table import STAGES, Stage

wire: Callable[[Stage], str] = importlib.import_module("live.test_odd_peers").wire
LEFT = 121
TRACED = re.compile(r"^\[ *([\d.]+) us\] (\d+)\.\d+ +(\d+) +(\w+)(\(.*)?$", re.MULTILINE)
ASLEEP = "ping-sr-3 ping-sr-4 ping-sr-5 ping-srq-4"
WATCHES = f"ping-sr-2 {ASLEEP}"
BLIND = "ping-sr-0 ping-sr-1 ping-sr-2e"
FIRST_WORD = "ping-rdma-1 ping-rdma-2 ping-rdma-3 blast-rdma-1 pubsub-rdma-1 pubsub-rdma-2"
# The number of keepalives, by the README of ping-sr-2: none after a period in which messages came, nor when the peer leaves.
NEVER, HOUR = {"RoCE": 0, "iWARP": 0}, {"RoCE": 3600 // 5 - 2, "iWARP": 3600 // 15 - 1}


@dataclass(frozen=True)
class Wait:
    """A program, with another one that is odd."""

    what: str
    stages: str
    peer: str
    options: str
    said: str = ""  # the only text that it prints; empty: it prints nothing
    sides: str = "server client"
    status: int = 1  # a client's exit status; a server's is 0
    least_s: float = 0  # seconds until it disconnects, or until its last call
    most_s: float = 1e9
    asked: dict[str, int] = field(default_factory=dict)  # the number of keepalives
    transports: str = "RoCE iWARP"


def rows(waits: list[Wait]) -> pytest.MarkDecorator:
    """Each wait over its transports."""
    return pytest.mark.parametrize(
        "wait, stage, side, transport",
        [
            pytest.param(wait, stage, side, transport, id=f"{stage}-{side}-{transport}-{wait.what.replace(' ', '-')}")
            for wait in waits
            for stage in STAGES
            if stage.name in wait.stages.split()
            for side in wait.sides.split()
            for transport in wait.transports.split()
        ],
    )


def programs(wait: Wait, stage: Stage, side: str) -> list[list[str]]:
    """The server, and the client."""
    agreed = "" if side == "server" and stage.negotiates else "-c 20" if stage.one_sided else "-c 20 -s 64"
    program = f"{stage.folder}/{side} -a {ADDRESS} {agreed} {wait.options}".split()
    peer = f"build/tests/peer --{'client' if side == 'server' else 'server'} -a {ADDRESS} {'' if '--stage' in wait.peer else wire(stage)} {wait.peer}".split()
    return [program, peer] if side == "server" else [peer, program]


def calls(run: Run, number: int) -> list[tuple[float, int, str]]:
    """Returns the calls of a program in a run with --trace: time, number (0: not counted), and name of each."""
    found = [found for found in TRACED.findall(run.err) if int(found[1]) == number]
    return [(float(us) / 1e6, 0 if arguments else int(call), name) for us, _, call, name, arguments in found]


def said_by(run: Run, stage: Stage, side: str) -> list[str]:
    """Returns the output of a program without the greeting."""
    return [line for line in re.findall(rf"^{stage}/{side}: (.*)$", run.err, re.MULTILINE) if not line.startswith("listening on ")]


def judge(wait: Wait, run: Run, stage: Stage, side: str) -> None:
    """Checks everything of a run but its time."""
    number = int(side == "client")
    assert run.exit not in {*OF_ITS_OWN} - {LEFT} and f"of program {number}" not in run.left, run.why()
    assert run.statuses[number] == (wait.status if number else 0), run.why()
    lines = said_by(run, stage, side)
    assert wait.said in "\n".join(lines) and len(lines) == bool(wait.said), lines


SILENCE = [
    Wait("goes on for an hour", ASLEEP, "--silent-after 3 --timeout 3600", "-q --timeout 7000", " left after 3 messages", least_s=3600, asked=HOUR),
    Wait("gives up after a minute", f"{BLIND} {ASLEEP} blast-sr-2", "--silent-after 3 --timeout 100", "-q",
         " said nothing for 60 s, after ", sides="server", least_s=60, most_s=63),
    Wait("gives up if nobody says the first word", FIRST_WORD, "--stage 1 -c 20 -s 64 --silent-after 0 --timeout 100", "-q",
         " said nothing for 60 s, after 0 messages", sides="server", least_s=60, most_s=63, transports="RoCE"),
    Wait("gives up although it still sends", "blast-sr-2", "--silent-after 3 --timeout 100", "-q --timeout 29 --rate 1",
         " said nothing for 29 s, after ", sides="client", least_s=29, most_s=40),
    Wait("asks more often if it is told so", ASLEEP, "--silent-after 3 --timeout 40", "-q --timeout 29 --keepalive 1",
         " said nothing for 29 s, after 3 messages", asked={"RoCE": 29 - 2, "iWARP": 29 // 3}, least_s=29, most_s=31),
    Wait("asks nobody if it is told so", ASLEEP, "--silent-after 3 --timeout 40", "-q --timeout 12 --keepalive 0",
         " said nothing for 12 s, after 3 messages", asked=NEVER),
    Wait("asks nobody who may READ", "ping-rdma-1 ping-rdma-2", "--silent-after 3 --timeout 40", "-q --timeout 29",
         " said nothing for 29 s, after ", sides="server", asked=NEVER, transports="iWARP"),
    Wait("asks nobody who writes to it", "pubsub-rdma-2", "--silent-after 0 --timeout 70", "-q --timeout 59",
         " said nothing for 59 s, after ", sides="client", asked=NEVER, transports="iWARP"),
    Wait("says nothing when it is to be quiet", "ping-sr-0", "--silent-after 10 --timeout 40", "-q --timeout 29",
         " said nothing for 29 s, after ", least_s=29, most_s=31),
    # The other side answers no disconnect request, which is repeated, and then given up; on iWARP its kernel does.
    Wait("does not wait forever when it leaves", f"{BLIND} {WATCHES}", "--silent-after 20 --timeout 60", "-q", sides="client", status=0,
         most_s=30, least_s=5, transports="RoCE"),
    Wait("stays until its request was repeated twice", WATCHES, "--silent-after 20 --timeout 60", "-q", sides="client", status=0, least_s=13,
         transports="RoCE"),
]  # fmt: skip


@rows(SILENCE)
def test_silence(wait: Wait, stage: Stage, side: str, transport: str) -> None:
    run = simulate(programs(wait, stage, side), *TRANSPORTS[transport], "--trace")
    made = calls(run, int(side == "client"))
    judge(wait, run, stage, side)
    ended_s = made[-1][0] if not wait.said else max(s for s, _, name in made if name == "rdma_disconnect")
    assert wait.least_s <= ended_s <= wait.most_s, ended_s
    if wait.asked:
        asked = sum(name == "ibv_post_send" and s > 0.5 for s, _, name in made)
        # A keepalive that comes early is within the period in which the last message came.
        assert asked in (wait.asked[transport], wait.asked[transport] + bool(wait.asked[transport])), asked


@rows(
    [
        Wait(f"loses its host in silences of {s} s", stages, "--silent-after 3 --timeout 190", f"-q --timeout 180 --keepalive {s}", sides="server", transports="iWARP", least_s=4 * s + 20)
        for s, stages in ((1, ASLEEP), (30, "ping-sr-3"))
    ]
)
def test_how_long_an_answer_to_a_keepalive_may_take(wait: Wait, stage: Stage, side: str, transport: str) -> None:
    """After four such times (three of silence, and one in which a message came) the keepalive is sent, and its answer may take 20 s."""
    run = simulate(programs(wait, stage, side), *TRANSPORTS[transport], "--trace", "--fail", "1:ibv_post_send:3:SILENCE")
    (said,) = said_by(run, stage, side)
    ended_s = max(s for s, _, name in calls(run, 0) if name == "rdma_disconnect")
    assert "not answered to a keepalive for 20 s" in said and abs(ended_s - wait.least_s) < 0.1, (ended_s, said)


@rows([Wait("asks for a READ of no bytes", "ping-sr-3", "--silent-after 3 --timeout 40", "-q --timeout 29", transports="iWARP")])
def test_a_keepalive_needs_no_right(wait: Wait, stage: Stage, side: str, transport: str) -> None:
    run = simulate(programs(wait, stage, side), *TRANSPORTS[transport], "--strict", "--trace")
    assert "completion RDMA_READ, status 0" in run.err and "READ over iWARP" not in run.wrong, run.why()


# ---- Something happens as a keepalive is sent --------------------------------------------------------------

SILENT = "--silent-after 3 --timeout 40"
STRUCK = {  # the option --fail: what a program says then, and the status of a client and of a server
    "": ("ibv_post_send: ", 1, 1),
    ":RETRY_EXC_ERR": ("completion of the keepalive with wr_id 0x4000000000000000", 1, 0),
    ":REM_OP_ERR": ("--keepalive 0", 1, 0),
    ":LOC_PROT_ERR": ("soft-iWARP gives a wrong answer to a keepalive", 1, 1),
    ":PORT_ERR": ("port 1: its link is down (IBV_EVENT_PORT_ERR)", 1, 0),
    ":DEVICE_FATAL": ("the device has failed or is being removed (IBV_EVENT_DEVICE_FATAL)", 1, 1),
    ":GID_CHANGE": (" said nothing for 32 s, after 3 messages", 1, 0),
    ":REMOVAL": ("DEVICE", 1, 1),  # this side sees _FATAL or _REMOVAL, whichever it hears first
}  # fmt: skip
GO_ON = (":PORT_ERR", ":GID_CHANGE")
GENERAL = (":RETRY_EXC_ERR", ":REM_OP_ERR")  # a general error to soft-iWARP's library, which has no status for them


@pytest.mark.parametrize("how", STRUCK)
@rows([Wait("is struck in silence", "ping-sr-3 ping-sr-4", SILENT, "-q --timeout 32", sides="server client")])
def test_struck_in_silence(wait: Wait, stage: Stage, side: str, transport: str, how: str) -> None:
    number, both = int(side == "client"), programs(wait, stage, side)
    quiet = calls(simulate(both, *TRANSPORTS[transport], "--trace"), number)
    keepalive = next((call for s, call, name in quiet if name == "ibv_post_send" and s > 0.5))
    run = simulate(both, *TRANSPORTS[transport], "--fail", f"{number}:{keepalive}{how}")
    said, *statuses = STRUCK[":LOC_PROT_ERR" if transport == "iWARP" and how in GENERAL else how]
    lines = said_by(run, stage, side)
    assert run.exit not in {*OF_ITS_OWN} - {LEFT} and f"of program {number}" not in run.left, run.why()
    assert run.statuses[number] == statuses[1 - number], run.why()
    assert said in "\n".join(lines) and (" said nothing for 32 s" in "\n".join(lines)) == (how in GO_ON), lines


@pytest.mark.parametrize("stage, dies", [("ping-rdma-3", 0), ("ping-rdma-3", 1), ("pubsub-rdma-2", 0)])
def test_a_host_falls_silent_after_it_has_written(stage: str, dies: int) -> None:
    """No completion tells of what a peer writes; a write that has come is no reason not to ask later."""
    server = f"beyond/{stage}/server -q --timeout 0 -a {ADDRESS}".split()
    client = f"beyond/{stage}/client -q --timeout 0 -c 200 --rate 2 -a {ADDRESS}".split()
    run = simulate([server, client], "--fail", f"{dies}:ibv_post_send:12:SILENCE")
    (said,) = [line for line in run.err.splitlines() if line.startswith(f"{stage}/{SIDES[1 - dies]}: ")]
    assert "completion of the keepalive" in said and run.ms < 40_000 and not run.reason, run.why()


# ---- Told to stop, and again ------------------------------------------------------------------------------


STAYS = "-q --timeout 90"


def leaves_s(run: Run, number: int) -> float:
    """When this program has ended; it was to be told to stop, as its peer may have been: that is no exit status to look at."""
    assert not run.reason and run.statuses[number] == 0 and "nothing for" not in run.err, run.why()
    return calls(run, number)[-1][0]


@rows([Wait("is told to stop", f"ping-sr-2e {WATCHES}", "--silent-after 3 --timeout 60", STAYS, transports="RoCE")])
def test_it_leaves_at_once_when_it_is_told_again(wait: Wait, stage: Stage, side: str, transport: str) -> None:
    """The other side does not answer its disconnect request, which may be lost, and is repeated after some seconds. The
    simulation tells all programs to stop when its patience ends, or at the next event: a keepalive at 10 s."""
    number, both, patience = int(side == "client"), programs(wait, stage, side), ("--trace", "--patience", "9")
    once = simulate(both, *patience)
    before = next(call for s, call, _ in calls(once, number) if call and 4 < s < 9)
    assert 9 + 6 < leaves_s(once, number) < 10 + 8
    assert 9 <= leaves_s(simulate(both, *patience, "--fail", f"{number}:{before}:SIGINT"), number) < 11


def test_a_busy_thread_does_not_hold_up_its_peer() -> None:
    """The agent sleeps for 3 s after each message; its CM thread answers the client's disconnect, which the client waits for."""
    server, client = "blast-sr-2/server -q --sleep 3000000 -a", "blast-sr-2/client -q -c 60 -b 4 -a"
    run = simulate([[*server.split(), ADDRESS], [*client.split(), ADDRESS]], "--trace", "--fail", "1:ibv_poll_cq:10:SIGTERM")
    assert run.fault and leaves_s(run, 1) < 1, run.why()


@rows([Wait("is told to stop", f"{BLIND} {WATCHES}", "--silent-after 20 --timeout 60", STAYS, sides="server", transports="RoCE")])
def test_it_does_not_wait_for_a_client_that_stays(wait: Wait, stage: Stage, side: str, transport: str) -> None:
    """The server ends when the last answer is on its way."""
    both = programs(wait, stage, side)
    last = max(call for s, call, _ in calls(simulate(both, "--trace"), 0) if s < 1)
    assert leaves_s(simulate(both, "--trace", "--fail", f"0:{last}:SIGTERM"), 0) < 11


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@each_stage
def test_one_that_is_stopped_and_goes_on(stage: Stage, transport: list[str], side: int, tmp_path: Path) -> None:
    """Three times, for longer than a keepalive may take, and in all for longer than a peer may be silent: nothing is lost."""
    programs = two_of(stage, 20)
    (tmp_path / "steps").write_text(f"wait 25\nsignal {side} SIGCONT\n" * 3)
    names = calls_of(programs, side, *transport)
    first, last = names.index("ibv_poll_cq"), len(names) - 12
    stops = [word for part in (1, 2, 3) for word in ("--fail", f"{side}:{nth(names, first + (last - first) * part // 4)}:SIGSTOP")]
    run = simulate(programs, *transport, *stops, "--steps", str(tmp_path / "steps"))
    assert not run.exit and not any(run.statuses) and run.ms >= 75000, run.why()


RATED = [stage for stage in STAGES if not stage.nine and stage.name not in ("ping-ep-0", "talk-rdma-0")]


@pytest.mark.parametrize("stage", RATED, ids=str)
@pytest.mark.parametrize("limits", [("2", "1"), ("2", "2"), ("0", "1")], ids="-".join)
def test_a_pause_between_messages_is_no_silence(stage: Stage, limits: tuple[str, str]) -> None:
    """One message a second; the server, if it sees them, and the client wait no longer than this for the next."""
    server, client = two_of(stage, 4)
    run = simulate([[*server, "--timeout", limits[0] if stage.agent_sees else "0"], [*client, "--rate", "1", "--timeout", limits[1]]])
    assert not any(run.statuses) and not run.exit and run.ms > 2900, run.why()
