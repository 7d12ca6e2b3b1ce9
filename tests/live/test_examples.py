# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of examples/ with each other and with ping-sr-0, and peers of theirs that die."""

from __future__ import annotations

import os
import re
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from live import kernel
import pytest
from live.conftest import Run, next_port
from live.processes import Process, until
from live.table import LINKS, Link, over

# These use our library, but plain/ has none of it, and two-files/ has the two files of it that other projects copy.
SERVERS = ["echo_server", "epoll_server", "srq_server", "plain/echo_server", "two-files/echo_server"]
ENDLESS = 100_000_000


class Echo:
    """echo.serve("echo_server"), and echo.client(200) of it: a server on a port of its own, and its clients."""

    def __init__(self, run: Run, link: Link) -> None:
        """Keeps the link over which the programs run."""
        self.run, self.link, self.port, self.client_program = run, link, 0, ""
        self.before = kernel.connected(link.transport)

    def serve(self, name: str, **how: Any) -> Process:
        """Starts a server, and waits until it listens."""
        self.port = next_port()
        self.client_program = f"build/examples/{name.rpartition('/')[0]}/echo_client"
        return self.run(f"build/examples/{name}", self.link.address, self.port, **how).awaits(": listening")

    def client(self, count: int = 100, size: int = 64, **how: Any) -> Process:
        """Starts a client of the last server."""
        return self.run(self.client_program, self.link.address, self.port, count, size, **how)

    def busy_client(self) -> Process:
        """A client that does not end by itself, once it is connected. A server's end of the client before may still close."""
        until(lambda: kernel.connected(self.link.transport) == self.before, "earlier connections have ended")
        client = self.client(ENDLESS)
        until(lambda: kernel.connected(self.link.transport) == self.before + 2, "both ends are connected")
        return client.is_busy()


@pytest.fixture
def echo(run: Run, link: Link) -> Echo:
    """The echo programs over the test's link."""
    return Echo(run, link)


@pytest.mark.parametrize("name", SERVERS)
@over()
def test_two_clients_are_served_and_the_server_leaves_when_it_is_told_to(echo: Echo, name: str) -> None:
    s = echo.serve(name)
    echo.client(200).ends(0)
    echo.client(50, 4096).ends(0)
    s.signal("TERM").ends(0)
    assert sum(map(int, re.findall(r"(\d+) messages sent back", s.out))) == 250


@over()
def test_extended_verbs_beside_the_ordinary_ones(echo: Echo, link: Link) -> None:
    """soft-iWARP does not have extended verbs."""
    s = echo.serve("plain/echo_server")
    c = echo.run("build/examples/plain/extended_client", link.address, echo.port, 250).ends(1 if link.transport == "iWARP" else 0)
    s.signal("TERM").ends(0)
    if link.transport == "iWARP":
        assert c.err == "extended_client: ibv_create_cq_ex: Operation not supported (95)\n"
    else:
        assert [line.partition(":")[0] for line in c.out.splitlines()] == ["ordinary", "extended"]
        assert "500 messages sent back" in s.out


@pytest.mark.parametrize("name", ["echo_server", "epoll_server", "srq_server"])
@over("RoCE")
def test_messages_take_no_allocation(echo: Echo, name: str) -> None:
    """On either side: with 900 messages more they are the same, apart from a few of connecting, which differ from run
    to run."""

    def allocations(count: int) -> list[int]:
        """Counts the allocations of the server and the client of a run."""
        env = {"LD_PRELOAD": "build/tests/allocations.so"}  # the loader splits it at spaces
        s = echo.serve(name, env=env)
        c = echo.client(count, env=env).ends(0)
        return [int(program.err.partition("allocations: ")[2]) for program in (s.signal("TERM").ends(0), c)]

    few, many = allocations(100), allocations(1000)
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
        told = ["the server has left", "Software caused connection abort"]
        if echo.link.transport == "iWARP":
            told.append("or the peer gone?")  # a send may be the first to notice it
        assert any(why in c.err for why in told)


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


@pytest.mark.parametrize("crowd", [34, pytest.param(64, marks=pytest.mark.long)])
@over("RoCE", links=lambda link: link.transport != "iWARP" and link.family == 4)
def test_clients_without_receives_do_not_keep_all_buffers(echo: Echo, run: Run, link: Link, crowd: int) -> None:
    """Each client keeps eight of 512 buffers, and 64 clients keep them all, until they are given up."""
    s = echo.serve("srq_server")
    for _ in range(crowd):
        options = "--client --greedy 8 -s 64 -a", link.address, "-p", echo.port
        run("build/tests/peer", *options, stdin=subprocess.PIPE).awaits("sent", where="out")
    s.awaits("a send has not completed for 2 s: the peer posts no receive for it")
    echo.client().ends(0)
    s.signal("TERM").ends(0)


@pytest.mark.parametrize("client", ["echo_client", "loop_client", "memory_client", "store_client", "stream_client"])
@over("RoCE")
def test_nobody_listens(run: Run, link: Link, client: str) -> None:
    port = next_port()
    words = {"memory_client": f"{port} malloc", "store_client": "get a"}.get(client, port)
    assert f"nobody listens on {link.address}:" in run(f"build/examples/{client}", link.address, words).ends(1).err


@pytest.mark.parametrize("server", ["echo_server", "epoll_server", "srq_server", "store_server", "stream_server"])
@over("RoCE")
def test_a_second_server_of_a_port(run: Run, link: Link, server: str) -> None:
    program, port = f"build/examples/{server}", "" if server == "store_server" else next_port()
    run(program, link.address, port).awaits(": listening")
    assert "Address already in use" in run(program, link.address, port).ends(1).err


@over()
def test_a_client_in_a_loop(echo: Echo) -> None:
    """The client says each second how far it is, which over the simulated device is a million calls."""
    s = echo.serve("echo_server")
    echo.client_program = "build/examples/loop_client"
    for count, size in ((200, 64), (50, 4096)):
        assert echo.client(count, size).ends(0).out.startswith(f"{count} messages of {size} bytes, there and back in")
    busy = echo.busy_client().awaits(" messages")
    assert busy.signal("INT").ends(0).out == ""
    c = echo.busy_client()
    s.kill()
    assert any(why in c.ends(1).err for why in ("the server has left", "Software caused connection abort", "peer gone?"))


@over()
def test_ctrl_c_while_a_client_in_a_loop_connects(run: Run, link: Link) -> None:
    """The client connects to an address that no host has. On soft-iWARP a thread of the library's is inside of rdma_connect."""
    before = kernel.connected("iWARP")  # this counts ids on any device: their state changes when the connect begins
    c = run("build/examples/loop_client", f"{link.address.rpartition('.')[0]}.99")
    until(lambda: kernel.connected("iWARP") > before, "its connect has begun")
    assert c.signal("INT").ends(0, within=8).said == []


@over()
def test_a_client_in_a_loop_limits_its_connect(run: Run, link: Link) -> None:
    """Its connect does not wait, which took more than two minutes on soft-iWARP, nor does its close."""
    c = run("build/examples/loop_client", f"{link.address.rpartition('.')[0]}.99").ends(1, within=40)
    assert "no connection within 10 s" in c.err or "no answer, or no route there" in c.err


@over("RoCE")
def test_with_ping_sr_0(echo: Echo, run: Run, link: Link) -> None:
    """The client sends and expects the same messages, and knows their number from its options."""
    s = echo.serve("echo_server")
    run("ping-sr-0/client", "-v -a", link.address, "-p", echo.port, "-c 100 -s 64").ends(0)
    s.signal("TERM").ends(0)
    echo.port = next_port()
    s = run("ping-sr-0/server", "-a", link.address, "-p", echo.port, "-c 100 -s 64").awaits("listening on")
    echo.client(100, 64).ends(0)
    s.ends(0)


@over()
def test_the_store_returns_what_was_put(run: Run, link: Link) -> None:
    """A value is in a message, or as large as it may be, or is replaced by another one; and several clients have many requests under way."""
    s = run("build/examples/store_server", link.address).awaits(": listening")

    def store(words: str, stdin: str = "") -> Process:
        return run("build/examples/store_client", link.address, words, stdin=stdin)

    assert "the key has no value" in store("get a").ends(1).err
    for value in ("value", LINES[: 1 << 20], "x" * 4024, "x" * 4025, ""):
        store("put a", value).ends(0)
        assert store("get a").ends(0).out == value
    assert "more than 1 MiB" in store("put a", LINES[: (1 << 20) + 1]).ends(1).err
    for c in [store("try 30"), store("try 30")]:
        assert c.ends(0, within=60).out == "30 values put, got and deleted\n"
    store("delete a").ends(0)
    assert "the key has no value" in store("delete a").ends(1).err
    s.signal("TERM").ends(0)


MESSAGE = 65536  # bytes, at most, of stream_client
CREDITS = 64  # the credits of stream_server
LINES = "".join(f"{number:63}\n" for number in range(100_000))  # these lines make more messages than there are credits


class Stream:
    """stream.serve(), and stream.client(LINES) of it: a server on a port of its own, and its client."""

    def __init__(self, run: Run, link: Link) -> None:
        """Keeps the link over which the stream runs."""
        self.run, self.link, self.port = run, link, 0

    def serve(self, **how: Any) -> Process:
        """Starts the server, and waits until it listens."""
        self.port = next_port()
        return self.run("build/examples/stream_server", self.link.address, self.port, **how).awaits(": listening")

    def client(self, stdin: str | int) -> Process:
        """Starts a client that sends `stdin`."""
        return self.run("build/examples/stream_client", self.link.address, self.port, stdin=stdin)

    def endless(self) -> tuple[Process, Process]:
        """A server and a client that do not end by themselves, once messages flow."""
        before = kernel.connected(self.link.transport)
        with open("/dev/zero", "rb") as zero, open("/dev/null", "wb") as null:
            s = self.serve(stdout=null.fileno())
            c = self.client(zero.fileno())
        until(lambda: kernel.connected(self.link.transport) == before + 2, "both ends are connected")
        return s, c.is_busy()


@pytest.fixture
def stream(run: Run, link: Link) -> Stream:
    """A stream over the test's link."""
    return Stream(run, link)


@over()
def test_a_stream_arrives_whole(stream: Stream) -> None:
    for text in (LINES, "x", ""):
        s = stream.serve()
        c = stream.client(text).ends(0)
        s.ends(0)
        assert s.out == text
        messages = -(-len(text) // MESSAGE) + 1  # one message is the end
        assert f": {messages} " in c.err and f": {messages} " in s.err


@over()
def test_a_stream_waits_for_credits_if_the_server_is_slow(stream: Stream) -> None:
    """The server writes to a pipe, and nobody reads until the client has used up its credits."""
    reading, writing = os.pipe()
    s = stream.serve(stdout=writing)
    os.close(writing)
    c = stream.client(LINES)
    position = Path(f"/proc/{c.pid}/fdinfo/0")
    until(lambda: int(position.read_text().split()[1]) >= CREDITS * MESSAGE, "as many messages as there are credits")
    text = b""
    while data := until(lambda: select.select([reading], [], [], 0)[0] and [os.read(reading, MESSAGE)], "more output")[0]:
        text += data
    os.close(reading)
    c.ends(0)
    s.ends(0)
    assert text.decode() == LINES
    assert int(re.findall(r"waited for credits (\d+) times", c.err)[0]) >= 1


@over()
def test_a_stream_whose_server_or_client_is_killed(stream: Stream) -> None:
    s, c = stream.endless()
    s.kill()
    c.ends(1)
    assert re.search("the server has left|Software caused connection abort|Broken pipe", c.err)
    s, c = stream.endless()
    c.kill()
    s.ends(1)
    assert "the client has left before its end" in s.err


@pytest.fixture
def huge_pages() -> Iterator[None]:
    """Four MiB of them, if they have two each."""
    path = Path("/proc/sys/vm/nr_hugepages")
    before = path.read_text()
    if not os.access(path, os.W_OK) or "Hugepagesize:       2048 kB" not in Path("/proc/meminfo").read_text():
        pytest.skip("no huge pages of 2 MiB can be had")
    path.write_text("2")
    until(lambda: "HugePages_Free:        2" in Path("/proc/meminfo").read_text(), "there are two huge pages")
    yield
    path.write_text(before)


@pytest.mark.parametrize("name", ["epoll_server", pytest.param("srq_server", marks=pytest.mark.long)])
@over("RoCE")  # the kernel may need ten seconds to find two huge pages
def test_two_connections_share_memory_of_the_program(echo: Echo, run: Run, huge_pages: None, name: str) -> None:
    s, sizes = echo.serve(name), 0
    file = Path(f"/proc/{s.pid}/exe")
    for kind, size in (("malloc", 4 << 20), ("huge", 4 << 20), (str(file), file.stat().st_size)):
        c = run("build/examples/memory_client", echo.link.address, echo.port, kind).ends(0)
        assert c.out == f"{size} bytes there and back over 2 connections\n"
        sizes += -(-size // 4096)
    s.signal("TERM").ends(0)
    assert f"{sizes} messages sent back to 6 clients" in s.out


@over("RoCE")
def test_memory_that_cannot_be_had(run: Run, link: Link) -> None:
    c = run("build/examples/memory_client", link.address, next_port(), "/nowhere").ends(1)
    assert "/nowhere: No such file" in c.err
    if "HugePages_Free:        0\n" in Path("/proc/meminfo").read_text():
        c = run("build/examples/memory_client", link.address, next_port(), "huge").ends(1)
        assert "huge: Cannot allocate memory" in c.err


@pytest.mark.skipif(len({link.device for link in LINKS}) < 2, reason="there is one device")
def test_servers_on_two_devices_in_one_process(run: Run) -> None:
    """The servers also use parts of both devices."""
    addresses = [link.address for link in LINKS if link.family == 4]
    assert run("build/tests/parts", *addresses).ends(0, within=150).out == "8 clients, 100 messages each\n"


@over()
def test_threads_with_parts_of_one_device(run: Run, link: Link) -> None:
    """The program also does things that no example does: a wait that another thread ends, a CQ for sends, a buffer that is open to a peer."""
    assert run("build/tests/parts", link.address).ends(0, within=150).out == "8 clients, 100 messages each\n"


@over()
def test_a_registration_outlives_its_memory(run: Run, link: Link) -> None:
    """examples/registration.md: what is mapped again at the same address is not what the device has."""
    run("build/examples/echo_server", link.address).awaits(": listening")
    c = run("build/examples/registration", link.address).ends(0)
    assert "predicted: they cross at" in c.out and "the peer has the old data" in c.out
