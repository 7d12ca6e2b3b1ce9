# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-rc-0, which connects its QPs without the connection manager: what wrong attributes come to."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from conftest import Client, Server
from table import each


@dataclass(frozen=True)
class Mistake:
    """What one side is told to do wrong, and what each then says, if it must."""

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
