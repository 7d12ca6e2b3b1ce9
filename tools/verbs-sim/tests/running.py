# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Common functions of rows over the simulated device, here and in tests/sim."""

from __future__ import annotations

import functools
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from verbs_sim import TOP, Run, read, simulate

TRANSPORTS: dict[str, list[str]] = {"RoCE": [], "iWARP": ["--iwarp"]}  # options of verbs-sim


@functools.cache
def counter_traps() -> bool:
    """Returns whether this machine lets verbs-sim simulate the processor's counter."""
    return subprocess.run(["build/tests/sim/programs", "trap-counter"], cwd=TOP, timeout=60, check=False).returncode == -signal.SIGSEGV


def skip_if_real(run: Run) -> None:
    """Skips a row if the program saw real time, which verbs-sim has to report."""
    if not counter_traps() and "which shows real time on this machine" in run.err:
        pytest.skip("this machine shows real time to programs that read the processor's counter")


def sweep(which: str, programs: list[list[str]], *options: str) -> tuple[int, list[str]]:
    """Returns the exit status, and what verbs-sim printed."""
    words = [word for program in programs for word in [":::", *program]][1:]
    argv = ["tools/verbs-sim/verbs-sim", "--quiet", *options, "--sweep", which, "--", *words]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, [line for line in done.stderr.splitlines() if line.startswith("verbs-sim:")]


def steps(tmp_path: Path, *lines: str, seed: int = 1) -> Run:
    """Makes a run with these steps, each on a line."""
    file = tmp_path / "steps"
    file.write_text("".join(f"{line}\n" for line in lines))
    argv = ["tools/verbs-sim/verbs-sim", "--seed", str(seed), "--steps", str(file)]
    done = subprocess.run(argv, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    return read(argv, done.returncode, done.stdout, done.stderr)


def answers(lines: list[str], *options: str) -> list[dict[str, Any]]:
    """Returns the answer of verbs-sim to each step."""
    argv = ["tools/verbs-sim/verbs-sim", *options, "--steps", "-"]
    done = subprocess.run(argv, cwd=TOP, input="\n".join([*lines, ""]), capture_output=True, text=True, timeout=300, check=False)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"ms"')]
    assert len(said) == len(lines), done.stderr
    return said


def ends(question: str, device: str, *options: str) -> str:
    """Returns the output of a program with both ends of a connection."""
    return simulate([["build/tests/sim/ends", *question.split()]], "--device", device, *options).out
