# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Devices as --device describes them, and our programs: limits, and several devices. Which ping-rc-0 chooses is in transcripts/devices.txt."""

from __future__ import annotations

from itertools import count

import pytest
from live.table import STAGES, Stage
from sim.simulation import ADDRESS, OF_ITS_OWN, pair, simulate

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
