# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""devices --explain, asked for codes, messages and questions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import causes
from explaining import ONE_OF, explain, place
from symptom import Found, rank

CAUSES = causes.causes()


@pytest.mark.parametrize("code", [pytest.param(one, id=one.full) for one in causes.codes()])
def test_every_code_is_explained(code: causes.Code) -> None:
    assert " ".join(causes.plain(code.about).split()) in explain(code.full)


# Texts as users typed them: the code, and the title of the first cause.
ASKED = [
    ("transport retry counter exceeded", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("NET/IB : Got completion from peer 10.0.0.1<1234> with status=12 opcode=32601 len=0 vendor err 129", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    (" Failed status 12: wr_id 0 syndrom 0x81", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("vendor err 129", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("completion failed with status 12", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("rnr", "IBV_WC_RNR_RETRY_EXC_ERR", "the RNR retries are used up"),
    ("completion 7: RETRY_EXC_ERR on qp1", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("event REJECTED, status 28", "RDMA_CM_EVENT_REJECTED 28", "the server refuses"),
    ("rdma_create_qp: errno 22", "EINVAL", "more than the device has"),
    ("ibv_reg_mr failed, ret -12", "ENOMEM", "locked memory"),
    ("Cannot allocate memory", "ENOMEM", "locked memory"),
    ("ibv_post_send: Cannot allocate memory", "ENOMEM", "the send queue is full"),
    ("ibv_reg_mr failed", "", "locked memory"),
    ("RDMA_RESOLVE_ADDR: no such device", "ENODEV", "no device serves the address"),
    ("cma event RDMA_CM_EVENT_ADDR_ERROR, error -19", "ENODEV", "no device serves the address"),
    ("connection refused", "ECONNREFUSED", "nobody listens"),
    ("RDMA_CM_EVENT_REJECTED 8", "RDMA_CM_EVENT_REJECTED 8", "nobody listens"),
    ("cma event RDMA_CM_EVENT_REJECTED, error 28", "RDMA_CM_EVENT_REJECTED 28", "the server refuses"),
    ("RDMA_CM_EVENT_UNREACHABLE, -110", "ETIMEDOUT", "nobody answers the request"),
    ("ibv_modify_qp failed with error Connection timed out", "ETIMEDOUT", "RTR to a GID that nobody has"),
    ("local protection error", "IBV_WC_LOC_PROT_ERR", "a wrong lkey"),
    ("Remote access error on mlx5_0:1/RoCE (synd 0x13 vend 0x88 hw_synd 0/0)", "IBV_WC_REM_ACCESS_ERR", "no right to the peer's memory"),
    ("Work Request Flushed Error", "IBV_WC_WR_FLUSH_ERR", "flushes after a disconnect"),
    ("mlx5: host: got completion with error:\n" + "00000000 " * 13 + "00008813 10012abe 0dd0c1d3", "IBV_WC_REM_ACCESS_ERR", "no right to the peer's memory"),
    ("rdma_destroy_id hangs", "", "a CM event is not acked"),
    ("IBV_EVENT_DEVICE_FATAL", "IBV_EVENT_DEVICE_FATAL", "the device goes away"),
    # As in the issues that causes.ini names
    ("1737742661.094513] [cn0244:260472:0]      ib_mlx5_dv.c:430  UCX  ERROR   mlx5dv_devx_obj_create(QP) failed on mlx5_0, syndrome 0x2c4154: Remote I/O error\n"
     "[cn0244:260472] pml_ucx.c:421  Error: ucp_ep_create(proc=47) failed: Input/output error", "EREMOTEIO", "a command of DEVX"),
    ("libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) for device /sys/class/infiniband/bnxt_re2\nNo IB devices found", "", "another ABI"),
    ("When using the Intel E810 RDMA NIC, calling the **ibv_modify_qp** function to change the QP state to **INIT** results in an '**Invalid argument (22)**' error.",
     "EINVAL", "a new QP was reset"),
    ("rdma_context.cpp:198] Failed to register memory 0x2e1cbac200: Bad address [14]\ntorch.zeros().data_ptr()  can not register for RDMA", "EFAULT", "memory of another allocator"),
    ("RDMA QPs are never rebuilt after a port flap: post-recovery transfers run ~5x slower than during the outage", "", "the port is back"),
]  # fmt: skip


def here() -> bool:
    """Returns whether this machine has no device, so that causes which a check confirms go first."""
    return not Path("/sys/class/infiniband").is_dir()


@pytest.mark.parametrize("asked, code, name", [pytest.param(*row, id=row[0][:40]) for row in ASKED])
def test_what_is_asked(asked: str, code: str, name: str) -> None:
    said, cause = explain(asked), next(one for one in CAUSES if one.name == name)
    first = 1 if not ({"device", "address"} & {*cause.texts["check"].split()}) or not here() else ONE_OF
    assert 1 <= place(cause, said) <= first, said
    assert not code or f"{code} (" in said or f"{code}:" in said, said


def test_rails_are_among_the_first() -> None:
    """Both causes fit this line of NCCL: the address that does not answer is the more frequent one."""
    said = explain("ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx_x:1, curr state INIT, next state RTR, local GID index 3")
    name = "rails that are not connected"
    assert 1 <= place(next(one for one in CAUSES if one.name == name), said) <= 2, said
    assert name not in [cause.name for cause, _ in rank(Found("transport retry counter exceeded"))]


def test_a_number_has_several_meanings() -> None:
    """The meanings come in the order in which users ask."""
    said = explain("12")
    meanings = ("IBV_WC_RETRY_EXC_ERR (12)", "ENOMEM (12)", "RDMA_CM_EVENT_REJECTED 12")
    assert [said.index(one) for one in meanings] == sorted(said.index(one) for one in meanings)
    assert "IBV_WC" not in explain("-12") and explain("0xc") == said


def test_the_address_that_a_line_names_is_checked() -> None:
    said = explain("rdma_resolve_addr: No such device (19): 127.0.0.1:12321")
    assert "127.0.0.1 is the loopback device's" in said


# Written down, or taken from the titles of other projects' issues, before the rule was: what nobody can answer here.
UNKNOWN = [
    "my GPU is slow",
    "how do I install pytorch on ubuntu",
    "nginx returns 502 bad gateway",
    "the printer does not work",
    "what is the capital of France",
    "git push rejected non fast forward",
    "my program is slow on Tuesdays",
    "why is the build slow",
    "docker container exits immediately",
    "python import error no module named numpy",
    "kernel panic on boot",
    "mysql server has gone away",
    "disk is full",
    "segmentation fault in main",
    "the fan of my laptop is loud",
    "GPU OOM error",
    "Cannot build Dockerfile",
    "No error when out of memory in docker",
    "Error building docker image",
    "Can't train model due to GPU limit which is wrong",
    "Docker update",
    "Forcing CPU image, meant to be using GPU image",
    "flux compensator",
]  # fmt: skip


@pytest.mark.parametrize("asked", ["my program exited with status 12", "ibv_post_send returned -1", "ibv_reg_mr: ret 0"])
def test_a_number_that_is_no_code(asked: str) -> None:
    """An exit status, the -1 of a call that says more in errno, and the 0 of one that succeeded."""
    assert not Found(asked).codes


@pytest.mark.parametrize("asked", UNKNOWN)
def test_what_is_not_known(asked: str) -> None:
    """A word or two in common with a cause is no answer."""
    found = Found(asked)
    assert not found.codes and not rank(found)


# Written down in the same way: questions of this field, and the cause that is among the first.
IN_WORDS = [
    ("my client hangs and nothing arrives", "wrong first packet number"),
    ("memlock limit too low", "locked memory"),
    ("no gid for this address", "no such GID"),
    ("cuda memory cannot be registered", "memory that cannot be registered"),
    ("lost packet ends the connection", "no retries"),
    ("cq overflow", "the CQ overruns"),
    ("port is down", "the port is down"),
    ("server at 100 % cpu", "it polls"),
    ("cannot send messages bigger than 2 gb", "longer than the port's messages"),
    ("private data garbage after ack", "private data after the ack"),
]


@pytest.mark.parametrize("asked, name", IN_WORDS)
def test_what_is_asked_in_words(asked: str, name: str) -> None:
    assert name in [cause.name for cause, _ in rank(Found(asked))[:ONE_OF]]


def test_values_are_those_of_the_headers() -> None:
    headers = "".join(Path("/usr/include", name).read_text() for name in ("infiniband/verbs.h", "rdma/rdma_cma.h"))
    for kind, first in (("WC", "IBV_WC_SUCCESS"), ("CM", "RDMA_CM_EVENT_ADDR_RESOLVED"), ("ASYNC", "IBV_EVENT_CQ_ERR")):
        names = re.findall(r"\w+", headers[headers.index(first) :].partition("}")[0])
        assert [code.full for code in causes.codes() if code.kind == kind] == names


def test_nothing_known_and_wrong_use() -> None:
    explain("flux compensator", status=1)
    explain("/dev/null", status=1)
    explain("", status=2)
    explain("12", "--json", status=2)
