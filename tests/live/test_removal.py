# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An RDMA device that is removed during a run, which only the lab's may be: both sides say so, and nothing else."""

import subprocess
from collections.abc import Iterator

import pytest
from live.conftest import Client, Run, Server, next_port
from live.processes import Process
from live.table import Link, each, over
from tools.place import IN_GUEST

pytestmark = pytest.mark.skipif(not IN_GUEST, reason="it removes the device")
REMOVED = "RDMA_CM_EVENT_DEVICE_REMOVAL"


def rdma(words: str) -> None:
    """Changes a device."""
    subprocess.run(["rdma", "link", *words.split()], check=True, timeout=60)


@pytest.fixture
def restored(link: Link, no_leftovers: None) -> Iterator[None]:
    """The device is there again before it is asked what it holds."""
    yield
    rdma(f"add {link.device} type {link.device[:3]} netdev {link.netdev}")


def was_told(program: Process) -> bool:
    """It reports the removal or that the peer has left, or, on soft-iWARP, that a send failed before; it does not blame
    rdma_disconnect."""
    said = "\n".join(program.said)
    reasons = (REMOVED, "the client left after", "the server left after", "local QP operation error")
    return any(reason in said for reason in reasons) and "rdma_disconnect" not in said


# One of the stages has a thread for events, the other one loop.
@each("ping-sr-2 ping-sr-4", check={"RoCE": "ping-sr-4", "iWARP": "ping-sr-4"})
def test_both_sides_say_so(restored: None, server: Server, client: Client, link: Link) -> None:
    s = server("-n 2")
    c = client("-c 1000000000 -T").awaits("SUCCESS, RECV", 20)
    rdma(f"delete {link.device}")
    c.ends(1)
    s.ends(1)
    assert was_told(c) and was_told(s)
    assert any(REMOVED in line for program in (c, s) for line in program.said)


@over()
def test_programs_without_the_library_say_so(restored: None, run: Run, link: Link) -> None:
    where = (link.address, next_port())
    s = run("build/examples/plain/echo_server", *where).awaits(": listening")
    c = run("build/examples/plain/echo_client", *where, 1_000_000_000).is_busy()
    rdma(f"delete {link.device}")
    c.ends(1)
    s.ends(1)
    assert any("the RDMA device was removed" in program.err for program in (c, s))
    assert "RDMA device was removed" in s.err
