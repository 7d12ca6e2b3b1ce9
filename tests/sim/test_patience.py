# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""How long programs of the library wait for a peer that is slow, silent or dead: tests/patient asks, and store_server, which posts
no receives and takes no completions, is the peer.

To add a row, name the question, the transports, what the wait ends with and when.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from sim.simulation import ADDRESS, TRANSPORTS, simulate

SILENCE = "1:ibv_query_device:1:SILENCE"  # the client's host, once it is connected
DEAD = {"RoCE": "transport retry counter exceeded", "iWARP": "has not answered to a keepalive for 20 s"}


@dataclass(frozen=True)
class Patience:
    """A question, and its answer."""

    question: str
    ends: str  # what the line on stdout says
    least_s: int
    most_s: int
    said: str = ""  # on stderr, of the client; nothing else of it, nor of the server
    silent: bool = False
    transports: str = "RoCE iWARP"


ROWS = [
    # Its host answers that there is no receive: it is not dead. The client asks after 2 s, the server after 5 s.
    *(Patience(how, "Connection timed out", 60, 60, "the peer said nothing for 60 s", transports="RoCE") for how in ("signaled", "unsignaled", "by-verb")),
    # Neither side takes a completion.
    *(Patience(how, "no error", 100, 100) for how in ("look-after", "look-after-shared", "look-after-full")),
    Patience("look-after-full", "Connection reset by peer", 18, 22, silent=True, transports="RoCE"),  # the first of them has failed
    Patience("await-none", "Connection timed out", 67, 67, "the peer said nothing for 60 s", True, "RoCE"),
    *(
        Patience(how, ends, least_s, most_s, DEAD[transport], True, transport)
        for how in ("look-after", "look-after-shared", "await-end")
        for transport, ends, least_s, most_s in (("RoCE", "Software caused connection abort", 18, 22), ("iWARP", "No route to host", 25, 28))
    ),
    Patience("await-end-soon", "Software caused connection abort", 4, 6, DEAD["RoCE"], True, "RoCE"),  # config.ack_timeout
]
each = pytest.mark.parametrize(
    "row, transport",
    [pytest.param(row, one, id=f"{row.question}-{'dead' if row.silent else 'alive'}-{one}") for row in ROWS for one in row.transports.split()],
)


@each
def test_patience(row: Patience, transport: str) -> None:
    fault = ["--fail", SILENCE] if row.silent else []
    run = simulate([["build/examples/store_server", ADDRESS], ["build/tests/patient", row.question, ADDRESS]], *TRANSPORTS[transport], *fault)
    assert run.statuses == [0, 0] and run.left == "nothing" and not run.wrong, run.why()
    found = re.fullmatch(rf"{row.question}: (.*) after (\d+) s\n", run.out)
    assert found and found[1] == row.ends and row.least_s <= int(found[2]) <= row.most_s, run.out
    lines = run.err.splitlines()
    said = [line for line in lines if line.startswith("patient: ")]
    assert row.said in "\n".join(said) and len(said) == bool(row.said), run.why()
    assert row.silent or [line for line in lines if line not in said] == ["store_server: listening"], run.why()


@pytest.mark.parametrize("silent", [True, False], ids=["dead", "alive"])
@pytest.mark.parametrize("how", ["close-all", "close-device"])
def test_many_that_do_not_answer_take_no_longer_than_one(how: str, silent: bool) -> None:
    """Five disconnects, whose answers are awaited for seven seconds."""
    fault = ["--fail", SILENCE.replace(":1:", ":5:")] if silent else []
    run = simulate([["build/examples/store_server", ADDRESS], ["build/tests/patient", how, ADDRESS]], *fault)
    assert run.statuses == [0, 0] and run.left == "nothing" and run.out == f"{how}: {7 if silent else 0} s\n", run.out + run.why()


@pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)
def test_a_cq_of_the_programs_own_that_overruns(transport: list[str]) -> None:
    """It ends the connection whose sends complete there, and no other."""
    run = simulate([["build/examples/store_server", ADDRESS], ["build/tests/patient", "overrun", ADDRESS]], *transport)
    assert "a CQ of 1 entries overruns" in run.wrong and run.left == "nothing", run.why()
    assert run.out == "overrun: Connection timed out, of the other one: Input/output error\n", run.out + run.why()
    assert "CQ of the program's own: it had no room for a completion" in run.err, run.why()


@pytest.mark.parametrize("call, event", [("rdma_resolve_addr", "ADDR_ERROR"), ("rdma_resolve_route", "ROUTE_ERROR")])
@pytest.mark.parametrize("client", ["ping-sr-0/client -a", "ping-sr-3/client -a", "ping-sr-4/client -a", "build/examples/loop_client"])
@pytest.mark.parametrize("lost", [2, 3])
def test_what_nobody_answers_is_asked_three_times(call: str, event: str, client: str, lost: int) -> None:
    """In each way to wait for the connection manager."""
    faults = [word for number in range(1, lost + 1) for word in ("--fail", f"0:{call}:{number}:{event}=ETIMEDOUT")]
    run = simulate([[*client.split(), ADDRESS]], *faults)
    said = "nobody listens on" if lost < 3 else f"{call}: Connection timed out (110)"
    assert run.statuses == [1] and said in run.err and run.err.count("\n") == 1, run.why()


@pytest.mark.parametrize("kind, works", [("roce,port=active/4096/43", True), ("roce", False), ("iwarp", False)])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_listener_on_the_loopback(kind: str, works: bool, address: str) -> None:
    """InfiniBand serves it."""
    both = [[f"ping-sr-0/{side}", "-q", "-c", "3", "-a", address] for side in ("server", "client")]
    run = simulate(both, "--device", kind)
    assert run.statuses == ([0, 0] if works else [1, 1]) and run.left == "nothing", run.why()
    assert works or "ping-sr-0/server: rdma_bind_addr: No such device (19): " in run.err, run.why()


def test_a_kernel_that_has_no_ack_timeout() -> None:
    """Who asks for one is told."""
    run = simulate([["build/examples/store_server", ADDRESS], ["build/tests/patient", "await-end-soon", ADDRESS]], "--fail", "1:rdma_set_option:1:ENOSYS")
    assert "patient: rdma_set_option: Function not implemented (38): an ack timeout of 14" in run.err and run.statuses[1] == 3, run.why()
