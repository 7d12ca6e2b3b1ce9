# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Ways to wait that libraries of other languages, and shells, use: each prints how many simulated seconds it took."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from verbs_sim import ADDRESS, TOP, simulate

PROGRAMS = {
    "time-out": """mutex: ETIMEDOUT, 1 s
read: ETIMEDOUT, 2 s
write: ETIMEDOUT, 3 s
semaphore: ETIMEDOUT, 4 s
join: ETIMEDOUT, 5 s
join: EBUSY, 5 s
join: 0, 6 s
""",
    "barrier": "round 0: 1 serial, 2 s\nround 1: 2 serial, 4 s\n",
    "wake": "signal: 1\nbroadcast: 3\n",
    "leave": "a stack\nthe same stack\nthe same stack\n",
    "c11": "held\nlate\n7, 3 s\n",
    "futex": "changed: EAGAIN, 0 s\ntime: ETIMEDOUT, 1 s\ntime: ETIMEDOUT, 2 s\nno change: 0, 3 s\nend: 0, 4 s\n",
    "shared-semaphore": "status 5, 2 s\n",
    "any-child": "none: 0\nstatus 0, 1 s\nstatus 0, 2 s\nnone left: ECHILD, 2 s\n",
    "spawn": "missing: ENOENT, 0 s\nshell: 0, 0 s\nstatus 4, 3 s\nsystem 3, 4 s\n",
    "popen": "30000 bytes, status 6, 2 s\n30000\n",
    "sigsuspend": "1 end, 2 s, there\n",
    "sigwait": "none: EAGAIN, 1 s\nUSR1, 2 s\n",
    "non-blocking": "x, 1 s\nx, 2 s\n",
}
PYTHON = """
import multiprocessing, subprocess, time
def work(queue, semaphore):
    with semaphore:
        time.sleep(1)
        queue.put("worked")
start = time.monotonic()
queue, semaphore = multiprocessing.Queue(), multiprocessing.Semaphore(1)
workers = [multiprocessing.Process(target=work, args=(queue, semaphore)) for _ in range(3)]
for worker in workers:
    worker.start()
print([queue.get() for _ in workers], [worker.join() for worker in workers])
print(subprocess.run("sleep 2; echo said", shell=True, capture_output=True, text=True).stdout, end="")
print(int(time.monotonic() - start))
"""


@pytest.mark.parametrize("which", PROGRAMS)
def test_waits(which: str) -> None:
    """The same seed gives the same run."""
    one, other = (simulate([["build/tests/sim/libc", which]], "--seed", "7") for _ in "ab")
    assert (one.exit, one.out) == (0, PROGRAMS[which]), one.why()
    assert one.hash == other.hash


@pytest.mark.parametrize("when", [[], ["early"]], ids=["", "early"])
def test_results_at_the_limits(when: list[str]) -> None:
    """Those of Linux, without verbs-sim, are right, and a second round has the same. Before it has joined the run, no call of a program is simulated."""
    real = subprocess.run(["build/tests/sim/limits", *when], cwd=TOP, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
    run = simulate([["build/tests/sim/limits", *when]])
    assert run.exit == 0 and run.out.splitlines() == real and real[: len(real) // 2] == real[len(real) // 2 :] and real, run.why()


def test_a_script_of_two_programs() -> None:
    """A shell starts both, and waits for both."""
    script = f"ibv_rc_pingpong -g 1 -n 20 > /dev/null & sleep 1; ibv_rc_pingpong -g 1 -n 20 {ADDRESS} > /dev/null && wait $! && echo both"
    for seed in range(5):
        run = simulate([["sh", "-c", script]], "--seed", str(seed))
        assert (run.exit, run.out) == (0, "both\n"), run.why()


def test_python_with_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    run = simulate([[sys.executable, str(script)]])
    assert (run.exit, run.out.splitlines()) == (0, [f"{['worked'] * 3} {[None] * 3}", "said", "5"]), run.why()


def test_programs_get_random_bytes_of_their_own() -> None:
    """With the same seed, they get the same bytes."""
    program = [sys.executable, "-c", "import os; print(os.getrandom(8).hex(), os.urandom(8).hex())"]
    one, other = (simulate([program, program], "--seed", "7", "--servers", "0").out.split() for _ in "ab")
    assert len({*one}) == 4 and sorted(one) == sorted(other)
