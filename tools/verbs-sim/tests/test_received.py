# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Messages that arrive changed, by --fail S:message and --sweep S:message: received.c has both ends of a connection, and prints
what comes, or believes it."""

from __future__ import annotations

import re

import pytest
from running import TRANSPORTS, sweep
from verbs_sim import ADDRESS, Run, simulate

RECEIVED = "build/tests/sim/received"
LENGTHS = {"RoCE": 56, "iWARP": 8}  # bytes of private data
each_transport = pytest.mark.parametrize("transport", TRANSPORTS)


def received(transport: str, *changes: str) -> Run:
    """Returns the output of received, with these changes of messages."""
    options = [word for change in changes for word in ("--fail", f"0:message:{change}")]
    run = simulate([[RECEIVED, "prints"]], *TRANSPORTS[transport], *options)
    assert run.exit in {0, 4}, run.why()
    return run


def bytes_of(run: Run, what: str) -> tuple[int, str]:
    """Returns the length, and the first bytes."""
    (found,) = re.findall(rf"^{what}: (\d+) bytes: (.*)$", run.out, re.MULTILINE)
    return int(found[0]), found[1]


@each_transport
def test_nothing_is_changed_unless_asked_for(transport: str) -> None:
    run = received(transport)
    assert bytes_of(run, "private data")[0] == LENGTHS[transport] and bytes_of(run, "send") == (10, "30 31 32 33 34 35 36 37 38 39"), run.why()
    assert bytes_of(run, "WRITE") == bytes_of(run, "READ") == (8, "61 62 63 64 65 66 67 68"), run.why()
    assert transport == "iWARP" or bytes_of(run, "immediate data")[1] == "01 02 03 04", run.why()


# The second message is the private data of the server's answer.
CHANGES = [
    ("1:FLIP=0", "private data", "8f 72 69 76 61 74 65 00"),
    ("1:ZERO=4", "private data", "70 72 69 76 00 00 00 00"),
    ("3:FLIP=9", "send", "30 31 32 33 34 35 36 37 38 c6"),
    ("3:ZERO=3", "send", "30 31 32 00 00 00 00 37 38 39"),
    ("3:ONES=8", "send", "30 31 32 33 34 35 36 37 ff ff"),
    ("3:MORE=0", "send", "30 31 32 34 34 35 36 37 38 39"),
    ("4:ONES=0", "WRITE", "ff ff ff ff 65 66 67 68"),
    ("5:MORE=0", "immediate data", "01 02 03 05"),
    ("6:ZERO=4", "READ", "61 62 63 64 00 00 00 00"),
]
ON = {"RoCE": CHANGES, "iWARP": [*CHANGES[:-2], ("5:ZERO=4", *CHANGES[-1][1:])]}  # soft-iWARP has no immediate data


@pytest.mark.parametrize("transport, change, what, is_now", [(of, *change) for of, changes in ON.items() for change in changes])
def test_each_change_of_bytes(transport: str, change: str, what: str, is_now: str) -> None:
    """Only the named byte changes. A READ brings what was written."""
    run, plain = received(transport, change), received(transport)
    number, how = change.split(":")
    assert bytes_of(run, what)[1].startswith(is_now) and run.fault == f"message {number} of program 0 arrived with {how}", run.why()
    for line in plain.out.splitlines():
        other = line.partition(":")[0]
        assert other in {what, "READ" if what == "WRITE" else ""} or line in run.out.splitlines(), run.why()


def test_a_carry_goes_into_the_next_byte() -> None:
    run = received("RoCE", "3:ONES=3", "3:MORE=2")
    assert bytes_of(run, "send")[1].startswith("30 31 33 00 00 00 ff 37"), run.why()


@pytest.mark.parametrize("how, length", [("SHORT", 9), ("LONG", 11)])
@each_transport
def test_a_send_of_another_length(transport: str, how: str, length: int) -> None:
    """The completion has that length, and the next byte is 0."""
    run = received(transport, f"3:{how}")
    assert bytes_of(run, "send") == (length, "30 31 32 33 34 35 36 37 38 39 00"[: 3 * length - 1]), run.why()


@pytest.mark.parametrize("how, length", [("SHORT", 7), ("LONG", 9)])
def test_private_data_of_another_length(how: str, length: int) -> None:
    """On RoCE the length is fixed."""
    assert bytes_of(received("iWARP", f"1:{how}"), "private data")[0] == length
    run = received("RoCE", f"1:{how}")
    said = f"--fail 0:message:1:{how} did not happen: it changes nothing in a message of 56 bytes whose length is fixed"
    assert bytes_of(run, "private data")[0] == 56 and not run.fault and said in run.err, run.why()


@pytest.mark.parametrize("how", ["SHORT", "LONG"])
def test_a_datagram_of_another_length(how: str) -> None:
    """The completion also counts the 40 bytes before the data. None is longer than the MTU."""
    probe = ["build/tests/probe", ADDRESS, "datagrams"]
    runs = [simulate([probe], "--fail", f"0:message:{number}:{how}") for number in (8, 10)]  # datagrams of 1024 and 64 bytes
    lengths = [re.findall(r"(\d+) bytes, flags", run.out) for run in runs]
    assert lengths[0] == ["1063" if how == "SHORT" else "1064"], runs[0].why()
    assert bool(runs[0].fault) == (how == "SHORT") and runs[1].fault, runs[1].why()


@pytest.mark.parametrize(
    "change, said",
    [
        ("9:ZERO=0", "program 0 received 6 messages"),
        ("3:ZERO=10", "it changes nothing in a message of 10 bytes"),
        ("1:ZERO=8", "it changes nothing in a message of 56 bytes whose length is fixed"),
    ],
)
def test_a_change_that_changes_nothing_is_named(change: str, said: str) -> None:
    run = received("RoCE", change)
    assert not run.fault and f"--fail 0:message:{change} did not happen: {said}\n" in run.err, run.why()


@each_transport
def test_a_sweep_finds_who_believes_what_a_message_says(transport: str) -> None:
    """The sweep does not blame the program that checks the length: it may end with any status."""
    runs = {}
    for which in ("trusts", "checks"):
        runs[which] = sweep("0:message", [[RECEIVED, which]], *TRANSPORTS[transport])
    status, lines = runs["trusts"]
    assert status == 128 + 11 and lines[-1].endswith(" 1 not as they should be"), lines
    assert any("status 139" in line and "fault: message 3 of program 0 arrived with ONES=0" in line for line in lines), lines
    status, lines = runs["checks"]
    assert not status and lines[-1].endswith(" 0 not as they should be"), lines


def test_a_sweep_changes_each_word_once() -> None:
    """A send of 14 bytes, the first of which are three of 0 and a 10: two changes of its length, and of four words all but ZERO of
    those that are 0."""
    status, lines = sweep("0:message:3", [[RECEIVED, "checks"]])
    assert not status and lines[-1] == "verbs-sim: 11 changes of messages to program 0, each in a run of its own: 0 not as they should be", lines
