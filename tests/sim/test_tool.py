# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-sim with programs of the suite: other users, faults, sweeps, traces and steps. Its own rows are in tools/verbs-sim/tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from running import steps, sweep
from live.table import STAGES
from sim.simulation import ADDRESS, TOP, pair, read, simulate

PING_SR_3 = next(stage for stage in STAGES if stage.name == "ping-sr-3")


def test_servers_sleep_when_all_clients_have_left() -> None:
    server, client = pair(PING_SR_3, 2)
    assert "sleeps in" not in simulate([[*server, "-n", "0"], client]).err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize("transport", [[], ["--iwarp"]], ids=["RoCE", "iWARP"])
def test_a_program_of_another_user(transport: list[str]) -> None:
    """The run is the same, though neither it nor the others may touch each other's memory, nor it the runner."""
    server, client = pair(PING_SR_3, 300)
    subprocess.run(["make", "-s", "build/course/enter"], cwd=TOP, check=True)
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # the other user may enter this folder
        for file in ("tools/verbs-sim/verbs-sim", "tools/verbs-sim/libverbs-sim.so", client[0]):
            shutil.copy(TOP / file, name)
        Path(name).chmod(0o755)
        (Path(name) / "said").touch()
        enter = ["build/course/enter", "/", "65534", f"{name}/said", f"{name}/client", *client[1:]]
        argv = [f"{name}/verbs-sim", *transport, "--users", "--", *server, ":::", *enter]
        done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=60)
        other, due = read(argv, done.returncode, done.stdout, done.stderr), simulate([server, client], *transport)
        assert other.statuses == due.statuses == [0, 0], other.why() + (Path(name) / "said").read_text()
    assert (other.hash, other.left) == (due.hash, "nothing")


@pytest.mark.parametrize("how", ["", ":SIGKILL", ":SIGTERM"])
def test_a_sweep_is_a_run_for_each_call(how: str) -> None:
    programs = pair(PING_SR_3, 2)
    calls = simulate(programs).calls[1]
    status, lines = sweep(f"1{how}", programs)
    assert (status, lines) == (0, [f"verbs-sim: {calls} calls of program 1, each in a run of its own: 0 not as they should be"])


def test_the_test_to_copy_passes() -> None:
    """The test runs as its reader would run it."""
    argv = ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/test_echo.py"]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and " 10 passed" in f" {done.stdout.splitlines()[-1]}", done.stdout


def test_it_traces_calls() -> None:
    run = simulate(pair(PING_SR_3, 2), "--trace")
    assert re.search(r"^\[ *[\d.]+ us\] 1\.0 +\d+ rdma_connect\(\)\n\[ *[\d.]+ us\] 1\.0 +\d+   CONNECT$", run.err, re.MULTILINE), run.err
    assert " ibv_create_cq(cqe 3, comp_vector 0)\n" in run.err and " 0.0 " in run.err


def test_each_accept_is_counted_once() -> None:
    server, client = pair(next(stage for stage in STAGES if stage.name == "ping-rc-0"), 2)
    run = simulate([[*server, "-n", "2"], client, client], "--fail", "0:accept:2")
    assert run.fault == "accept failed: Too many open files", run.why()


SERVER, CLIENT = f"ping-sr-3/server -a {ADDRESS} -n 2", f"ping-sr-3/client -a {ADDRESS} -c"
IN_MID_RUN = [f"start {SERVER}", "until 0 err 1 listening on", f"start {CLIENT} 1000000 -T", "until 1 err 200 ibv_post_send"]


def test_steps_are_moments_of_the_run(tmp_path: Path) -> None:
    """A client is stopped in mid-run, another is served, and the first one killed: each seed the same way twice."""
    for seed in range(5):
        lines = [*IN_MID_RUN, "signal 1 SIGSTOP", "wait 2", f"start {CLIENT} 50 -v", "wait 60 2", "signal 1 SIGKILL"]
        one, other = (steps(tmp_path, *lines, seed=seed) for _ in "ab")
        assert one.statuses == [0, 128 + 9, 0] and 2000 < one.ms < 62000, one.why()
        assert one.hash == other.hash and "the client left after" in one.err
        assert "45 messages of 64 bytes, every byte verified" in one.out  # the count is without the warm-up


def test_a_program_that_was_stopped_goes_on(tmp_path: Path) -> None:
    run = steps(tmp_path, *IN_MID_RUN, "signal 1 SIGSTOP", "wait 3", "signal 1 SIGCONT", "signal 1 SIGINT")
    assert run.statuses[1] == 0 and "run not completed" in run.out, run.why()


def test_a_server_is_stopped_at_a_call() -> None:
    """Its client, which has a limit, gives up; it goes on when all are told to leave."""
    server, client = pair(PING_SR_3, 5)
    run = simulate([server, [*client, "--timeout", "3"]], "--fail", "0:40:SIGSTOP")
    assert run.fault.startswith("SIGSTOP at ") and run.statuses[1] == 1 and 0 in run.told, run.why()
