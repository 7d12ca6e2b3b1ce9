# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of examples/ with each other and with ping-sr-0, and peers of theirs that die."""

from __future__ import annotations

import re
from typing import Any

import kernel
import pytest
from conftest import Run, next_port
from processes import Process, until
from table import LINKS, TOP, Link, over

# In plain/ without the library, in two-files/ with the two files of it that other projects copy.
SERVERS = ["echo_server", "epoll_server", "srq_server", "plain/echo_server", "two-files/echo_server"]
ENDLESS = 100_000_000


class Echo:
    """echo.serve("echo_server"), and echo.client(200) of it: a server on a port of its own, and its clients."""

    def __init__(self, run: Run, link: Link) -> None:
        """Over that link."""
        self.run, self.link, self.port, self.client_program = run, link, 0, ""

    def serve(self, name: str, **how: Any) -> Process:
        """Once it listens."""
        self.port = next_port()
        self.client_program = f"build/examples/{name.rpartition('/')[0]}/echo_client"
        return self.run(f"build/examples/{name}", self.link.address, self.port, **how).awaits(": listening")

    def client(self, count: int = 100, size: int = 64, **how: Any) -> Process:
        """Of the last server."""
        return self.run(self.client_program, self.link.address, self.port, count, size, **how)

    def busy_client(self) -> Process:
        """One that does not end by itself, once it is connected."""
        before = kernel.connected(self.link.transport)
        client = self.client(ENDLESS)
        until(lambda: kernel.connected(self.link.transport) == before + 2, "both ends are connected")
        return client.is_busy()


@pytest.fixture
def echo(run: Run, link: Link) -> Echo:
    """Over the test's link."""
    return Echo(run, link)


@pytest.mark.parametrize("name", SERVERS)
@over()
def test_two_clients_are_served_and_the_server_leaves_when_it_is_told_to(echo: Echo, name: str) -> None:
    s = echo.serve(name)
    echo.client(200).ends(0)
    echo.client(50, 4096).ends(0)
    s.signal("TERM").ends(0)
    assert sum(map(int, re.findall(r"(\d+) messages sent back", s.out))) == 250


@pytest.mark.parametrize("name", ["echo_server", "epoll_server", "srq_server"])
@over("RoCE")
def test_messages_take_no_allocation(echo: Echo, name: str) -> None:
    """On either side: with 1,900 messages more they are the same, apart from a few of connecting, which differ from run
    to run."""

    def allocations(count: int) -> list[int]:
        """Of the server and the client of a run."""
        env = {"LD_PRELOAD": str(TOP / "build/tests/allocations.so")}
        s = echo.serve(name, env=env)
        c = echo.client(count, env=env).ends(0)
        return [int(program.err.partition("allocations: ")[2]) for program in (s.signal("TERM").ends(0), c)]

    few, many = allocations(100), allocations(2000)
    assert max(more - less for more, less in zip(many, few)) < 10 < min(few)


@pytest.mark.parametrize("name", SERVERS)
@over("RoCE")
def test_a_message_that_is_too_long_ends_this_client_only(echo: Echo, name: str) -> None:
    s = echo.serve(name)
    long = echo.client(10, 4097 if name == "srq_server" else 65537).ends(1)
    echo.client().ends(0)
    s.signal("TERM").ends(0)
    assert "longer than its buffer" in long.err or "the server has left" in long.err


@pytest.mark.parametrize("name", SERVERS)
@over("RoCE")
def test_a_client_is_killed_and_the_next_served(echo: Echo, name: str) -> None:
    s = echo.serve(name)
    echo.busy_client().kill()
    echo.client().ends(0)
    s.signal("TERM").ends(0)


@pytest.mark.parametrize("name", SERVERS)
@over("RoCE")
def test_a_client_notices_that_its_server_was_killed_or_stopped(echo: Echo, name: str) -> None:
    for end in ("KILL", "TERM"):
        s = echo.serve(name)
        c = echo.busy_client()
        s.signal(end).ends(-9 if end == "KILL" else 0)
        c.ends(1)
        assert "the server has left" in c.err or "Software caused connection abort" in c.err


@pytest.mark.parametrize("crowd", [8, pytest.param(64, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["epoll_server", "srq_server"])
@over("RoCE", links=lambda link: link.transport != "iWARP" and link.family == 4)
def test_many_are_served_beside_one_that_is_killed(echo: Echo, name: str, crowd: int) -> None:
    s = echo.serve(name)
    busy = echo.busy_client()
    clients = [echo.client(50, 512) for _ in range(crowd)]
    busy.kill()
    for c in clients:
        c.ends(0, within=200)
    s.signal("TERM").ends(0)


@over("RoCE")
def test_nobody_listens(run: Run, link: Link) -> None:
    port = next_port()
    c = run("build/examples/echo_client", link.address, port).ends(1)
    assert f"nobody listens on {link.address}:{port}" in c.err


@over("RoCE")
def test_with_ping_sr_0(echo: Echo, run: Run, link: Link) -> None:
    """It sends and expects the same messages, and knows their number from its options."""
    s = echo.serve("echo_server")
    run("ping-sr-0/client", "-v -a", link.address, "-p", echo.port, "-c 100 -s 64").ends(0)
    s.signal("TERM").ends(0)
    echo.port = next_port()
    s = run("ping-sr-0/server", "-a", link.address, "-p", echo.port, "-c 100 -s 64").awaits("listening on")
    echo.client(100, 64).ends(0)
    s.ends(0)


@over()
def test_the_store_returns_what_was_put(run: Run, link: Link) -> None:
    s = run("build/examples/store_server", link.address).awaits(": listening")

    def store(*words: str) -> Process:
        return run("build/examples/store_client", link.address, *words)

    assert "key 5 has no value" in store("get 5").ends(1).err
    for value in ("value", "a" * 56, "b" * 56):
        store("put 5", value).ends(0)
        assert store("get 5").ends(0).out == f"{value}\n"
    assert "usage" in store("get 1024").ends(2).err
    s.signal("TERM").ends(0)


@pytest.mark.skipif(len({link.device for link in LINKS}) < 2, reason="there is one device")
def test_servers_on_two_devices_in_one_process(run: Run) -> None:
    """They wait in different ways, and so do their four clients."""
    addresses = [link.address for link in LINKS if link.family == 4]
    assert run("build/tests/together", *addresses).ends(0).out == "4 clients, 500 messages each\n"
