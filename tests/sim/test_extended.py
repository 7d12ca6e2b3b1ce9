# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Extended queues, ibv_wr_* and ibv_start_poll, on the simulated device, with the program that drivers/test_tracer.py traces over
soft-RoCE."""

from __future__ import annotations

import pytest
from sim.simulation import simulate

EXTENDED = "build/tests/tracer/extended"


@pytest.mark.parametrize("words", [[], ["no-receive"]], ids=str)
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_program_that_sends_to_itself(words: list[str], seed: int) -> None:
    run = simulate([[EXTENDED, "rxe0", *words]], "--seed", str(seed))
    assert not run.exit, run.why()


def test_iwarp_has_none() -> None:
    assert simulate([[EXTENDED, "siw0"]], "--iwarp").statuses == [4]


def test_each_call_is_traced() -> None:
    """By verbs-trace, in front of verbs-sim."""
    told = simulate([["tools/verbs-trace/verbs-trace", EXTENDED, "rxe0"]]).err
    for line in ("ibv_create_cq_ex(", "ibv_create_qp_ex(", "ibv_wr_send_imm(qp1, wr_id 0x2", "ibv_wr_complete(qp1) = 0", "ibv_end_poll(cq1)"):
        assert f" t1 {line}" in told, told
    assert "ibv_start_poll(cq1, [{wr_id 0x1, SUCCESS, RECV, bytes 256, qp1}]) = 0" in told
