# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares docs/structures.md with the installed headers and with the programs' sources."""

import subprocess

import pytest

from devices import causes
from tools.website import structures

REQUIRED = """ibv_recv_wr ibv_send_wr ibv_sge ibv_qp ibv_cq ibv_wc ibv_mr ibv_pd ibv_qp_init_attr ibv_comp_channel ibv_context
ibv_device ibv_device_attr ibv_port_attr rdma_cm_id rdma_conn_param rdma_cm_event rdma_event_channel""".split()
CORRECT = "python3 -B -m tools.website.structures corrects this column"


def release() -> int:
    """The release of rdma-core whose headers are installed: libibverbs has it in its own version, 1.14.44.0."""
    command = ["pkg-config", "--modversion", "libibverbs"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(".")[2])


def test_fields() -> None:
    declared, rows, installed = structures.declared(), structures.rows(), release()
    assert set(REQUIRED) - {row.structure for row in rows} == set()
    for structure in {row.structure for row in rows}:
        fields = [row.field for row in rows if row.structure == structure and row.since <= installed]
        assert sorted(fields) == sorted(declared[structure]), structure


def test_named_files_use_the_fields() -> None:
    for row in structures.rows():
        if row.used_in:
            assert row.used_in in structures.sources(), CORRECT
            used = structures.used_in(row.used_in)
            assert structures.declared()[row.structure][row.field] in used, f"{row}: {CORRECT}"


def test_the_others_are_not_used() -> None:
    declared = structures.declared()
    for row in structures.rows():
        if not row.used_in and row.field in declared[row.structure]:
            assert list(structures.users(row.structure, row.field)) == [], f"{row}: {CORRECT}"


@pytest.mark.parametrize("kind, enumeration", [("WC", "ibv_wc_status"), ("CM", "rdma_cm_event_type"), ("ASYNC", "ibv_event_type")])
def test_codes(kind: str, enumeration: str) -> None:
    """Those of docs/wc-status.md and `devices --explain`; newer headers may have more."""
    explained = [code.full for code in causes.codes() if code.kind == kind]
    assert explained == structures.constants(enumeration)[: len(explained)]


def test_a_use_is_found() -> None:
    for structure, field in (("ibv_send_wr", "wr.rdma.rkey"), ("ibv_wc", "imm_data"), ("rdma_cm_event", "param.conn")):
        assert list(structures.users(structure, field)), f"{structure}.{field}"
