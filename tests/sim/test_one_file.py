# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-ep-0, which uses nothing of the suite: its limits on time, its units, and its text, as in the README of the stage."""

from __future__ import annotations

import re

import pytest
from sim.simulation import ADDRESS, Run, simulate
from sim.timeline import Timeline

MINUTE_MS = 60000
DISCONNECT_MS = 10000  # a disconnect that nobody answers, and the set-up
ALL = "20 messages of 200 bytes sent back\n"


def both(client: str = "", server: str = "", agreed: str = f"-a {ADDRESS} -c 20 -s 200", *options: str) -> Run:
    """The later one of two options counts."""
    sides = (("server", server), ("client", client))
    return simulate([[f"beyond/ping-ep-0/{side}", *agreed.split(), *more.split()] for side, more in sides], *options)


def one_that_says(err: str, out: str, fault: str) -> Run:
    """Returns the first of many seeds with which this is said, or the last one."""
    for seed in range(1, 81):
        run = both("", "", f"-a {ADDRESS} -c 20 -s 200", "--fail", fault, "--seed", str(seed))
        if err in run.err and out in run.out:
            break
    return run


@pytest.mark.parametrize(
    "fault, statuses, said, out",
    [
        ("0:ibv_post_send:10:SILENCE", [0, 1], "client: rdma_get_recv_comp: Connection timed out (110)\n", ""),
        ("1:ibv_post_send:10:SILENCE", [0, 1], "server: rdma_get_recv_comp: Connection timed out (110)\n", "9 messages of 200 bytes sent back"),
        ("1:rdma_disconnect:1:SILENCE", [0, 0], "", ALL),
    ],
)
def test_it_waits_for_a_minute(fault: str, statuses: list[int], said: str, out: str) -> None:
    """For a message, or for its client to leave; and no longer. With some seeds the last message was acknowledged: otherwise the
    device gives up before."""
    run = one_that_says(said, out, fault)
    assert run.statuses == statuses and said in run.err and out in run.out, f"{run.out}\n{run.why()}"
    assert MINUTE_MS <= run.ms <= MINUTE_MS + DISCONNECT_MS


@pytest.mark.parametrize("count", ["2g", "999999999999"])
def test_more_messages_than_a_run_has(count: str) -> None:
    """Told to stop, both sides say how many messages there were."""
    run = both("", "", f"-a {ADDRESS} -c {count} -s 200", "--fail", "1:ibv_post_send:4:SIGTERM")
    assert re.search(r"^[34] messages of 200 bytes, there and back in ", run.out, re.MULTILINE), f"{run.out}\n{run.why()}"


def test_how_long_a_message_takes() -> None:
    """The time is that of all messages together, from before the first is sent to after the last has come."""
    run = both("", "", f"-a {ADDRESS} -c 20 -s 200", "--trace")
    client = Timeline(run.err, 1)
    sent, came = client.at["ibv_post_send"][0], client.at["= completion RECV, status 0"][-1]
    least, most = client.reading(came) - client.numbers(client.last("= clock", sent))[0], client.events[-1][0]
    (us,) = re.findall(r"^20 messages of 200 bytes, there and back in ([\d.]+) us each$", run.out, re.MULTILINE)
    assert least / 20000 - 0.1 <= float(us) <= min(most, least + 1000) / 20000 + 0.1


@pytest.mark.parametrize(
    "fault, said",
    [
        ("1:ibv_post_send:10:SIGKILL", "Connection reset by peer (104): the client has left"),
        ("0:ibv_post_recv:3:WR_FLUSH_ERR", "wr_id 0 on QP 0x2: Work Request Flushed Error (status 5, vendor 0x0)"),
    ],
)
def test_no_failure_of_the_server(fault: str, said: str) -> None:
    """A client is killed between two messages, which no completion says: it looks each second. Or the connection ends, and nobody
    knows why."""
    run = one_that_says(f"server: rdma_get_recv_comp: {said}\n", "", fault)
    assert run.statuses[0] == 0 and f"server: rdma_get_recv_comp: {said}\n" in run.err, run.why()
    assert run.ms <= 3000
