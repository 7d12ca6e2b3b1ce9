# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Functions that need no device: a test for each file of tests in C, which Check runs one by one.

    python3 -m pytest tests/unit -k options
    CK_FORK=no CK_RUN_CASE=options gdb build/tests/unit-tests
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 300
FILES = [path.stem.removeprefix("test_") for path in sorted(Path(__file__).parent.glob("test_*.c"))]


def failures(tap: str, status: int) -> list[str]:
    """The tests in C that are not ok; and a program that has ended before it had run all that it planned."""
    bad = re.findall(r"^not ok \d+ - (.*)", tap, re.MULTILINE)
    ran, plan = len(re.findall(r"^(?:not )?ok ", tap, re.MULTILINE)), re.findall(r"^1\.\.(\d+)$", tap, re.MULTILINE)
    if plan != [str(ran)] or not ran:
        bad.append(f"ended after {ran} tests, of which {' '.join(plan) or 'nobody knows how many'} were planned")
    if status and not bad:
        bad.append(f"exit status {status}, though no test failed")
    return bad


@pytest.mark.parametrize("file", FILES)
def test_in_c(file: str, tmp_path: Path) -> None:
    """All tests of a file pass."""
    tap, skipped = tmp_path / "tap", tmp_path / "skipped"
    settings = {"CK_RUN_CASE": file, "CK_TAP_LOG_FILE_NAME": str(tap), "TESTS_SKIPPED": str(skipped)}
    done = subprocess.run(
        ["build/tests/unit-tests"], cwd=TOP, env=os.environ | settings, text=True, errors="replace", timeout=LIMIT_S, check=False
    )
    if bad := failures(tap.read_text(errors="replace") if tap.exists() else "", done.returncode):
        pytest.fail("\n".join(bad), pytrace=False)
    if skipped.exists():
        pytest.skip(f"the others passed: {skipped.read_text().strip()}")
