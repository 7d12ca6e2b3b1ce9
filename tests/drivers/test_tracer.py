# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace over the drivers. sim/test_traced.py has all that it shows and accuses of; here is what the simulated device cannot
show: asynchronous events that are left in the kernel's queue, completions that are left in a provider's, calls that librdmacm
makes by itself, and a provider's own tables."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tracing import ADDRESSES, ALSO, ALSO_GUILTY, BUILT, NOT_ON, SINS, TOOL, Server, accusations, run, trace

DEVICE = os.environ.get("LAB_ROCE_DEV", "")
# A post after an error fails over the simulated soft-iWARP, for one seed and not for another.
ONLY_HERE = {"cq-overrun", "unseen-error", "posted-after-error"}
ROWS = [
    pytest.param(sin, address, id=f"{sin}-{transport}", marks=[] if sin in ONLY_HERE else [pytest.mark.long])
    for transport, address in ADDRESSES.items()
    for sin in SINS
    if (transport, sin) not in NOT_ON
]


@pytest.mark.parametrize("sin, address", ROWS)
def test_who_is_guilty(sin: str, address: str) -> None:
    """An accusation about private data comes even after more of them than verbs-trace can watch at a time: 130 refused clients bring 260."""
    times = "130" if sin == "private-data-after-ack" else "0"
    guilty, innocent = (trace("-j", BUILT / "sins", sin, how, address, times) for how in ("guilty", "innocent"))
    assert (guilty.returncode, innocent.returncode) == (0, 0), guilty.stderr + innocent.stderr
    assert {*accusations(guilty.stderr)} == {sin} | ALSO.get(sin, set()) | ALSO_GUILTY.get(sin, set())
    assert {*accusations(innocent.stderr)} == ALSO.get(sin, set())


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_no_loop_of_events_is(address: str, tmp_path: Path) -> None:
    """The trace is right whatever the order in which the driver completes and tells."""
    told = tmp_path / "server"
    server = Server("timeout", "-k", "5", "50", TOOL, "-j", "-o", told, "ping-sr-4/server", "-a", address)
    server.wait_for("rdma_listen", told)
    client = trace("-j", "ping-sr-4/client", "-q", "-a", address, "-c", "20")
    status, said = server.end()
    assert (status, client.returncode) == (0, 0), said + client.stderr
    assert not accusations(told.read_text()) and not accusations(client.stderr)


def test_calls_within_calls() -> None:
    """The option -n shows what librdmacm calls for itself, indented."""
    told = trace("-n", BUILT / "sins", "armed-not-polled", "innocent", next(iter(ADDRESSES.values()))).stderr
    assert re.search(r" t1 {5}rdma_create_qp_ex\(id\d+, ", told) and re.search(r" t1 {9}ibv_create_qp\(pd\d+, ", told)


@pytest.mark.skipif(not DEVICE, reason="of this device it is not known whether it has extended queues")
def test_tables_of_extended_queues() -> None:
    words = [str(BUILT / "extended"), DEVICE]
    traced: subprocess.CompletedProcess[str] = trace(*words)
    assert (run(*words).returncode, traced.returncode) == (0, 0), traced.stderr
    for line in (r"ibv_wr_send_imm\(qp1, wr_id 0x2, flags SIGNALED, imm_data 0x1234\) <", r"ibv_start_poll\(cq1, \[\{wr_id 0x1, SUCCESS, RECV, bytes 256, qp1\}\]\) = 0 <"):
        assert re.search(rf" t1 {line}", traced.stderr), traced.stderr
    assert "accusation" not in traced.stderr
