# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Devices as --device describes them, and our programs: limits; several devices, ports and GIDs, among which one has to be chosen."""

from __future__ import annotations

import re
from itertools import count

import pytest
from live.table import STAGES, Stage
from sim.simulation import ADDRESS, OF_ITS_OWN, Run, pair, simulate

BY_NAME = {stage.name: stage for stage in STAGES}
# A stage that needs it, and the calls of which one fails if there is less.
LIMITS = [
    ("max_qp", "ping-sr-3", "rdma_create_qp"),
    ("max_cq", "ping-sr-3", "ibv_create_cq"),
    ("max_mr", "ping-sr-3", "ibv_reg_mr"),
    ("max_pd", "ping-rc-0", "ibv_alloc_pd"),  # librdmacm has one of its own, and without it no device
    ("max_qp_wr", "blast-sr-2", "rdma_create_qp"),
    ("max_cqe", "ping-sr-3", "ibv_create_cq"),
    ("max_sge", "ping-sr-3", "rdma_create_qp"),
    ("max_rd_atom", "ping-rdma-2", "rdma_connect"),
    ("max_srq_wr", "ping-srq-4", "ibv_create_srq"),
    ("max_qp", "ping-rc-0", "ibv_create_qp"),
]


@pytest.mark.parametrize("limit, stage, call", [pytest.param(*row, id=f"{row[1]}-{row[0]}") for row in LIMITS])
def test_a_device_with_less_than_a_program_needs(limit: str, stage: str, call: str) -> None:
    """With one less than enough, or still less, the program says so; with enough it runs."""
    assert simulate(pair(BY_NAME[stage], 5)).exit == 0
    for most in count(1):
        run = simulate(pair(BY_NAME[stage], 5), "--device", f"roce,{limit}={most}")
        if not run.exit:
            break
        assert run.exit not in OF_ITS_OWN and {*run.statuses} <= {0, 1, 2}, run.why()
        assert call in run.err or limit in run.err or "at most" in run.err, run.why()
        assert most < 2000
    assert most > 1 or limit in ("max_rd_atom", "max_sge")


# ---- Several devices ----

BOTH = ["--device", "roce,address=192.0.2.1,address=2001:db8:1::1", "--device", "iwarp,address=198.51.100.1,address=2001:db8:2::1"]
SERVED = ("192.0.2.1", "198.51.100.1", "2001:db8:1::1", "2001:db8:2::1")


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage.serves_many and not stage.roce_only], ids=str)
def test_clients_of_two_devices_are_served_at_once(stage: Stage) -> None:
    """A server that listens on every address serves them."""
    server, client = pair(stage, 20)
    at = server.index("-a")
    clients = [[address if word == ADDRESS else word for word in client] for address in SERVED]
    run = simulate([[*server[:at], *server[at + 2 :], "-n", str(len(clients))], *clients], *BOTH)
    assert not run.exit and {*run.statuses} == {0}, run.why()


# ---- What devices says of one with links of both kinds ----


@pytest.mark.parametrize("other_first", [False, True])
def test_a_gid_is_of_its_own_port(other_first: bool) -> None:
    ports = ["active/1024", "active/4096/43"][:: -1 if other_first else 1]
    gids = [f"gid={1 + other_first}/0/v2/{ADDRESS}", f"gid={2 - other_first}/0/ib/fe80::2:c903:1:2"]
    run = simulate([["tools/devices/devices"]], "--device", ",".join(["roce", *(f"port={port}" for port in ports), *gids]))
    assert re.search(rf"GID 0 +RoCE v2 .* serves {ADDRESS}\b", run.out) and not re.search(r"GID 0 +IB .* serves", run.out), run.out


@pytest.mark.parametrize("call, status", [(1, 1), (2, 1), (3, 0)])
def test_a_device_that_cannot_be_opened(call: int, status: int) -> None:
    """Whichever it is: the other is shown, and the exit status says that one is missing."""
    run = simulate([["tools/devices/devices"]], "--device", "roce", "--device", "iwarp", "--fail", f"0:ibv_open_device:{call}")
    shown = [name for place, name in enumerate(("rxe0", "siw1"), 1) if place != call]
    assert (run.statuses, re.findall(r"^(\w+): ", run.out, re.MULTILINE)) == ([status], shown), run.why()


# ---- Ports and GIDs: ping-rc-0 has to choose ----

OTHER = "192.0.2.9"
TWO_PORTS = (
    f"roce,port=active/512,port=active/2048,gid=1/0/v2/fe80::1,gid=1/1/v2/{OTHER},gid=1/2/v1/{ADDRESS}"
    f",gid=2/0/v2/fe80::2,gid=2/1/v2/{ADDRESS},gid=2/2/v2/{OTHER}"
)
THREE = [
    f"roce,gid=1/0/v2/fe80::1,gid=1/1/v2/{OTHER}",
    f"roce,gid=1/0/v2/fe80::2,gid=1/1/v2/{ADDRESS}",
    f"roce,gid=1/0/v2/fe80::3,gid=1/3/v2/{ADDRESS}",
]
LAST_GID = f"roce,gid=1/0/v2/{OTHER},gid=1/255/v2/{ADDRESS}"
IWARP_TOO = ["iwarp,name=siw0,gid=1/0/ib/200:5eff:fe00::", f"roce,name=rxe0,gid=1/0/v2/{ADDRESS}"]
INFINIBAND = "roce,name=ib0,port=active/4096/43,gid=1/0/ib/fe80::2:c903:1:2"


def one_port(port: str) -> list[str]:
    """A device whose one GID is the address."""
    return [f"roce,port={port},gid=1/0/v2/{ADDRESS}"]


def choose(devices: list[str], words: str, *programs: str) -> Run:
    """Runs both sides with these options."""
    argv = [[f"beyond/ping-rc-0/{side}", "-q", "-a", ADDRESS, "-c", "20", *words.split()] for side in programs]
    return simulate([[*one, "-w", "5"] if one[0].endswith("client") else one for one in argv], "--trace", *(word for device in devices for word in ("--device", device)))  # fmt: skip


@pytest.mark.parametrize(
    "devices, words, chosen",
    [
        ([TWO_PORTS], "", "rxe0, port 2, GID 1, MTU 1024"),  # RoCE v2 rather than v1
        ([TWO_PORTS], "--device-port 1", "rxe0, port 1, GID 2, MTU 512"),
        ([TWO_PORTS], "--gid-index 2", "rxe0, port 2, GID 2, MTU 1024"),
        ([TWO_PORTS], "--device rxe0 --gid-index 0 --device-port 2", "rxe0, port 2, GID 0, MTU 1024"),
        (THREE, "", "rxe1, port 1, GID 1, MTU 1024"),  # the program chooses the first that has the address
        (THREE, "--device rxe2", "rxe2, port 1, GID 3, MTU 1024"),
        (THREE, "--device rxe0 --gid-index 1", "rxe0, port 1, GID 1, MTU 1024"),
        ([LAST_GID], "", "rxe0, port 1, GID 255, MTU 1024"),
        ([LAST_GID], "--gid-index 255", "rxe0, port 1, GID 255, MTU 1024"),
        (one_port("active/256"), "", "rxe0, port 1, GID 0, MTU 256"),
        (one_port("active/4096"), "", "rxe0, port 1, GID 0, MTU 1024"),
        (one_port("active/2048"), "--mtu 2048", "rxe0, port 1, GID 0, MTU 2048"),
        (IWARP_TOO, "", "rxe0, port 1, GID 0, MTU 1024"),
        ([INFINIBAND], "--device ib0 --gid-index 0", "ib0, port 1, GID 0, MTU 1024"),
    ],
)
def test_what_it_chooses(devices: list[str], words: str, chosen: str) -> None:
    run = choose(devices, words, "server", "client")
    assert not run.exit and re.findall(r"^\[.* = QP \d+: (.*)$", run.err, re.MULTILINE) == [chosen] * 2, run.why()
