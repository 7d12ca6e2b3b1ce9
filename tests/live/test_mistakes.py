# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Mistakes of users, and limits of the device and the system: each is named, with the right exit status."""

import os
import re
import subprocess

import pytest
from live import results
from live.conftest import Client, Pair, Run, Server, next_port
from live.table import LINKS, Link, Stage, each
from live.test_transfers import that_ping

NOBODYS_ADDRESS = "203.0.113.7"  # RFC 5737: for documentation, so on no machine
LONGEST = 1 << 31  # the largest size that -s takes
# The same main reads the options of all: one stage shows it, and one with options of its own.
OPTIONS = {"RoCE": "ping-sr-0 blast-sr-2"}
# The limit does not hold for root, who has CAP_IPC_LOCK; others may not take it away.
LOCK_LITTLE = ("setpriv --bounding-set=-ipc_lock " if os.geteuid() == 0 else "") + "prlimit --memlock=65536"


def on_first(link: Link) -> bool:
    """Chooses one link for all that does not depend on the device."""
    return link is LINKS[0]


def have_options(stage: Stage) -> bool:
    """Returns the stages with the same options."""
    return that_ping(stage) or stage.name == "blast-sr-2"


@each(have_options, check=OPTIONS)
def test_nobody_listens(server: Server, client: Client) -> None:
    server.port = next_port()
    c = client().ends(1)
    assert "nobody listens" in c.err and not c.out


@each(have_options, check=OPTIONS)
def test_two_servers_on_one_port(server: Server, run: Run, link: Link, stage: Stage) -> None:
    first = server()
    second = run(f"{stage.folder}/server", "-a", link.address, "-p", server.port).ends(1)
    assert "another program listens there: stop it, or choose" in second.err and not second.out
    assert not first.has_ended()
    first.signal("INT")
    first.ends(0)


@each(have_options, check=OPTIONS, links=on_first)
def test_no_device_serves_the_address(run: Run, stage: Stage, link: Link) -> None:
    s = run(f"{stage.folder}/server", "-a", NOBODYS_ADDRESS).ends(1)
    assert f"{NOBODYS_ADDRESS}:12321: no RDMA device serves this address" in s.err and not s.out


@each("ping-sr-0 ping-rc-0", check={"RoCE": "ping-sr-0"})
def test_different_sizes_are_named_as_the_likely_cause(server: Server, client: Client, stage: Stage) -> None:
    """The side that ends first names them: the other may wait forever."""
    s = server("-s 64 --timeout 5")
    c = client("-s 128 --timeout 5").ends(1)
    s.ends(0, 1)
    assert "-s" in c.err.partition("client")[2] + s.err.partition("server")[2]


# ---- Limits ----

DIFFER = {"RoCE": "ping-sr-0 ping-sr-2 ping-sr-4 blast-sr-2"}


def max_message(link: Link) -> int:
    """The longest message of the device's port, in bytes."""
    shown = subprocess.run(["ibv_devinfo", "-v", "-d", link.device], capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"max_msg_sz:\s+(0x[0-9a-f]+)", shown)[0], 16)


@each(have_options, check=DIFFER)
def test_a_message_may_be_as_long_as_the_device_says(pair: Pair, stage: Stage, link: Link) -> None:
    size = max_message(link)
    if size > 64 << 20:
        pytest.skip(f"{link.device} takes messages of {size} bytes, for which this machine is too slow")
    of_way = ("-j -v", "-v -j -b 1") if stage.one_way else ("-j", "-v -j")
    s, c = pair(f"-c 2 -s {size}", *of_way)
    c.ends(0)
    s.ends(0)
    assert results.whole(c, stage, link, size, 2)["verified"] == (not stage.one_way)


@each(have_options, check=DIFFER)
def test_a_longer_one_is_wrong_usage(run: Run, stage: Stage, link: Link) -> None:
    size = max_message(link)
    if size >= LONGEST:
        pytest.skip(f"{link.device} takes more than -s can ask for")
    for side in ("client",) if stage.negotiates else ("client", "server"):
        program = run(f"{stage.folder}/{side}", "-a", link.address, "-s", size + 1)
        assert program.ends(2).err.count(str(size + 1)) == 1
        assert f"at most {size} bytes" in program.err and link.device in program.err


@each(have_options, check=DIFFER)
def test_a_client_that_may_lock_too_little_says_so(run: Run, stage: Stage, link: Link) -> None:
    run_little = LOCK_LITTLE.split()
    c = run(run_little[0], *run_little[1:], f"{stage.folder}/client", "-a", link.address, "-s 1m").ends(1)
    assert not [text for text in ("ibv_reg_mr", "65536", "ulimit -l") if text not in c.err]


@each(have_options, check=DIFFER)
def test_a_server_that_may_lock_too_little_says_so(server: Server, client: Client, stage: Stage) -> None:
    """A server that can tell its client refuses it, and continues to serve."""
    size = "--buffer 1m" if stage.of_server else "" if stage.negotiates else "-s 1m"
    s = server(size, before=LOCK_LITTLE)
    c = client("-s 1m").ends(1)
    s.signal("TERM").ends(0 if stage.negotiates else 1)
    said = "client refused" if stage.negotiates else "ibv_reg_mr"
    assert not [text for text in (said, "65536", "ulimit -l") if text not in s.err]
    assert ("the exchange" if stage.name == "ping-rc-0" else "rdma_connect") in c.err
