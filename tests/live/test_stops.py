# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Ctrl-C and SIGTERM, wherever a program may wait: it exits with status 0, and prints what it has measured."""

from live import results
from live.conftest import Client, Pair, Server, next_port
from live.processes import Process, until
from live.table import STAGES, Link, Stage, each

ALIKE = "pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0 ping-ep-0"  # these stages have other options
CHECK = {"RoCE": "ping-sr-0 ping-sr-2 ping-sr-4 blast-sr-2"}


def stages(stage: Stage) -> bool:
    """Returns the stages with the same options and results."""
    return stage.name not in ALIKE.split()


def stop(process: Process, stage: Stage, link: Link) -> Process:
    """Each stage gets one of the two signals over each device. If the peer does not read CM events while it polls its
    CQ, it does not answer the disconnect request, and the program would wait for 7 s: a second signal ends that."""
    name = ("INT", "TERM")[(STAGES.index(stage) + (link.transport == "RoCE")) % 2]
    process.signal(name)
    if not stage.notices_death and not process.has_ended(0.4):
        process.signal(name)
    return process


def stop_if_it_runs(process: Process, stage: Stage, link: Link) -> None:
    """Checks that a stage that notices that its peer has left ends by itself."""
    if stage.notices_death:
        process.ends(0, 1)
    elif not process.has_ended():
        stop(process, stage, link).ends(0, 1)


def is_of_a_part(process: Process, stage: Stage, link: Link) -> None:
    """On a slow machine a program may have ended in the warm-up: then nothing was measured."""
    result = results.of(process, stage, link, 8 if stage.name == "count-atomic-1" else 64)
    assert not result["complete"] and not result["verified"]
    assert result["seconds"] > 0 or not result["count"]


@each(stages, check=CHECK)
def test_a_client_in_mid_run(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair.endless()
    stop(c, stage, link).ends(0)
    is_of_a_part(c, stage, link)
    stop_if_it_runs(s, stage, link)
    is_of_a_part(s, stage, link)


@each(stages, check=CHECK)
def test_a_server_in_mid_run(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair.endless()
    stop(s, stage, link).ends(0)
    is_of_a_part(s, stage, link)
    stop_if_it_runs(c, stage, link)
    is_of_a_part(c, stage, link)


@each(stages, check=CHECK)
def test_a_server_while_it_listens(server: Server, stage: Stage, link: Link) -> None:
    assert not stop(server("-j"), stage, link).ends(0).out


@each(lambda stage: stages(stage) and stage.name != "count-atomic-1", check=CHECK)
def test_a_server_forever_between_clients(server: Server, client: Client, stage: Stage, link: Link) -> None:
    agreed = "-c 20"
    s = server("-n 0 -j", "" if stage.negotiates else agreed)
    client("-v", agreed).ends(0)
    until(lambda: s.out.endswith("}\n"), "the server has a result")
    stop(s, stage, link).ends(0)
    results.whole(s, stage, link, 64, 20)


@each(stages, check=CHECK)
def test_a_client_while_it_waits_for_its_server(server: Server, client: Client, stage: Stage, link: Link) -> None:
    server.port = next_port()
    c = client("-w 100000 -t").awaits("ibv_close_device" if stage.name == "ping-rc-0" else "rdma_destroy_id")
    assert not stop(c, stage, link).ends(0).out
