# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Hostile bytes: each message that a server or its client receives arrives once with each word of its first 64 bytes changed, and
shorter, and longer. The program has AddressSanitizer, and ends by itself; it says in one line what is wrong, and
the next client is served.

Contract: the server of a row has two clients, one after the other, and the messages of the first are changed.
To add a pair, add it to PAIRS; a server of test_crowd.py is there already.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass

import pytest
from live.table import Stage
from sim.simulation import ADDRESS, SIDES, TOP, TRANSPORTS, Run, read, simulate
from sim.simulation import ROWS as STAGES
from sim.simulation import pair as pair_of
from sim.test_crowd import CROWDS

SANITIZED = "build/tests/sanitized"
LATER = "build/tests/sim/programs later 60"
RESULTS = re.compile(r"listening|\d+ (lines|messages|blocks|clients)|the other side has no more to say")
REPORT = re.compile(r"Sanitizer|runtime error")
STREAMED = "<tools/verbs-sim/Makefile"


@dataclass(frozen=True)
class Pair:
    """A server and a client of it; {a} is the server's address."""

    server: str
    client: str
    again: bool = True  # the server serves more than one client
    transports: str = "RoCE iWARP"
    words: int = 1  # lines, at most, in which a program says what is wrong
    waits: bool = False  # the two wait for each other if the mark of the end is no longer one: an input may pause


def stage(name: str, server: str = "-q -n 0", client: str = "-q -v -c 2 -s 16", **how: object) -> Pair:
    """A pair of a stage that is not among the crowds."""
    return Pair(f"{name}/server {server} -a {{a}}", f"{name}/client {client} -a {{a}}", **how)  # type: ignore[arg-type]


def few(client: str) -> str:
    """Returns the options of this client with few, small messages; it waits for a silent peer no longer than its server does."""
    if "pubsub" not in client:  # its server has records of 64 bytes
        client = client.replace("-s 64", "-s 16")
    client = client.replace("-w 90", "--timeout 5").replace(" --lock", "")  # it has a pair of its own
    return re.sub("-c (20|100)", "-c 2", client.replace("12321 20", "12321 2"))


# A count is wrong, and so is the sum of all; the server has left, and why it had to.
TWO_FACTS = ("count-atomic-1", "plain/echo_server")
PAIRS = {
    **{name: Pair(crowd.server.replace("-c 20 -s 64", "-c 2 -s 16"), few(crowd.honest), transports="RoCE" if crowd.roce_only else "RoCE iWARP", words=1 + (name in TWO_FACTS)) for name, crowd in CROWDS.items()},
    # A client that does not learn that it has got the lock leaves with it: the server says so, and nobody else is served.
    "count-atomic-1 --lock": stage("beyond/count-atomic-1", "-q -n 0 --timeout 5", "-q -v -c 2 --lock --timeout 5", again=False, transports="RoCE", words=3),
    "ping-ep-0": Pair("beyond/ping-ep-0/server -c 2 -s 16", "beyond/ping-ep-0/client -c 2 -s 16 -a {a}", again=False),
    "ping-rc-0": stage("beyond/ping-rc-0", "-q -c 2 -s 16", again=False, transports="RoCE"),
    "ping-ud-0": Pair("beyond/ping-ud-0/server -a {a}", "beyond/ping-ud-0/client -c 2 -a {a}", transports="RoCE"),
    "mcast-ud-0": Pair("beyond/mcast-ud-0/client 224.1.2.3 {a}", "beyond/mcast-ud-0/server 224.1.2.3 {a} 3", again=False, transports="RoCE"),
    "talk-rdma-0": Pair(f"beyond/talk-rdma-0/server -a {{a}} {STREAMED}", f"beyond/talk-rdma-0/client -a {{a}} {STREAMED}", again=False, words=2),
    "stream": Pair("build/examples/stream_server {a}", f"build/examples/stream_client {{a}} {STREAMED}", again=False, waits=True),
    "loop": Pair("build/examples/echo_server {a}", "build/examples/loop_client {a} 12321 2"),
    "memory": Pair("build/examples/epoll_server {a}", "build/examples/memory_client {a} 12321 tools/verbs-sim/Makefile"),
    "extended": Pair("build/examples/plain/echo_server {a}", "build/examples/plain/extended_client {a} 12321 2", transports="RoCE"),
    "ping-mt-4": Pair("build/examples/store_server {a}", "build/beyond/ping-mt-4/client {a} cq 2 3"),
}


def programs(pair: Pair, side: int) -> list[list[str]]:
    """The side has the sanitizer."""
    lines = [pair.server, pair.client, *([f"{LATER} {pair.client}"] if pair.again else [])]
    lines[side] = f"{SANITIZED}/{lines[side]}"
    lines = [line.format(a=ADDRESS) for line in lines]
    return [["sh", "-c", f"exec {line}"] if "<" in line else line.split() for line in lines]


def runs_of(pair: Pair, side: int, transport: str, number: int, leaks: bool) -> list[Run]:
    """Returns the runs of a sweep in which the message was changed. Looking for leaks, too, takes half as long again."""
    words = [word for program in programs(pair, side) for word in [":::", *program]][1:]
    argv = ["tools/verbs-sim/verbs-sim", *TRANSPORTS[transport], "--patience", "90", "--sweep", f"{side}:message:{number}", "--", *words]
    env = os.environ | ({} if leaks else {"ASAN_OPTIONS": "detect_leaks=0"})
    done = subprocess.run(argv, cwd=TOP, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=600, check=False)
    *texts, last = re.split(r"^(?=verbs-sim: (?:status|\d+ changes|all sleep|it does not))", done.stderr, flags=re.MULTILINE)
    assert "changes of messages" in last, done.stderr
    runs, said = [], ""
    for text in texts:
        line, newline, rest = text.partition("\n")
        if text.startswith("verbs-sim: "):
            runs.append(read(argv, done.returncode, done.stdout, said + line))
            said = rest
        else:
            said += text
    return [run for run in runs if run.fault]


def received(pair: Pair, side: int, transport: str) -> int:
    """Returns how many messages of its first peer the side receives."""
    run = simulate(programs(pair, side), *TRANSPORTS[transport], "--patience", "90", "--fail", f"{side}:message:1000000:SHORT")
    assert not any(run.statuses) and not run.exit, run.why()
    (number,) = re.findall(r"received (\d+) messages", run.err)
    return int(number) // (2 if pair.again and not side else 1)


def judge(pair: Pair, side: int, run: Run) -> None:
    """Judges a run with one change."""
    if pair.waits and {*run.statuses} == {128 + 15}:  # the runner has told all to stop
        assert "arrived with LONG" in run.fault and not REPORT.search(run.err), run.why()
        return
    assert not REPORT.search(run.err) and not run.reason and run.left == "nothing" and not run.wrong, run.why()
    assert {*run.statuses} <= {0, 1} and not {*run.told} - {0}, run.why()
    assert not pair.again or not run.statuses[0] and not run.statuses[2], f"the next is not served\n{run.why()}"
    said = re.findall(rf"^(?:\S*/)?{re.escape(pair_program(pair, side))}: (.*)$", run.err, re.MULTILINE)
    words = [line for line in said if not RESULTS.match(line)]
    assert len(words) <= pair.words and (words or not run.statuses[side]), f"it says this: {words}\n{run.why()}"


def pair_program(pair: Pair, side: int) -> str:
    """The name that the stage gives itself."""
    path = (pair.server, pair.client)[side].split()[0]
    if "ping-mt-4" in path:
        return "ping-mt-4"
    return path.rpartition("/")[2] if "examples" in path else "/".join(path.split("/")[-2:])


ROWS = [
    pytest.param(pair, transport, side, id=f"{name}-{transport}-{SIDES[side]}")
    for name, pair in PAIRS.items()
    for transport in pair.transports.split()
    for side in (0, 1)
    if (name, side) != ("mcast-ud-0", 1)  # this side receives nothing
]


def change_each(pair: Pair, transport: str, side: int, first: int, leaks: bool = True) -> None:
    """Each change of the messages from `first` on: of many of the same kind, of the first three and the last. Leaks of all of them,
    or of the first one."""
    number = received(pair, side, transport)
    for message in {1, 2, 3, number} & {*range(min(first, number), number + 1)}:
        for run in runs_of(pair, side, transport, message, leaks or message == first):
            judge(pair, side, run)


@pytest.mark.parametrize("pair, transport, side", [row for row in ROWS if row.values[2] == (row.values[1] == "iWARP")])
def test_each_change_of_messages(pair: Pair, transport: str, side: int) -> None:
    """Changes messages to servers over RoCE, but for the request, which is the same in most pairs; and to clients over iWARP."""
    change_each(pair, transport, side, 1 if side else 2, leaks=False)


@pytest.mark.long
@pytest.mark.parametrize("pair, transport, side", ROWS)
def test_each_change_of_each_message(pair: Pair, transport: str, side: int) -> None:
    change_each(pair, transport, side, 1)


# ---- Data that are not what was sent ----

COMPARED = {"blast-rdma-1": {2}}  # messages of three whose bytes are compared: each WRITE overwrites the one before it
NOT_COMPARED = "ping-ep-0 talk-rdma-0 count-atomic-1 pubsub-rdma-1 pubsub-rdma-2"  # these do not number their messages


@pytest.mark.parametrize("stage, transport", [row for row in STAGES if str(row.values[0]) not in NOT_COMPARED.split()])
def test_a_byte_that_has_changed_is_named(stage: Stage, transport: list[str]) -> None:
    """The side that compares fails, and says which message and which byte it is, of the first, a middle and the last one. The other side is not to blame."""
    server, client = pair_of(stage, 3)
    side = int(not stage.one_way)
    for byte in (0, 63):
        found = set[int]()
        for number in range(1, 7):
            run = simulate([[*server, *["-v"] * stage.one_way], client], *transport, "--fail", f"{side}:message:{number}:FLIP={byte}")
            said = re.findall(rf"/{SIDES[side]}: message (\d+)\b.*\bbyte {byte}\b", run.err)
            assert not said or (len(said) == run.statuses[side] == 1 and (stage.one_way or not run.statuses[1 - side])), run.why()
            found |= {*map(int, said)}
        assert found == COMPARED.get(stage.name, {0, 1, 2}), f"byte {byte}: {found}"
