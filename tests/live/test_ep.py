# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ping-ep-0, which uses nothing of the suite: with itself and the stages, and signals."""

import re
from pathlib import Path

from live import kernel
import pytest
from live.conftest import Client, Server
from live.processes import Process, until
from live.table import NEVER, TOP, each

HEADER = Path("/usr/include/rdma/rdma_verbs.h")
FOLDER = TOP / "beyond/ping-ep-0"
OTHERS = ["ping-sr-0", "ping-sr-1", "ping-sr-2e", "ping-sr-2", "ping-sr-3", "ping-sr-4", "ping-sr-5"]
TRANSFER = "-c 200 -s 3k"


def functions_of_header() -> dict[str, set[str]]:
    """Returns each function of rdma_verbs.h, with what it calls of this header and of libibverbs."""
    found: dict[str, set[str]] = {}
    for line in HEADER.read_text().splitlines():
        if begins := re.match(r"(?:(?:static inline )?(?:int|void) \*?)?(rdma_[a-z_]+)\(", line):
            calls = found[begins[1]] = set()
        elif found:
            calls |= set(re.findall(r"((?:ibv|rdma)_[a-z_]+)\(", line)) - {"rdma_seterrno"}
    return found


def test_the_readme_has_each_function_and_what_it_calls() -> None:
    rows = re.findall(r"^\| `(rdma_\w+)` \|([^|]*)\|", (FOLDER / "README.md").read_text(), re.M)
    told = {name: set(re.findall(r"\w+", calls)) for name, calls in rows}
    assert told == functions_of_header() and len(told) >= 15
    assert told["rdma_post_recvv"] == {"ibv_post_recv", "ibv_post_srq_recv"}


def test_each_side_includes_nothing_of_the_suites() -> None:
    assert not [path for path in FOLDER.glob("*.[ch]") if '#include "' in path.read_text().replace('#include "both.h"', "")]


@pytest.mark.parametrize("other", OTHERS)
@each("ping-ep-0", check=NEVER)
def test_it_serves_a_stage(server: Server, client: Client, other: str) -> None:
    s = server(TRANSFER)
    client(TRANSFER, "-v", stage=other).ends(0)
    s.ends(0)


@pytest.mark.parametrize("other", OTHERS)
@each("ping-ep-0", check=NEVER)
def test_a_stage_serves_it(server: Server, client: Client, other: str) -> None:
    s = server(TRANSFER, program=f"{other}/server")
    client(TRANSFER).ends(0)
    s.ends(0)


def both_in_mid_run(server: Server, client: Client) -> tuple[Process, Process]:
    """Server and client, connected."""
    before = kernel.connected(server.link.transport)
    s, c = server("-c 1000000000"), client("-c 1000000000")
    until(lambda: kernel.connected(server.link.transport) == before + 2, "both ends are connected")
    return s, c.is_busy()


@each("ping-ep-0", check=NEVER)
def test_the_client_is_stopped_or_killed(server: Server, client: Client) -> None:
    """This is no failure of the server's."""
    s, c = both_in_mid_run(server, client)
    c.signal("TERM").ends(0)
    s.ends(0)
    s, c = both_in_mid_run(server, client)
    c.kill()
    s.ends(0)
    assert any(reason in s.err for reason in ("has left", "flushed", "status"))


@each("ping-ep-0", check=NEVER)
def test_the_server_is_stopped_or_killed(server: Server, client: Client) -> None:
    """soft-iWARP refuses to post where it has noticed the end and the client has not."""
    reasons = ("has left", "status", "rdma_post_send: Input/output error")
    s, c = both_in_mid_run(server, client)
    s.signal("TERM").ends(0)
    assert any(reason in c.ends(1).err for reason in reasons)
    s, c = both_in_mid_run(server, client)
    s.kill()
    assert any(reason in c.ends(1).err for reason in reasons)
