# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""build/ways: each way to wait, as the client's and as the server's."""

from pathlib import Path

import pytest
from live.conftest import Run, next_port
from live.table import LINKS, Link

WAYS = ("poll", "yield", "nap", "backoff", "spin", "channel", "nonblocking", "event", "io_uring")
IPV4 = [pytest.param(one, id=str(one), marks=() if n == 0 else pytest.mark.long)
        for n, one in enumerate(link for link in LINKS if link.family == 4)]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("link", IPV4)
def test_each_way_carries_all_messages(run: Run, link: Link, way: str) -> None:
    """Each time, the other side sleeps."""
    if way == "io_uring" and b"liburing" not in Path("build/ways/client").read_bytes():
        pytest.skip("build/ways was built without liburing-dev")
    for ways in ((way, "channel"), ("channel", way)):
        both = ["-a", link.address, "-p", next_port(), "--completions"]
        server = run("build/ways/server", *both, ways[0]).awaits("listening on")
        client = run("build/ways/client", *both, ways[1], "-v -c 200 -j").ends(0)
        assert client.json[0]["complete"]
        server.ends(0)
