# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""docs/structures.md and docs/verbs.md, against the installed headers and the programs' sources."""

import re
import subprocess

import pytest

import causes
from tools.site import prototypes, structures, verbs
from tools.site.pages import TOP

REQUIRED = """ibv_recv_wr ibv_send_wr ibv_sge ibv_qp ibv_cq ibv_wc ibv_mr ibv_pd ibv_qp_init_attr ibv_comp_channel ibv_context
ibv_device ibv_device_attr ibv_port_attr rdma_cm_id rdma_conn_param rdma_cm_event rdma_event_channel""".split()
CORRECT = "python3 -B -m tools.site.structures corrects this column"


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
    """Compares the codes of docs/wc-status.md and `devices --explain`; newer headers may have more."""
    explained = [code.full for code in causes.codes() if code.kind == kind]
    assert explained == structures.constants(enumeration)[: len(explained)]


def test_a_use_is_found() -> None:
    for structure, field in (("ibv_send_wr", "wr.rdma.rkey"), ("ibv_wc", "imm_data"), ("rdma_cm_event", "param.conn")):
        assert list(structures.users(structure, field)), f"{structure}.{field}"


def test_the_verbs_are_those_that_are_used() -> None:
    used = verbs.used()
    assert len(used) > 50
    assert verbs.documented() == used


def test_prototypes() -> None:
    """Each part of the page asks for its own prototypes: lint checks that they are current."""
    page = (TOP / "docs/verbs.md").read_text()
    asked = re.findall(r"^<!-- table: (prototypes-\S+) -->$", page, re.MULTILINE)
    assert asked == list(prototypes.parts())
    assert {verb for part in asked for verb in prototypes.parts()[part]} == set(verbs.documented())


def test_layout() -> None:
    """A macro's prototype has the types of the function behind it; lines are short."""
    found = prototypes.prototypes()
    assert found["ibv_dealloc_pd"] == "int ibv_dealloc_pd(struct ibv_pd *pd);"
    assert "struct ibv_port_attr *port_attr" in found["ibv_query_port"]
    assert prototypes.wrapped("int f(", ["int " + "a" * 50, "int " + "b" * 50]) == f"int f(int {'a' * 50},\n      int {'b' * 50});"
