# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests verbs-trace with extended queues, ibv_wr_* and ibv_start_poll, of soft-RoCE: soft-iWARP has none."""

from __future__ import annotations

import os
import re
import unittest

from tracer.tracing import BUILT, Ended, run, trace

EXTENDED = BUILT / "extended"
DEVICE = os.environ.get("LAB_ROCE_DEV", "")


@unittest.skipUnless(DEVICE, "of this device it is not known whether it has extended queues")
class Extended(unittest.TestCase):
    """A program that sends to itself."""

    def traced(self, *options: str, fails: bool = False) -> Ended:
        """It ends as it does without."""
        words = [str(EXTENDED), DEVICE, *(["no-receive"] if fails else [])]
        ended = trace(*options, *words)
        self.assertEqual((run(*words).returncode, ended.returncode), (0, 0), ended.stderr)
        return ended

    def test_words(self) -> None:
        """Each call."""
        told = self.traced().stderr
        for line in (
            r"ibv_create_cq_ex\(context1, init_attr \{cqe 64, comp_vector 0, wc_flags 0x5, comp_mask 0x0\}\) = cq1 \(",
            r"ibv_create_qp_ex\(context1, .*pd1, send_cq cq1, .*comp_mask 0x41, send_ops_flags 0x1d\}\) = qp1 \(0x\w+\), "
            r"qp_num \d+ <",
            r"ibv_wr_start\(qp1\) <",
            r"ibv_wr_send_imm\(qp1, wr_id 0x2, flags SIGNALED, imm_data 0x1234\) <",
            r"ibv_wr_set_sge\(qp1, lkey 0x\w+, addr 0x\w+, length 256\) <",
            r"ibv_wr_rdma_write\(qp1, wr_id 0x3, flags SIGNALED, rkey 0x\w+, remote_addr 0x\w+\) <",
            r"ibv_wr_complete\(qp1\) = 0 <",
            r"ibv_start_poll\(cq1, \[\{wr_id 0x1, SUCCESS, RECV, bytes 256, qp1\}\]\) = 0 <",
            r"ibv_start_poll\(cq1, \[\{wr_id 0x3, SUCCESS, RDMA_WRITE, qp1\}\]\) = 0 <",
            r"ibv_end_poll\(cq1\) <",
        ):
            self.assertRegex(told, re.compile(r" t1 " + line))
        self.assertNotIn("accusation", told)

    def test_error(self) -> None:
        """-k begins with the completion in error."""
        lines = self.traced("-k", fails=True).stderr.splitlines()
        self.assertRegex(lines[0], r"ibv_start_poll\(cq1, \[\{wr_id 0x4, RNR_RETRY_EXC_ERR, vendor_err 0x\w+, qp1\}\]\) = 0 <")
        self.assertRegex(lines[1], r"ibv_end_poll\(")

    def test_summary(self) -> None:
        """-c counts them, and the error."""
        told = self.traced("-c", fails=True).stderr
        for calls, errors, verb in ((1, 0, "ibv_wr_send_imm"), (3, 0, "ibv_wr_set_sge"), (4, 0, "ibv_end_poll")):
            self.assertRegex(told, rf" {calls} +{errors} {verb}\n")
        self.assertRegex(told, r" [1-9]\d* +1 ibv_start_poll\n")
