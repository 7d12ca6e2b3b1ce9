# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Servers among clients that are hostile or too many: an honest client is served, and nothing of the others is kept.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest
from live.conftest import Client, Peer, Server
from live.processes import Process, until
from live.table import NEVER, Link, Stage, each

ONE_AT_A_TIME = "ping-sr-0 ping-sr-1 ping-sr-2e"
LADDER = f"{ONE_AT_A_TIME} ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2"
SOME = {"RoCE": "ping-sr-2 ping-sr-4"}
GROWTH_KIB = 16384  # arenas of malloc(3), up to eight a processor, which it keeps


class Crowd:
    """crowd("silent", 24, window=64): clients in one process. What they have of connections they keep until leave()."""

    def __init__(self, peer: Peer, way: str, number: int, window: int, size: int = 64, buffers: int = 4) -> None:
        """Starts the strangers."""
        how = f"-c {number} --window {window} -s {size} -n {buffers} --timeout 240"
        self.number = number
        self.process = peer(f"peer --client --crowd {way} {how} -a {{address}} -p {{port}}", stdin=subprocess.PIPE)

    def answered(self) -> tuple[int, int, int]:
        """Returns how many were connected, refused, or failed, once each has an answer."""
        said = self.process.awaits("failed", where="out", within=200).out
        connected, refused, failed = (int(word) for word in said.split() if word.isdigit())
        return connected, refused, failed

    def leave(self) -> None:
        """Ends the strangers."""
        self.process.hang_up().ends(0)


@pytest.fixture
def crowd(peer: Peer) -> Callable[..., Crowd]:
    """Connects strangers to the last server."""
    return lambda *how, **more: Crowd(peer, *how, **more)


class Held:
    """A server that goes on, and what it holds before a crowd comes."""

    def __init__(self, server: Process) -> None:
        """Begins when the server listens."""
        self.server, self.before, self.kib = server, server.holds(), server.memory_kib()

    def ends(self) -> None:
        """The server holds nothing more. If it was told to stop, it has not failed."""
        until(lambda: self.server.holds() == self.before, f"the server holds what it held before: {self.before}", 100)
        assert self.server.memory_kib() - self.kib <= GROWTH_KIB
        self.server.signal("INT").ends(0)


@pytest.mark.parametrize("requests", [200, pytest.param(2000, marks=pytest.mark.long)])
@each(lambda stage: stage.name in LADDER.split()[1:], check={"RoCE": "ping-sr-4"})  # ping-sr-0 takes anybody
def test_a_flood_of_nonsense(server: Server, client: Client, crowd: Callable[..., Crowd], requests: int) -> None:
    """Each request gets an answer, but not always from the server, whose backlog may be full."""
    s = Held(server("-n 0"))
    flood = crowd("nonsense", requests, window=64)
    client("-c 500 -v -q -w 20").ends(0)
    connected, refused, failed = flood.answered()
    flood.leave()
    client("-c 20 -q -w 20").ends(0)
    assert connected == 0 and refused + failed == requests
    s.ends()


def silent_beside(stage: Stage, link: Link, number: int) -> int:
    """Returns how many silent clients there can be. If the server serves one at a time, the others wait, with
    soft-iWARP for no longer than 10 s; and soft-iWARP has queues for some 48 connections."""
    if stage.name in ONE_AT_A_TIME.split():
        return 2 if link.transport == "iWARP" else min(number, 30)
    return min(number, 20) if link.transport == "iWARP" else number


@pytest.mark.parametrize("number", [8, pytest.param(300, marks=pytest.mark.long)])
@each(LADDER, check=SOME)
def test_silent_ones_are_given_up(
    server: Server, client: Client, crowd: Callable[..., Crowd], stage: Stage, link: Link, number: int
) -> None:
    """A client that comes when they are there is served at once or, where one is served at a time, after them."""
    s = Held(server("-n 0 --timeout 2", "-c 200" if stage.name == "ping-sr-0" else ""))
    are_given_up(s, client, crowd("silent", silent_beside(stage, link, number), window=64))


@each("ping-sr-4", check=NEVER, links=lambda link: link.transport == "RoCE" and link.family == 4)
def test_ones_that_do_not_finish_the_handshake_are_given_up(
    server: Server, client: Client, crowd: Callable[..., Crowd]
) -> None:
    are_given_up(Held(server("-n 0 --timeout 2")), client, crowd("half", 24, window=64))


def are_given_up(s: Held, client: Client, silent: Crowd) -> None:
    """The server says so of each, one way or the other. Of one that gave up waiting for an answer it may hear, or not."""
    client("-c 200 -v -q", "-w 20").ends(0, within=150)
    connected, _, failed = silent.answered()
    number = silent.number

    def given_up() -> int:
        return sum("said nothing for 2 s" in line or "rdma_accept" in line for line in s.server.err.splitlines())

    until(lambda: given_up() >= number, f"the server has given up {number}", 150)
    silent.leave()
    assert connected == number and given_up() <= number + failed
    s.ends()


@each("blast-sr-2", links=lambda link: link.transport == "RoCE" and link.family == 4)
def test_five_that_claim_more_memory_than_is_left(server: Server, client: Client, crowd: Callable[..., Crowd]) -> None:
    """Each of the clients claims 256 MiB."""
    s = Held(server("-n 0 --max-memory 100m"))
    claims = crowd("silent", 5, window=5, size=65536, buffers=4096)
    assert claims.answered()[1] == 5
    claims.leave()
    client("-c 200 -v -s 4k").ends(0)
    refusals = [line for line in s.server.said if "client refused: it would take 27" in line]
    assert len(refusals) == 5
    assert all("and 104857600 of 104857600 are left" in line for line in refusals)
    s.ends()


@each("ping-sr-3", links=lambda link: link.transport == "RoCE" and link.family == 4)
def test_more_than_there_are_descriptors_for(server: Server, client: Client, crowd: Callable[..., Crowd]) -> None:
    s = server("-n 0", before="prlimit --nofile=64")
    many = crowd("silent", 20, window=4)
    assert many.answered()[:2] == (8, 12)
    many.leave()
    client("-c 20 -w 20").ends(0)
    s.signal("INT").ends(0)
    assert "at most 8 clients at a time: there are descriptors for no more" in s.err


@each("ping-sr-4", links=lambda link: link.transport == "RoCE" and link.family == 4)
def test_results_that_nobody_reads(server: Server, client: Client) -> None:
    """stdout is a pipe that is full already: the server goes on, and says at its end that it was not read."""
    unread, full = os.pipe()
    os.set_blocking(full, False)
    os.write(full, bytes(1 << 20))
    os.set_blocking(full, True)
    s = server("-n 3 -j", stdout=full)
    for _ in range(3):
        client("-c 3 -q").ends(0)
    s.ends(1)
    os.close(full)
    os.close(unread)
    assert "nobody read stdout or stderr: " in s.err
