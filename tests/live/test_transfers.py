# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Messages of every size arrive complete, and both sides report it; servers of several clients, on every address."""

import pytest
from live import results
from live.conftest import Client, Pair, Run, Server, next_port
from live.processes import until
from live.table import LINKS, STAGES, Link, Stage, each

LADDER = "ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5"
BESIDE = "ping-rc-0 ping-rdma-1 ping-rdma-2 ping-rdma-3 blast-rdma-1 ping-srq-4 ping-reconnect-2"
SIZES = {"1": (1, 100), "64": (64, 300), "4k": (4096, 100), "1m": (1 << 20, 10)}
DIFFER = "ping-sr-0 ping-sr-2 ping-sr-4"  # the other stages of the ladder only wait, or tell, in another way
ROCE = {"RoCE": DIFFER}


def that_ping(stage: Stage) -> bool:
    """Stages whose messages come back, and those of blast-rdma-1, which has the same options."""
    return stage.name in f"{LADDER} {BESIDE}".split()


def that_wait(stage: Stage) -> bool:
    """Returns the stages that wait, with the nine, for rows that may depend on how a stage waits."""
    return that_ping(stage) or stage.nine


def is_short(size: str, stage: Stage, link: Link) -> bool:
    """Each stage sends one size, several packets long, over each device; stages that differ send all sizes."""
    if link.family == 6:
        return size == "4k" and stage.name in LADDER.split() and stage.name != "ping-sr-1"
    return size == "4k" or stage.name in DIFFER.split()


def each_size(size: str) -> pytest.MarkDecorator:
    """Chooses one size over both families of addresses."""
    return each(that_ping, check=lambda stage, link: is_short(size, stage, link), links=lambda link: True)


def every_byte_comes_back(pair: Pair, stage: Stage, link: Link, size: str) -> None:
    """The side that gets the last bytes compares them."""
    length, count = SIZES[size]
    s, c = pair(f"-c {count} -s {size}", server="-j -v" if stage.one_way else "-j", client="-v -j")
    c.ends(0)
    s.ends(0)
    assert results.whole(c, stage, link, length, count)["verified"] == (not stage.one_way)
    assert not results.whole(s, stage, link, length, count)["verified"]


@each_size("1")
def test_every_message_of_one_byte_comes_back(pair: Pair, stage: Stage, link: Link) -> None:
    every_byte_comes_back(pair, stage, link, "1")


@each_size("64")
def test_every_message_of_64_bytes_comes_back(pair: Pair, stage: Stage, link: Link) -> None:
    every_byte_comes_back(pair, stage, link, "64")


@each_size("4k")
def test_every_message_of_several_packets_comes_back(pair: Pair, stage: Stage, link: Link) -> None:
    every_byte_comes_back(pair, stage, link, "4k")


@each_size("1m")
def test_every_message_of_one_mebibyte_comes_back(pair: Pair, stage: Stage, link: Link) -> None:
    every_byte_comes_back(pair, stage, link, "1m")


@each(that_wait, check=ROCE)
def test_one_message_is_a_run_and_not_verified_without_v(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair("-c 1", client="-j")
    c.ends(0)
    s.ends(0)
    assert not results.whole(c, stage, link, 64, 1)["verified"]


@each(that_wait, check=ROCE)
def test_a_run_for_a_time(pair: Pair, stage: Stage, link: Link) -> None:
    """On a slow machine a run may end in the warm-up: then nothing was measured."""
    s, c = pair("-D 1", server="-j -v" if stage.one_way else "-j", client="-v -j")
    c.ends(0)
    s.ends(0)
    result = results.of(c, stage, link)
    assert result["complete"] and result["verified"] == (not stage.one_way)
    assert result["seconds"] > 0 or not result["count"]
    assert results.of(s, stage, link)["complete"]


@each(that_wait, check=ROCE)
def test_three_clients_after_one_another(server: Server, client: Client, stage: Stage, link: Link) -> None:
    agreed = "-c 50"
    s = server("-n 3 -j", "" if stage.negotiates else agreed)
    for index in range(3):
        results.whole(client(agreed, "-v -j").ends(0), stage, link, 64, 50)
    s.ends(0)
    for index in range(3):
        results.whole(s, stage, link, 64, 50, index)


@each(lambda stage: that_wait(stage) or stage.name == "blast-sr-2", check={"RoCE": f"{DIFFER} blast-sr-2"})
def test_a_server_keeps_nothing_of_clients_that_left(server: Server, client: Client, stage: Stage) -> None:
    """When a process ends, the kernel releases all it has. A server that goes on has to release everything itself."""
    agreed = "-c 20"
    s = server("-n 0", "-v" if stage.one_way else "", "" if stage.negotiates else agreed)
    before = s.holds()
    for _ in range(2):
        client(agreed, "-v").ends(0)
    until(lambda: s.holds() == before, f"the server holds what it held before: {before}")
    s.signal("INT").ends(0)


@each(that_wait, check=ROCE)
def test_a_client_waits_for_its_server(server: Server, client: Client, stage: Stage) -> None:
    """The last verb of an attempt has been called when the server comes."""
    agreed, port = "-c 20", next_port()
    server.port = port
    c = client("-w 60 -t -v", agreed).awaits("ibv_close_device" if stage.name == "ping-rc-0" else "rdma_destroy_id")
    s = server("" if stage.negotiates else agreed, port=port)
    c.ends(0)
    s.ends(0)


LISTEN = "ping-sr-0 ping-sr-1 ping-sr-2 ping-sr-4 blast-sr-2 ping-rc-0 ping-rdma-1 ping-rdma-3 blast-rdma-1"


@pytest.mark.parametrize("name", f"{LISTEN} count-atomic-1 ping-srq-4".split())
def test_a_server_without_an_address_is_found_at_each(run: Run, name: str) -> None:
    """The server listens over IPv4 and IPv6, on every device, and says nothing of that."""
    stage = next(stage for stage in STAGES if stage.name == name)
    links = [link for link in LINKS if not (stage.roce_only and link.transport == "iWARP")]
    port = next_port()
    s = run(f"{stage.folder}/server", "-q -p", port, "-n", len(links), "" if stage.negotiates else "-c 20")
    for link in links:
        run(f"{stage.folder}/client", "-q -w 60 -c 20 -p", port, "-a", link.address).ends(0)
    assert not s.ends(0).err
