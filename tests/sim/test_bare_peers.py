# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-rc-0, and peers that say something else over TCP, or nothing, or hang up: what it says of them is in its README.md and
in docs/protocol.md, and a server serves the next client."""

from __future__ import annotations

import re

import pytest
from sim.simulation import ADDRESS, simulate

LINE = "0000:00040a:123460:00000000000000000000ffffc0000201"
SERVER_AT = f"the server at {ADDRESS}:12321 "
PEER = ["/usr/bin/python3", "-S", "-E", "tests/sim/bare_peer.py"]
COMMON = ["-q", "-a", ADDRESS, "-c", "20"]
CLIENT = ["beyond/ping-rc-0/client", *COMMON]
OF_QP = "did not say LID:QPN:PSN:GID, or done"
SILENT_S = 10  # seconds that a server waits for a client's words


@pytest.mark.parametrize(
    "does, said, seconds",
    [
        (f"say:{LINE}\\n read", OF_QP, 0),
        (f"say:{LINE.replace(':1', '.1')}\\0 read", OF_QP, 0),
        (f"say:{LINE[:18]}{LINE[19:-2]}:{LINE[-2:]}\\0 read", OF_QP, 0),
        (f"say:{LINE[:-2]}g1\\0 read", OF_QP, 0),
        (f"say:{LINE}\\0 read say:dine\\0 read", OF_QP, 0),
        (f"say:{LINE[:-24]}{'0' * 24}\\0 read", "client refused: it has told no GID", 0),
        (f"say:{LINE[:-32]}fe80{'0' * 26}12\\0 read", "its GID stands for an IPv6 address, and ours for one of IPv4", 0),
        ("read", "said nothing of its QP", SILENT_S),
        (f"say:{LINE}\\0 read read", "said nothing of its QP", SILENT_S),
        (f"say:{LINE[:20]}", "ended the exchange", 0),
        # All is right up to here: upper-case digits, and a line in pieces.
        (f"say:{LINE.upper()}\\0 read", "ended the exchange", 0),
        (f"say:{LINE[:20]} wait:1 say:{LINE[20:]}\\0 read", "ended the exchange", 1),
    ],
)
def test_a_client_that_does_not_keep_to_the_protocol(does: str, said: str, seconds: int) -> None:
    """The client becomes one that keeps to the protocol."""
    run = simulate([["beyond/ping-rc-0/server", *COMMON], [*PEER, "connect", *does.split(), "exec", *CLIENT]])
    assert run.statuses == [0, 0] and said in run.err and run.err.count("\n") == 1, run.why()
    assert seconds <= run.ms / 1000 <= seconds + 1


@pytest.mark.parametrize(
    "does, said, seconds",
    [
        (f"read say:{LINE}\\n read", SERVER_AT + "did not say LID:QPN:PSN:GID", 0),
        ("read", SERVER_AT + "ended the exchange: its own messages say why", 0),
        ("read wait:5", SERVER_AT + "said nothing of its QP", 3),
    ],
)
def test_a_server_that_does_not_keep_to_the_protocol(does: str, said: str, seconds: int) -> None:
    run = simulate([[*PEER, "listen", *does.split()], [*CLIENT, "--timeout", "3"]])
    assert run.statuses == [0, 1] and said in run.err and run.err.count("\n") == 1, run.why()
    assert seconds <= run.ms / 1000 <= max(seconds + 1, 6 if "wait" in does else 0)


def test_any_address_is_one_of_ipv4_and_one_of_ipv6() -> None:
    """The server has two sockets, side by side."""
    addresses = (ADDRESS, "2001:db8:1::1")
    clients = [["beyond/ping-rc-0/client", "-q", "-v", "-c", "20", "-w", "9", "-a", address] for address in addresses]
    device = ",".join(["roce", *(f"address={address}" for address in addresses)])
    run = simulate([["beyond/ping-rc-0/server", "-q", "-c", "20", "-n", "2"], *clients], "--device", device)
    assert {*run.statuses} == {0} and not run.exit and not run.err, run.why()


PINGPONG = f"ibv_rc_pingpong -d rxe0 -g 1 -n 1500 -s 512 -p 12321 {ADDRESS}".split()  # the client closes TCP before its first message
OURS = ["-a", ADDRESS, "-c", "1500", "-s", "512", "--timeout", "3"]
GOES_ON = "has closed its TCP connection and goes on"


@pytest.mark.parametrize("fault, said", [("", ""), ("1:ibv_post_send:1000:SIGKILL", "the client said nothing for 3 s, after ")])
def test_a_client_that_closes_tcp_and_goes_on(fault: str, said: str) -> None:
    """After this only --timeout tells whether the client is still there."""
    run = simulate([["beyond/ping-rc-0/server", *OURS], PINGPONG], *(["--fail", fault] if fault else []))
    assert run.statuses[0] == 0 and run.err.count(f"the client {GOES_ON}") == 1 and said in run.err, run.why()
    assert said or run.statuses[1] == 0 and "left" not in run.err, run.why()


def test_a_server_that_closes_tcp_and_goes_on() -> None:
    run = simulate([PINGPONG[:-1], ["beyond/ping-rc-0/client", *OURS]])
    assert not run.exit and run.err.count(f"the server {GOES_ON}") == 1, run.why()


def test_a_client_that_closes_tcp_and_sends_nothing() -> None:
    """The server takes the client for one that has gone, after the 5 s that it may take before its first message."""
    run = simulate([["beyond/ping-rc-0/server", *COMMON], [*PEER, "connect", f"say:{LINE}\\0", "read", "say:done\\0"]])
    assert run.statuses == [0, 0] and run.err == "ping-rc-0/server: the client left after 0 messages\n", run.why()
    assert 5000 <= run.ms <= 6000


def test_a_client_that_dies() -> None:
    """The messages before do not count: within a second none has come."""
    run = simulate([["beyond/ping-rc-0/server", *COMMON], CLIENT], "--fail", "1:ibv_post_send:10:SIGKILL")
    assert run.statuses == [0, 137] and re.fullmatch(r"ping-rc-0/server: the client left after \d+ messages\n", run.err), run.why()
    assert run.ms <= 2000


@pytest.mark.parametrize("error", ["EMFILE", "ENFILE", "ENOBUFS", "EPROTO", "ENETDOWN"])
def test_a_client_that_cannot_be_accepted_yet(error: str) -> None:
    """The server serves the client when it can; what was lacking is the server's failure."""
    lacks = error in ("EMFILE", "ENFILE", "ENOBUFS")
    run = simulate([["beyond/ping-rc-0/server", *COMMON], CLIENT], "--fail", f"0:accept:1:{error}")
    assert run.statuses == [int(lacks), 0] and ("clients have to wait" in run.err) == lacks, run.why()
