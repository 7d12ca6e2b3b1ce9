# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A test to copy, of echo_client and echo_server: it needs no RDMA device, only verbs-sim, pytest, and the two programs.

    make verbs-sim examples
    python3 -m pytest examples/test_echo.py

For programs of your own, replace PROGRAMS: first the server, then the client, which ends by itself. A test that fails
shows the command that repeats its run; --trace before the -- shows each call, and --gdb 1 starts the client in gdb.
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

VERBS_SIM = os.environ.get("VERBS_SIM", "tools/verbs-sim/verbs-sim")
ADDRESS = "192.0.2.1"  # an address of the simulated device
PROGRAMS = ["build/examples/echo_server", ADDRESS, ":::", "build/examples/echo_client", ADDRESS, "12321", "10"]
DEVICES = pytest.mark.parametrize("device", [[], ["--iwarp"]], ids=["RoCE", "iWARP"])
SIDES = pytest.mark.parametrize("side", [0, 1], ids=["server", "client"])


def simulate(*options: str) -> tuple[int, list[int], str]:
    """Makes a run. Returns its exit status, those of the programs, and its output, whose last line repeats the run."""
    command = [VERBS_SIM, *options, "--", *PROGRAMS]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    statuses = re.search(r"^verbs-sim: status ([\d/]+)", run.stderr, re.MULTILINE)
    return run.returncode, [int(one) for one in statuses[1].split("/")] if statuses else [], run.stderr


@DEVICES
def test_it_works_in_any_order_of_events(device: list[str]) -> None:
    status, _, said = simulate("--seeds", "50", "--quiet", *device)
    assert status == 0, said


@SIDES
@DEVICES
def test_each_call_may_fail(device: list[str], side: int) -> None:
    """One call fails in each run: both programs end by themselves, with any status, and leave nothing."""
    status, _, said = simulate("--sweep", str(side), "--quiet", *device)
    assert status == 0, said


@DEVICES
def test_the_client_ends_if_the_server_is_killed(device: list[str]) -> None:
    _, (server, client), said = simulate("--fail", "0:60:SIGKILL", *device)
    assert (server, client) == (128 + 9, 1) and "the server has left" in said, said


@DEVICES
def test_the_server_stays_if_the_client_is_killed(device: list[str]) -> None:
    """The server goes on until it is told to stop, because nobody else runs, and ends with 0."""
    _, statuses, said = simulate("--fail", "1:60:SIGKILL", *device)
    assert statuses == [0, 128 + 9], said
