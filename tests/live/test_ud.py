# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-ud-0 and mcast-ud-0: datagrams, which arrive or are lost; and devices that have none."""

from __future__ import annotations

import re

import pytest
from live.conftest import Run, next_port
from live.processes import Process
from live.table import Link, over

GROUP = "224.1.2.9"


def of_roce(link: Link) -> bool:
    """Returns whether a link is RoCE over IPv4."""
    return link.transport != "iWARP" and link.family == 4


def either(link: Link) -> bool:
    """Returns whether a link is RoCE over IPv4 or IPv6."""
    return link.transport != "iWARP"


class Ping:
    """A server, and clients of it."""

    def __init__(self, run: Run, link: Link, options: str = "") -> None:
        """Starts the server, and waits until it listens."""
        self.run, self.where = run, f"-a {link.address} -p {next_port()}"
        self.server = run("beyond/ping-ud-0/server", self.where, options).awaits(": listening")

    def client(self, options: str) -> Process:
        """Starts a client of the server."""
        return self.run("beyond/ping-ud-0/client", self.where, options)

    def answered(self) -> str:
        """Stops the server, and returns how many messages it has answered."""
        return self.server.signal("TERM").ends(0).out


@over(links=either)
def test_every_message_is_sent_back(run: Run, link: Link) -> None:
    ping = Ping(run, link)
    for client in (ping.client("-c 200"), ping.client("-c 100 -s 1024")):
        client.ends(0)
    assert ping.answered() == "2 clients asked, 300 messages sent back\n"


@pytest.mark.parametrize("options", ["-q 0x1234", "-s 1025"])
@over("RoCE", links=of_roce)
def test_nobody_is_told_of_what_is_lost(run: Run, link: Link, options: str) -> None:
    """Such datagrams have a QKEY that is not the server's, or are longer than a packet."""
    ping = Ping(run, link)
    assert re.fullmatch(r"5 messages of \d+ bytes, 5 lost\n", ping.client(f"-c 5 {options}").ends(1).out)
    ping.client("-c 5").ends(0)
    assert ping.answered() == "2 clients asked, 5 messages sent back\n"


@over("RoCE", links=of_roce)
def test_a_group_of_two(run: Run, link: Link) -> None:
    """Each member gets what is sent once, and a member that has left gets nothing."""
    members = [run("beyond/mcast-ud-0/client", GROUP, link.address).awaits(": joined") for _ in range(3)]
    members.pop().signal("TERM").ends(-15)
    sender = run("beyond/mcast-ud-0/server", GROUP, link.address, 50).ends(0)
    assert sender.out == "50 messages sent\n"
    assert [member.ends(0).out for member in members] == ["50 messages, 0 missing\n"] * 2
