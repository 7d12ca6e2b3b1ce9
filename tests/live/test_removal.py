# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An RDMA device that is removed during a run, which only the lab's may be: both sides say so, and nothing else. A session of two
devices goes on over the other one, and back when the first is there again.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from live.conftest import Client, Run, Server, next_port
from live.processes import Process, until
from live.table import LINKS, Link, each, over
from tools.place import IN_GUEST

pytestmark = pytest.mark.skipif(not IN_GUEST, reason="it removes the device")
REMOVED = "RDMA_CM_EVENT_DEVICE_REMOVAL"


def rdma(words: str) -> None:
    """Changes a device."""
    subprocess.run(["rdma", "link", *words.split()], check=True, timeout=60)


def add(link: Link) -> None:
    """Adds a device that was deleted."""
    rdma(f"add {link.device} type {link.device[:3]} netdev {link.netdev}")


@pytest.fixture
def restored(link: Link, started: list[Process], no_leftovers: None) -> Iterator[None]:
    """The device is there again before it is asked what it holds."""
    yield
    for process in (one for one in started if not one.has_ended()):  # a removal that waits for them, too
        process.kill()
    if not Path("/sys/class/infiniband", link.device).exists():
        add(link)


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


@over()
def test_a_device_comes_back_while_its_programs_run(restored: None, run: Run, link: Link, tmp_path: Path) -> None:
    """The removal ends, and another device of the name can be added, only when the programs have let go of the first. Both ends
    are on it, so that either may hear first that the other has left, and nothing else: hence three times.
    """
    (other,) = (one for one in LINKS if one.family == 4 and one.device != link.device)
    s = run("beyond/ping-reconnect-2/server", "-n 0 -a 0.0.0.0 --timeout 0 --journal", tmp_path).awaits("listening on")
    c = run("build/beyond/ping-failover-2/client", link.address, other.address, 1_000_000, 5)
    until(lambda: any(journal.stat().st_size for journal in tmp_path.iterdir()), "messages arrive")
    for moves in range(1, 4):
        run("rdma", "link delete", link.device).ends(0)
        c.awaits(f"goes on over {other.address}", moves)
        add(link)
        c.awaits(f"goes on over {link.address}", moves)
    c.signal("INT").ends(0)
    s.signal("INT").ends(1)  # clients left early, or a device was removed
    (journal,) = tmp_path.iterdir()
    numbers = [int(line) for line in journal.read_text().splitlines()]
    assert numbers == [*range(len(numbers))]
