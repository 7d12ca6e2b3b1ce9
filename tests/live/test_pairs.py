# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs that must work together, each as server and as client: stages with each other, with a program that was
written from the protocol's description alone (tests/peer), and with ibv_rc_pingpong.
"""

import ipaddress
from pathlib import Path
from typing import Any

import pytest
from live.conftest import Client, Peer, Run, Server, next_port
from live.table import Link, Stage, each

TRANSFER = "-c 300 -s 512"
TELL = "ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5"
ONE_SIDED = "ping-rdma-1 ping-rdma-2 ping-rdma-3"
# The stages with private data, accepts or refusals of their own: the others have the same roles, and differ in how they wait.
SOME = {"RoCE": "ping-sr-1 ping-sr-2 ping-sr-4 blast-sr-2 ping-srq-4", "iWARP": "ping-sr-2 ping-sr-4 blast-sr-2 ping-srq-4"}
ALSO = {link: f"ping-sr-0 {stages}" for link, stages in SOME.items()}


def with_one_sided(check: dict[str, str]) -> dict[str, str]:
    """ping-rdma-2 has the same wire format as ping-rdma-1."""
    return {**check, "RoCE": f"{check['RoCE']} ping-rdma-1 ping-rdma-3"}


def some(first: str, others: str) -> list[Any]:
    """Values, of which `make check` runs the first ones."""
    return [*first.split(), *(pytest.param(other, marks=pytest.mark.long) for other in others.split())]


@pytest.mark.parametrize("other", some("ping-sr-1 ping-sr-2 ping-sr-4", "ping-sr-2e ping-sr-3 ping-sr-5"))
@each(f"{TELL} ping-srq-4", check=SOME)
def test_a_stage_serves_another(server: Server, client: Client, other: str) -> None:
    s = server()
    client(f"-v {TRANSFER}", stage=other).ends(0)
    s.ends(0)


def wire(stage: Stage) -> str:
    """Returns the protocol by which the independent program talks to the stage."""
    kind = {"sr-0": "--stage 0", "blast": "--blast", "rdma": f"--one-sided {stage.name[-1]}"}
    how = [options for part, options in kind.items() if part in stage.name] or ["--stage 1"]
    return f"{how[0]} {TRANSFER} --timeout 60"


def serves_the_peer(server: Server, peer: Peer, how: str = "") -> None:
    """A stage without private data gets count and size as options."""
    s = server(TRANSFER if server.stage.name == "ping-sr-0" else "")
    peer(f"peer --client {wire(server.stage)} {how} -a {{address}} -p {{port}}").ends(0)
    s.ends(0)


@each(f"ping-sr-0 {TELL} blast-sr-2 ping-srq-4 {ONE_SIDED}", check=with_one_sided(ALSO))
def test_it_serves_the_independent_program(server: Server, peer: Peer) -> None:
    serves_the_peer(server, peer)


@each(f"ping-sr-0 {TELL} blast-sr-2 ping-srq-4", check=ALSO)
def test_it_serves_one_that_works_asynchronously(server: Server, peer: Peer) -> None:
    serves_the_peer(server, peer, "--async --events")


@each(f"{TELL} blast-sr-2 ping-srq-4 {ONE_SIDED}", check=with_one_sided(SOME))
def test_it_takes_all_of_the_private_data(server: Server, peer: Peer) -> None:
    """The peers of other tests send what each stage needs, 16 bytes to most."""
    serves_the_peer(server, peer, "--full")


@each(f"ping-sr-0 {TELL} {ONE_SIDED}", check=with_one_sided(ALSO))
def test_the_independent_program_serves_it(server: Server, client: Client, stage: Stage) -> None:
    s = server(f"--server {wire(stage)}", program="build/tests/peer")
    client(f"-v {TRANSFER}").ends(0)
    s.ends(0)


@pytest.mark.parametrize("batch", [1, 5])
@each("blast-sr-2")
def test_it_returns_credits_one_by_one_or_many_at_once(server: Server, client: Client, stage: Stage, batch: int) -> None:
    s = server(f"--server --credit-batch {batch} {wire(stage)}", program="build/tests/peer")
    client(TRANSFER).ends(0)
    s.ends(0)


@pytest.mark.parametrize("buffers", [1, 2, 5, 64])
@each("blast-sr-2")
def test_three_receives_for_credits_are_enough(server: Server, peer: Peer, stage: Stage, buffers: int) -> None:
    """A client that looks for credits so late lets the agent return all that it will."""
    s = server("--credit-batch 1")
    how = f"{wire(stage)} -c 131 -n {buffers} --sleep 2"
    peer(f"peer --client {how} -a {{address}} -p {{port}}").ends(0)
    s.ends(0)


def pingpong(link: Link, *options: object) -> list[object]:
    """ibv_rc_pingpong, whose lines over TCP ping-rc-0 uses, on the device and with the GID of the address."""
    gid = ipaddress.ip_address(f"::ffff:{link.address}" if link.family == 4 else link.address)
    for path in Path("/sys/class/infiniband", link.device, "ports/1/gids").iterdir():
        if ipaddress.ip_address(path.read_text().strip()) == gid:
            return ["ibv_rc_pingpong", "-d", link.device, "-g", path.name, "-n 300 -s 512", *options]
    pytest.fail(f"{link.device} has no GID {gid}")


# These clients do without the connection manager, which iWARP needs.
@pytest.mark.parametrize("events", ["", "-e"])
@each("ping-rc-0")
def test_ping_rc_0_serves_ibv_rc_pingpong(server: Server, run: Run, link: Link, events: str) -> None:
    s = server(TRANSFER)
    program, *options = pingpong(link, "-c", events, "-p", server.port, link.address)
    run(str(program), *options).ends(0)
    s.ends(0)


@pytest.mark.parametrize("events", ["", "-e"])
@each("ping-rc-0")
def test_ibv_rc_pingpong_serves_ping_rc_0(server: Server, client: Client, run: Run, link: Link, events: str) -> None:
    server.port = next_port()
    program, *options = pingpong(link, events, "-p", server.port)
    s = run(str(program), *options)
    client(f"-w 30 {TRANSFER}").ends(0)
    s.ends(0)
