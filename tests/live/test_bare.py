# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-rc-0, which connects its QPs without the connection manager: what wrong attributes come to, and peers on its TCP
connection that violate the protocol.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

import pytest
from live.conftest import Client, Server
from live.table import NEVER, each

LINE = b"0000:000011:9a3b5c:00000000000000000000ffffc0000201"
NO_GID = b"0000:000011:9a3b5c:00000000000000000000000000000000"


@dataclass(frozen=True)
class Mistake:
    """An option that makes one side do something wrong, and the text that each side must print, if any."""

    client: str = ""
    server: str = ""
    client_says: str = ""
    server_says: str = ""
    status: int = 1

    def __str__(self) -> str:
        return f"client {self.client}" if self.client else f"server {self.server}"


NOT_TO_RTR = "ibv_modify_qp: Invalid argument (22): to RTR"
MISTAKES = [
    Mistake("--mistake no-grh", "", NOT_TO_RTR, "ended the exchange"),
    Mistake("--gid-index 0", "", "ended the exchange", "its GID stands for an IPv6 address, and ours for one of IPv4"),
    Mistake("", "--mistake no-grh", "ended the exchange", NOT_TO_RTR),
    Mistake("--gid-index 255", "", "has no GID there"),
    Mistake("--mtu 4096", "", "--mtu 4096 is more than port 1 of", status=2),
    # A program that waits for a message that does not come polls until its time limit. After a wrong PSN this depends
    # on the other PSN, which is random.
    Mistake("--mistake qpn", "", "transport retry counter exceeded (status 12"),
    Mistake("", "--mistake qpn", "", "transport retry counter exceeded (status 12"),
    Mistake("--mistake psn", "", "after 0 messages"),
]


@pytest.mark.parametrize(
    "mistake", [pytest.param(one, id=str(one), marks=pytest.mark.long if n > 1 else ()) for n, one in enumerate(MISTAKES)]
)
@each("ping-rc-0")
def test_a_mistake_comes_to_what_the_readme_says(server: Server, client: Client, mistake: Mistake) -> None:
    s = server(mistake.server)
    c = client("--timeout 12", mistake.client).ends(mistake.status)
    s.awaits(mistake.server_says)
    if not s.has_ended():
        s.signal("INT")
    s.ends(0, 1)
    assert mistake.client_says in c.err
    assert "900 messages" not in c.out


class Stranger:
    """A connection to the server."""

    def __init__(self, server: Server) -> None:
        """Connects to the server."""
        self.socket = socket.create_connection((server.link.address, server.port), timeout=60)

    def says(self, data: bytes) -> Stranger:
        """The server reads only the first part of more than a line."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self

    def is_answered(self) -> Stranger:
        """Waits for the server's line."""
        answer = self.socket.recv(len(LINE) + 1, socket.MSG_WAITALL)
        assert len(answer) == len(LINE) + 1 and not answer[-1]
        return self

    def is_refused(self) -> None:
        """The server closes the connection, and does not answer."""
        try:
            assert not self.socket.recv(8)
        except ConnectionResetError:
            pass
        self.leaves()

    def leaves(self) -> None:
        """Leaves without another word."""
        self.socket.close()


@each("ping-rc-0", check=NEVER)
def test_strangers_on_the_line_are_refused_and_the_next_is_served(server: Server, client: Client) -> None:
    s = server("-c 50")
    said = [
        b"x" * (len(LINE) + 1),
        b"x" * (10 << 20),
        b"GET / HTTP/1.1\r\nHost: a.server.that.listens.for.programs\r\n\r\n",
        LINE.replace(b":", b"-") + b"\0",
        LINE[:-2] + b"g1\0",
        LINE + b"\n",  # this line has a newline in the place of the zero
        NO_GID + b"\0",
    ]
    for data in said:
        Stranger(server).says(data).is_refused()
    for length in (20, 0, len(LINE) + 1):
        Stranger(server).says((LINE + b"\0")[:length]).leaves()
    Stranger(server).says(LINE + b"\0").is_answered().says(b"gone\0").is_refused()
    silent = Stranger(server)
    client("-w 60 -c 50 -v").ends(0)
    s.ends(0)
    silent.leaves()
    assert s.err.count("did not say LID:QPN:PSN:GID") == 7  # one of these lines is "gone"
    assert s.err.count("it has told no GID") == 1
    assert s.err.count("ended the exchange") >= 3
    assert s.err.count("said nothing of its QP") == 1
