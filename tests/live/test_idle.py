# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Servers that claim to sleep: none of their threads runs while nobody is connected, nor between messages, and a message
wakes them a few times at most. The kernel counts when a thread runs, and how often."""

from __future__ import annotations

import os

import pytest
from live.conftest import Client, Run, Server, next_port
from live.processes import Process, until
from live.table import Link, Stage, each, over

# Switches for one message: wake-ups by its completion, by the answer's, and by CM events, and preemption.
MOST_RUNS = 50
MESSAGES = 5
SLOWLY = "--rate 10 -c 1000000"
# A publisher changes its record, and pubsub-rdma-2's sends it, too; one file a side must know the number of messages.
OPTIONS = {"pubsub-rdma-1": "--rate 1", "pubsub-rdma-2": "--rate 10 -T", "ping-ep-0": "-c 1000000"}
MESSAGE = 65536  # bytes of a message of stream_client


def sleeper(stage: Stage) -> bool:
    """The stage's server sleeps. ping-ep-0's does, in librdmacm; talk-rdma-0 naps for 10 ms at a time."""
    return (stage.sleeps or stage.name == "ping-ep-0") and not stage.nine


def posts(program: Process) -> int:
    """Returns how many posts a program with -T has made: one for each message, and some before the first."""
    return program.err.count(" ibv_post_send")


def await_posts(program: Process, most: int) -> None:
    """Waits until a program has made so many posts."""
    until(lambda: posts(program) >= most, f"{program.name} has posted {most} times")


def sleeps_between_messages(server: Process, sender: Process) -> None:
    """The messages come slowly."""
    await_posts(sender, 3)
    server.sleeps()
    runs, begin = server.runs(), posts(sender)
    await_posts(sender, begin + MESSAGES)
    runs = server.runs() - runs
    assert runs <= MOST_RUNS * (posts(sender) - begin + 1), "it is woken too often"
    server.sleeps()


@each(sleeper, check={"RoCE": "ping-srq-4 ping-rdma-1"})
def test_a_server_sleeps(server: Server, client: Client, stage: Stage) -> None:
    s = server(OPTIONS.get(stage.name, "")).sleeps()
    c = client(SLOWLY, "-T", stage="ping-sr-3" if stage.name == "ping-ep-0" else "")
    sleeps_between_messages(s, s if stage.name == "pubsub-rdma-2" else c)
    c.signal("INT").ends(0)
    s.ends(0)


@pytest.mark.parametrize("name", ["echo_server", "epoll_server", "srq_server", "plain/echo_server"])
@over("RoCE")
def test_an_example_sleeps(run: Run, link: Link, name: str) -> None:
    port = next_port()
    s = run(f"build/examples/{name}", link.address, port).awaits(": listening").sleeps()
    c = run("ping-sr-3/client", "-a", link.address, "-p", port, SLOWLY, "-T")
    sleeps_between_messages(s, c)
    c.signal("INT").ends(0)
    s.sleeps().signal("TERM").ends(0)


@over("RoCE")
def test_the_server_of_a_stream_sleeps(run: Run, link: Link) -> None:
    """The client has messages when this test writes them."""
    port = next_port()
    s = run("build/examples/stream_server", link.address, port).awaits(": listening").sleeps()
    reading, writing = os.pipe()
    c = run("build/examples/stream_client", link.address, port, stdin=reading)
    os.close(reading)
    for arrived in (MESSAGE, 2 * MESSAGE):
        os.write(writing, b"x" * MESSAGE)
        until(lambda arrived=arrived: len(s.out) == arrived, "it has arrived")  # type: ignore[misc]
        s.sleeps()
    os.close(writing)
    c.ends(0)
    s.ends(0)


@over("RoCE")
def test_the_server_of_a_store_sleeps(run: Run, link: Link) -> None:
    """The server sleeps before, between and after its clients, which stay for one operation."""
    s = run("build/examples/store_server", link.address).awaits(": listening").sleeps()
    run("build/examples/store_client", link.address, "put a", stdin="value").ends(0)
    s.sleeps()
    run("build/examples/store_client", link.address, "get a").ends(0)
    s.sleeps().signal("TERM").ends(0)
