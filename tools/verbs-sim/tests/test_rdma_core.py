# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""rdma-core's own tests, in Python over pyverbs, over the simulated kernel: those that pass over soft-RoCE in the lab, on Linux 6.1,
pass here, and no others. The versions are those of Debian 12 (44) and 13 (56).

Contract: the tests are those of Debian's python3-pyverbs, which has them among its documents. They take what they send at random,
which the seed decides.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from verbs_sim import ADDRESS, Run, simulate

SUITE = Path("/usr/share/doc/rdma-core/tests")

# The tests that pass in the lab, by module, without "test_".
PASS = {
    "addr": "create_ah create_ah_roce destroy_ah",
    "atomic": "atomic_cmp_and_swap atomic_fetch_and_add atomic_invalid_lkey atomic_invalid_mr_access atomic_invalid_qp_access"
    " atomic_invalid_rkey atomic_non_aligned_addr",
    "cq": "create_cq create_cq_bad_flow create_cq_with_comp_channel resize_cq",
    "cq_events": "cq_events_rc cq_events_ud",
    "cqex": "create_cq_ex create_cq_ex_bad_flow rc_traffic_cq_ex ud_traffic_cq_ex",
    "device": "dev_list open_dev phys_port_cnt_ex query_device query_device_ex query_gid query_gid_ex query_gid_ex_bad_flow"
    " query_gid_table query_gid_table_bad_flow query_pkey query_port query_port_bad_flow",
    "fork": "is_fork_initialized",
    "mr": "reg_mr_bad_flags invalidate_mw_type1 mw_type1 mw_type2 mw_type2_invalidate_dealloc mw_type2_invalidate_local"
    " mw_type2_invalidate_remote reg_mw_wrong_type",
    "pd": "alloc_pd dealloc_pd destroy_pd_twice multiple_pd_creation",
    "qp": "create_raw_qp_ex_with_illegal_caps_max_recv_sge create_raw_qp_ex_with_illegal_caps_max_recv_wr"
    " create_raw_qp_ex_with_illegal_caps_max_send_sge create_raw_qp_ex_with_illegal_caps_max_send_wr create_rc_qp_ex_no_attr"
    " create_rc_qp_ex_with_attr create_rc_qp_no_attr create_rc_qp_with_attr create_uc_qp_ex_no_attr create_uc_qp_ex_with_attr"
    " create_uc_qp_no_attr create_uc_qp_with_attr create_ud_qp_ex_no_attr create_ud_qp_ex_with_attr create_ud_qp_no_attr"
    " create_ud_qp_with_attr modify_ud_qp query_data_in_order query_rc_qp query_uc_qp query_ud_qp",
    "qpex": "full_rq_bad_flow post_receive_qp_state_bad_flow post_send_qp_state_bad_flow qp_ex_rc_atomic_cmp_swp"
    " qp_ex_rc_atomic_fetch_add qp_ex_rc_bind_mw qp_ex_rc_rdma_read qp_ex_rc_rdma_read_zero_size qp_ex_rc_rdma_write"
    " qp_ex_rc_rdma_write_imm qp_ex_rc_rdma_write_zero_length qp_ex_rc_send qp_ex_rc_send_imm qp_ex_ud_send qp_ex_ud_send_imm"
    " qp_ex_ud_zero_size rq_with_larger_sgl_bad_flow",
    "rdmacm": "rdmacm_async_ex_leave_multicast_traffic rdmacm_async_ex_multicast_traffic rdmacm_async_multicast_traffic rdmacm_async_read"
    " rdmacm_async_reject_traffic rdmacm_async_traffic rdmacm_async_traffic_external_qp rdmacm_async_udp_traffic rdmacm_async_write"
    " rdmacm_sync_traffic",
    "relaxed_ordering": "ro_rc_traffic ro_ud_traffic",
}
# Further tests of version 56.
if any(SUITE.glob("test_srq.py*")):
    PASS["device"] += " get_pkey_index"
    PASS["srq"] = "modify_srq_limit rc_srq_traffic resize_srq"

# Prints the name of each test that passes. The tests ask the kernel for the network interface of a device, and ip(8) for the address of
# that: version 44 does not find it in the lab, and skips those of rdmacm there, but 56 does. The simulated host has no interfaces.
RUNNER = """
import sys, unittest
sys.path.insert(0, sys.argv[1])
from args_parser import parser
from tests.base import RDMATestCase
RDMATestCase._get_ip_mac = lambda case, *gid: case.args.append([*gid, "ADDRESS", "00:00:00:00:00:00"])
module, sys.argv[1:] = sys.argv[2], sys.argv[3:]
class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        print("passed", test.id().rsplit(".test_")[-1])
parser.parse_args()
unittest.main(module=None, argv=["", "tests.test_" + module], testRunner=unittest.TextTestRunner(resultclass=Result))
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tests, unpacked."""
    if not SUITE.exists():
        pytest.skip(f"{SUITE} is not there: python3-pyverbs")
    folder = tmp_path_factory.mktemp("rdma-core") / "tests"
    folder.mkdir()
    for file in SUITE.iterdir():
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as packed, (folder / file.name.removesuffix(".gz")).open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    (folder / "print_passed.py").write_text(RUNNER.replace("ADDRESS", ADDRESS))
    return folder


def passed(run: Run) -> list[str]:
    return sorted(words[1] for words in map(str.split, run.out.splitlines()) if words[:1] == ["passed"])


@pytest.mark.parametrize("module", PASS)
def test_they_pass_as_in_the_lab(suite: Path, module: str) -> None:
    python = ["/usr/bin/python3", "-B", f"{suite}/print_passed.py", str(suite.parent), module, "--dev", "rxe0"]
    run = simulate([python], within_s=60)
    assert passed(run) == sorted(PASS[module].split()), run.why()
    assert not run.missing and run.left == "nothing", run.why()
