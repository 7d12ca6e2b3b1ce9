# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What rows over the simulated device have in common, here and in tests/sim: the transports, and this machine's counter."""

from __future__ import annotations

import functools
import signal
import subprocess

import pytest

from verbs_sim import TOP, Run

TRANSPORTS: dict[str, list[str]] = {"RoCE": [], "iWARP": ["--iwarp"]}  # options of verbs-sim


@functools.cache
def counter_traps() -> bool:
    """Whether this machine lets verbs-sim simulate the processor's counter."""
    return subprocess.run(["build/tests/sim/programs", "trap-counter"], cwd=TOP, timeout=60, check=False).returncode == -signal.SIGSEGV


def skip_if_real(run: Run) -> None:
    """A run of a program that saw real time, as verbs-sim has to say."""
    if not counter_traps() and "which shows real time on this machine" in run.err:
        pytest.skip("this machine shows real time to programs that read the processor's counter")
