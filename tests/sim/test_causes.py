# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""devices --explain, and its table: each cause is shown by its command, and found by what that prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import causes
from causes import Cause
from symptom import Found, rank
from quotes import symptoms

LIMIT_S = 60
CAUSES = causes.causes()
SHOWN = [cause for cause in CAUSES if cause.texts["sim"]]
ONE_OF = 4  # that are explained in full
NO_MESSAGE = {"something still uses it", "the RNR timer is 0", "no READs were agreed on", "datagrams vanish", "the GRH is in front"}  # what is printed is no error


def explain(*words: str, status: int | None = 0, stdin: str = "") -> str:
    """What it says, on one line; with `status` None, whatever it exits with."""
    done = subprocess.run(["tools/devices/devices", "--explain", *words], cwd=symptoms.TOP, input=stdin, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def place(cause: Cause, said: str) -> int:
    """Which of the explained ones it is, from 1; 0: none."""
    title = " ".join(causes.plain(cause.texts["title"]).split())
    found = re.search(rf"(\d)\. {re.escape(title)} why:", said)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("cause", [pytest.param(one, id=one.name) for one in SHOWN])
def test_a_cause_is_shown_and_found(cause: Cause) -> None:
    """By the command that needs no device; and one of the lines leads to it."""
    printed = symptoms.run(cause.texts["sim"], LIMIT_S)
    assert not symptoms.missing(cause.shows, printed), f"$ {cause.texts['sim']}\n" + "\n".join(printed)
    if cause.name not in NO_MESSAGE:
        places = [place(cause, explain(line, status=None)) for line in cause.shows if "docs/" not in line]
        assert any(places), cause.shows


def test_each_cause_has_a_command_that_shows_it() -> None:
    assert len(SHOWN) >= 40 and all(cause.shows and (cause.texts["sim"] or cause.texts["lab"]) for cause in CAUSES)


def test_pages_and_steps_exist() -> None:
    steps = set(re.findall(r'^\t\{ "(\w+)", check_', (symptoms.TOP / "tools/devices/check.c").read_text(), re.MULTILINE))
    for cause in CAUSES:
        page, _, anchor = cause.texts["page"].partition("#")
        text = (symptoms.TOP / "docs" / (page or "symptoms.md")).read_text()
        heads = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in re.findall(r"^#+ (.*)", text, re.MULTILINE)}
        assert not anchor or anchor in heads, cause
        assert {*cause.texts["check"].split()} <= steps, cause


@pytest.mark.parametrize("code", [pytest.param(one, id=one.full) for one in causes.codes()])
def test_every_code_is_explained(code: causes.Code) -> None:
    assert " ".join(causes.plain(code.about).split()) in explain(code.full)


# As their askers typed them: the code, and the title of the first cause.
ASKED = [
    ("transport retry counter exceeded", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("NET/IB : Got completion from peer 10.0.0.1<1234> with status=12 opcode=32601 len=0 vendor err 129", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    (" Failed status 12: wr_id 0 syndrom 0x81", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("vendor err 129", "IBV_WC_RETRY_EXC_ERR", "the peer is gone"),
    ("rnr", "IBV_WC_RNR_RETRY_EXC_ERR", "the RNR retries are used up"),
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
]  # fmt: skip


def here() -> bool:
    """Whether this machine has no device, so that causes which a check confirms go first."""
    return not Path("/sys/class/infiniband").is_dir()


@pytest.mark.parametrize("asked, code, name", [pytest.param(*row, id=row[0][:40]) for row in ASKED])
def test_what_is_asked(asked: str, code: str, name: str) -> None:
    said, cause = explain(asked), next(one for one in CAUSES if one.name == name)
    first = 1 if not ({"device", "address"} & {*cause.texts["check"].split()}) or not here() else ONE_OF
    assert 1 <= place(cause, said) <= first, said
    assert not code or f"{code} (" in said or f"{code}:" in said, said


def test_a_number_has_several_meanings() -> None:
    """In the order of those that are asked."""
    said = explain("12")
    meanings = ("IBV_WC_RETRY_EXC_ERR (12)", "ENOMEM (12)", "RDMA_CM_EVENT_REJECTED 12")
    assert [said.index(one) for one in meanings] == sorted(said.index(one) for one in meanings)
    assert "IBV_WC" not in explain("-12") and explain("0xc") == said


def test_a_trace() -> None:
    """Of verbs-trace, as text and as JSON: the first error, not the flushes behind it."""
    for option in ("-w", "-j"):
        command = f"verbs-sim -- verbs-trace {option} build/tests/tracer/sins posted-after-error guilty 192.0.2.1"
        trace = "\n".join(symptoms.run(command, LIMIT_S))
        said = explain("-", stdin=trace)
        assert "IBV_WC_REM_ACCESS_ERR (10)" in said and "rkey" in said, said
        assert "IBV_WC_WR_FLUSH_ERR (5)" not in said, said


@pytest.mark.parametrize("option", ["-w", "-j"])
def test_a_trace_of_a_client_that_is_refused(option: str) -> None:
    """Its counts of retries are no RNR."""
    trace = "\n".join(symptoms.run(f"verbs-sim -- verbs-trace {option} ping-sr-3/client -c 1 -a 192.0.2.1", LIMIT_S))
    said = explain("-", stdin=trace)
    assert "RDMA_CM_EVENT_REJECTED 8:" in said and "IBV_WC" not in said, said


def test_a_trace_without_an_error() -> None:
    trace = "\n".join(symptoms.run("verbs-sim -- ping-sr-3/server -q ::: verbs-trace ping-sr-3/client -w 5 -c 3 -a 192.0.2.1", LIMIT_S))
    assert "rdma_connect" in trace and not explain("-", stdin=trace, status=1)


def test_what_verbs_trace_accuses(tmp_path: Path) -> None:
    """In a file."""
    command = "verbs-sim -- verbs-trace -e none build/tests/tracer/sins armed-not-polled guilty 192.0.2.1"
    (tmp_path / "trace").write_text("\n".join(symptoms.run(command, LIMIT_S)))
    assert "Arm, poll until the CQ is empty" in explain(str(tmp_path / "trace"))


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


@pytest.mark.parametrize("asked", UNKNOWN)
def test_what_is_not_known(asked: str) -> None:
    """A word or two of a cause's is no answer."""
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
