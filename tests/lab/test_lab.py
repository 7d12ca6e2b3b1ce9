# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each check of lab/test, which says what it does; and what leaves a guest without a use."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 800  # lab/test has one for each check
TABLE = re.search(r"^checks='\n(.*?)'$", (TOP / "lab/test").read_text(), re.MULTILINE | re.DOTALL)
assert TABLE
CHECKS = [line.split()[0] for line in TABLE[1].splitlines()]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """To its end; stderr is with stdout."""
    return subprocess.run(
        command, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S
    )


@pytest.mark.parametrize("check", CHECKS)
def test_a_check(check: str) -> None:
    """The last line is a sum of one."""
    done = run("lab/test", check)
    if skipped := re.search(rf"^skip +{check}: (.*)", done.stdout, re.MULTILINE):
        pytest.skip(skipped[1])
    assert done.returncode == 0, done.stdout[-2000:]
    assert done.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n")


def test_devices_without_a_module() -> None:
    """devices --check names the module that is not loaded, and the remedy; a guest could not load it again."""
    done = run("lab/run", "-q", "--", "sh", "-c", "rmmod rdma_ucm; devices/devices --check $LAB_ROCE_ADDR")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILS")]
    assert done.returncode == 1 and re.match(r"FAILS +CM .*the module rdma_ucm is not loaded", failed[0]), done.stdout
    assert re.match("remedy: .*modprobe rdma_ucm", done.stdout.splitlines()[-1]), done.stdout
