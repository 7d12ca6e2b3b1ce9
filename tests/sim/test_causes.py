# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of devices --explain: each cause is shown by its command, and found by what that prints. Rows that need no other
program are in tools/devices/tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import causes
from causes import Cause
from explaining import LIMIT_S, explain, place
from quotes import symptoms

CAUSES = causes.causes()
SHOWN = [cause for cause in CAUSES if cause.texts["sim"]]
NO_MESSAGE = {"something still uses it", "the RNR timer is 0", "no READs were agreed on", "datagrams vanish", "the GRH is in front"}  # their output is no error


@pytest.mark.parametrize("cause", [pytest.param(one, id=one.name) for one in SHOWN])
def test_a_cause_is_shown_and_found(cause: Cause) -> None:
    """The command that needs no device shows the cause; and one of the lines leads to it."""
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


# An ABI of the kernel, what the step `library` says of it, and the exit status of --check. librxe of rdma-core knows 1 and 2.
ABIS = [(3, "FAILS  library     a driver of the kernel and its library do not fit", 1), (2, "ok     library     libibverbs can open 1 of 1", 0)]


@pytest.mark.parametrize("abi, says, status", ABIS)
def test_an_abi_of_the_kernel(abi: int, says: str, status: int) -> None:
    printed = symptoms.run(f"verbs-sim -q --device roce,address=192.0.2.1,abi={abi} -- devices --check 192.0.2.1; echo status $?", LIMIT_S)
    assert any(line.startswith(says) for line in printed) and f"status {status}" in printed, printed
    assert any("remedy: install the rdma-core that belongs to" in line for line in printed) == bool(status), printed


# Numbers of texts of each step of --check that nothing in the lab causes, or only after an earlier step that fails.
NOT_SHOWN = {"library": 2, "port": 1, "connecting": 3}


def test_each_failure_of_a_check_has_a_row() -> None:
    """drivers/test_devices.py causes these failures in the lab: as many texts of each step as its function, or those before it, have."""
    sources = "".join(file.read_text() for file in sorted((symptoms.TOP / "tools/devices").glob("check_*.c")))
    rows = (symptoms.TOP / "tests/drivers/test_devices.py").read_text()
    steps = re.findall(r'^\t\{ "(\w+)", (check_\w+)', (symptoms.TOP / "tools/devices/check.c").read_text(), re.MULTILINE)
    begins = {name: sources.index(f"enum check_verdict {function}(") for name, function in steps}
    ends = {name: sources.index("\n}\n", begin) for name, begin in begins.items()}
    for name, end in ends.items():
        before = max([0, *(other for other in ends.values() if other < end)])
        tried = {*re.findall(rf'"{name}",\s+f?"([^"]+)",\s+f?"', rows)}
        assert len(tried) + NOT_SHOWN.get(name, 0) >= sources.count("check_fail(", before, end), (name, tried)


def test_a_trace() -> None:
    """A trace of verbs-trace, as text and as JSON, is explained by its first error, not the flushes after it."""
    for option in ("-w", "-j"):
        command = f"verbs-sim -- verbs-trace {option} build/tests/tracer/sins posted-after-error guilty 192.0.2.1"
        trace = "\n".join(symptoms.run(command, LIMIT_S))
        said = explain("-", stdin=trace)
        assert "IBV_WC_REM_ACCESS_ERR (10)" in said and "rkey" in said, said
        assert "IBV_WC_WR_FLUSH_ERR (5)" not in said, said


@pytest.mark.parametrize("option", ["-w", "-j"])
def test_a_trace_of_a_client_that_is_refused(option: str) -> None:
    """The trace's counts of retries are no RNR."""
    trace = "\n".join(symptoms.run(f"verbs-sim -- verbs-trace {option} ping-sr-3/client -c 1 -a 192.0.2.1", LIMIT_S))
    said = explain("-", stdin=trace)
    assert "RDMA_CM_EVENT_REJECTED 8:" in said and "IBV_WC" not in said, said


def test_a_trace_without_an_error() -> None:
    trace = "\n".join(symptoms.run("verbs-sim -- ping-sr-3/server -q ::: verbs-trace ping-sr-3/client -w 5 -c 3 -a 192.0.2.1", LIMIT_S))
    assert "rdma_connect" in trace and not explain("-", stdin=trace, status=1)


def test_what_verbs_trace_accuses(tmp_path: Path) -> None:
    """The trace that is explained is in a file."""
    command = "verbs-sim -- verbs-trace -e none build/tests/tracer/sins armed-not-polled guilty 192.0.2.1"
    (tmp_path / "trace").write_text("\n".join(symptoms.run(command, LIMIT_S)))
    assert "Arm, poll until the CQ is empty" in explain(str(tmp_path / "trace"))
