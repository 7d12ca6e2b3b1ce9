# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Stages that write, read and count in the peer's memory: what each promises besides the transfer."""

import os
from pathlib import Path

import pytest
from live import results
from live.conftest import Client, Pair, Run, Server, next_port
from live.table import LINKS, NEVER, Link, Stage, each


def on_iwarp(stage: Stage, link: Link) -> bool:
    """Returns the stages that soft-iWARP cannot run."""
    return link.transport == "iWARP"


# ---- ping-rdma-3: an agent that sees each message, by the options of the client and of the server ----

WAYS = ["--sequence / --sequence", "--last-byte / ", " / --last-byte", "--sequence / ", " / --sequence"]


def writes_in_order(link: Link) -> bool:
    """Returns whether the bytes of a WRITE appear in ascending order: soft-RoCE has the kernel's memcpy(), which on Linux 6.12,
    not on 6.1, may begin at the end unless the CPU has fast short string instructions (beyond/ping-rdma-3/README.md)."""
    release = [int(number) for number in os.uname().release.split(".")[:2]]
    return not link.device.startswith("rxe") or release <= [6, 1] or " fsrm" in Path("/proc/cpuinfo").read_text()


def is_seen(pair: Pair, stage: Stage, link: Link, way: str, completions: int) -> None:
    """Each message is seen, and the client has so many completions."""
    of_client, _, of_server = way.partition("/")
    s, c = pair("-c 1000 -s 200", f"-j {of_server}", f"-v -j {of_client}")
    c.ends(0)
    s.ends(0)
    result = results.of(c, stage, link, 200)
    assert result["count"] == 900 and result["verified"]
    assert result["cq"]["completions"] == completions
    assert results.of(s, stage, link, 200)["complete"]


@each("ping-rdma-3", where=lambda stage, link: not on_iwarp(stage, link))
def test_immediate_data_tell_of_each_message(pair: Pair, stage: Stage, link: Link) -> None:
    """The client has completions of each WRITE and each answer, and of the counts at the end."""
    is_seen(pair, stage, link, "--immediate / --immediate", 1802)


@pytest.mark.parametrize("way", [pytest.param(way, marks=pytest.mark.long if n else ()) for n, way in enumerate(WAYS)])
@each("ping-rdma-3", check={"RoCE": "ping-rdma-3"})
def test_each_message_is_seen_in_memory(pair: Pair, stage: Stage, link: Link, way: str) -> None:
    if not writes_in_order(link):
        pytest.skip("this kernel's soft-RoCE does not write in ascending order, and this CPU has no fsrm")
    is_seen(pair, stage, link, way, 902)


@each("ping-rdma-3", where=on_iwarp)
def test_without_immediate_data_both_say_so(server: Server, client: Client, link: Link) -> None:
    """No client was served, so the server waits for another."""
    wanted = f"{link.device} is an iWARP device, and iWARP has no immediate data"
    s = server("--immediate")
    assert wanted in client("--immediate").ends(1).err
    client().ends(1)
    s.signal("INT").ends(1)
    assert wanted in s.err


# ---- blast-rdma-1: READs, one at a time and many at once ----


def reads(pair: Pair, stage: Stage, link: Link, depth: int, of_server: int) -> str:
    """Runs a pair with these depths at both sides. Returns what the client said."""
    s, c = pair("-c 1000 -s 9k", f"-v --read --depth {of_server}", f"-v -j --read --depth {depth}")
    c.ends(0)
    s.ends(0)
    results.whole(c, stage, link, 9 << 10, 1000)
    return c.err


@pytest.mark.parametrize("depth", [16, pytest.param(1, marks=pytest.mark.long)])
@each("blast-rdma-1")
def test_reads_bring_what_is_there(pair: Pair, stage: Stage, link: Link, depth: int) -> None:
    assert not reads(pair, stage, link, depth, 16) or link.transport == "iWARP"


@each("blast-rdma-1", check=NEVER)
def test_reads_are_as_many_as_the_server_has_agreed_to(pair: Pair, stage: Stage, link: Link) -> None:
    """On iWARP the client does not learn of the server's depth."""
    assert "at most 2 READs are under way" in reads(pair, stage, link, 16, 2) or link.transport == "iWARP"


@each("blast-rdma-1", check=NEVER)
def test_one_that_does_not_read_or_wants_too_much(server: Server, client: Client) -> None:
    """The client WRITEs first to memory that is open only for READs."""
    s = server("--read")
    client("-c 20").ends(1)
    assert "--depth 255 is more than" in client("-c 20 --read --depth 255").ends(2).err
    s.ends(0, 1)


# ---- count-atomic-1: counting, with and without a lock ----

CROWD = ["-c 3000", "-c 2000", "-c 1000", "-c 500", "-c 200 --lock", "-c 100 --lock"]


@each("count-atomic-1")
def test_no_count_is_lost(server: Server, client: Client, stage: Stage, link: Link) -> None:
    s = server("-n 6")
    for c in [client(options, "-w 60 -v -j") for options in CROWD]:
        result = results.of(c.ends(0), stage, link, 8)
        assert result["verified"] and result["complete"] and result["round_trip_us"]
    assert "counted to 6800, and the clients' counts add up to 6800\n" in s.ends(0).err


@each("count-atomic-1", check=NEVER)
def test_the_lock_keeps_others_out(server: Server, client: Client) -> None:
    """There are many messages, so that steps of the other come between two of one that only the lock keeps together."""
    s = server("-n 2")
    for c in [client("-w 60 -c 50 --lock --hold 2000 -v") for _ in range(2)]:
        c.ends(0)
    assert "counted to 100, and the clients' counts add up to 100\n" in s.ends(0).err


@each("count-atomic-1", check=NEVER)
def test_one_that_dies_with_the_lock_keeps_it(server: Server, client: Client) -> None:
    """After two messages it holds the lock, and has read the guarded word. A client that does not use the lock is served."""
    s = server("-n 3")
    client("--lock --hold 900000000 -T").awaits("ATOMIC", 2).kill()
    assert "waited in vain for the lock: 0x" in client("--lock --timeout 1").ends(1).err
    client("-w 60 -c 50 -v").ends(0)
    s.ends(0)
    assert "a client has left, and holds the lock" in s.err
    assert "counted to 50, and the clients' counts add up to 50, without those" in s.err


# ---- Stages that a device cannot run say so at once ----

CANNOT = {"count-atomic-1": "{} (iWARP) has no atomic operations", "ping-rc-0": "{} is an iWARP device"}
IWARP = [pytest.param(link, id=str(link)) for link in LINKS if str(link) == "iWARP"]


@pytest.mark.parametrize("link", IWARP)
@pytest.mark.parametrize("name", CANNOT)
def test_over_iwarp_both_say_so_at_once(run: Run, link: Link, name: str) -> None:
    """The client reports it at once, even if it would wait a minute for its server."""
    port = next_port()
    for side in ("server", "client -w 60"):
        program = run(f"beyond/{name}/{side.split()[0]}", *side.split()[1:], "-p", port, "-a", link.address).ends(1)
        assert CANNOT[name].format(link.device) in program.err
