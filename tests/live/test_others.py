# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The same echo on our library, on bare verbs and on other libraries, and peers that are killed: docs/libraries.md.

Place: run by name, as it needs what `make others` builds. With -rP it prints how long each took to notice.
"""

from __future__ import annotations

import time

from live import kernel
import pytest
from live.conftest import Run, next_port
from live.processes import Process, until
from live.table import TOP, Link, over

pytestmark = pytest.mark.by_name
OURS = ["examples/echo", "examples/plain/echo"]
OTHERS = ["librdmacm", "librpma", "libfabric", "ucx"]
ENDLESS = 100_000_000
LIMIT_S = 30.0


class Echo:
    """Client and server of one library, over the test's link."""

    def __init__(self, run: Run, link: Link, name: str) -> None:
        """Starts the server, and waits until it listens."""
        if not (TOP / self.program(name, "server")[0]).exists():
            pytest.skip(f"{name} is not installed")
        if name == "ucx" and link.transport == "iWARP":
            pytest.skip("UCX does not use iWARP devices")
        self.run, self.name, self.where = run, name, [link.address, str(next_port())]
        self.server = run(*self.program(name, "server"), *self.where).awaits(": listening")

    @staticmethod
    def program(name: str, role: str) -> list[str]:
        """Returns the program, and the role for a library with one program for both."""
        return [f"build/{name}_{role}"] if name in OURS else [f"build/examples/others/{name}", role]

    def client(self, count: int) -> Process:
        """Starts a client that sends so many messages."""
        return self.run(*self.program(self.name, "client"), *self.where, count, 64)


@pytest.fixture
def echo(run: Run, link: Link, name: str) -> Echo:
    """Returns the echo of the test's library."""
    return Echo(run, link, name)


@pytest.mark.parametrize("name", OTHERS)
@over()
def test_they_echo_and_end(echo: Echo) -> None:
    assert "200 messages of 64 bytes" in echo.client(200).ends(0).out
    echo.server.ends(0)


@pytest.mark.parametrize("killed", ["client", "server"])
@pytest.mark.parametrize("name", [*OURS, *OTHERS[1:]])
@over()
def test_the_other_side_notices(echo: Echo, name: str, killed: str, link: Link) -> None:
    """The other side has noticed when its queue pair is gone, too. rsockets hang in most runs, not in all: they have no row."""
    idle = kernel.qps()
    client = echo.client(ENDLESS)
    until(lambda: sum(kernel.qps()) == sum(idle) + 2, "both ends have a queue pair")
    client.is_busy()
    begun = time.monotonic()
    (client if killed == "client" else echo.server).signal("KILL")
    until(lambda: kernel.qps() == idle, "it has noticed", LIMIT_S)
    print(f"{name}, {link.transport}, {killed} killed: {time.monotonic() - begun:.2f} s")
