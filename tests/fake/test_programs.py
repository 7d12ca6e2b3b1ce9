# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every program of every stage over fake verbs: with each call made to fail, with completions in every order, and with
very many of them.

    python3 -m pytest tests/fake -k ping-sr-3/client
    build/tests/fake/asan/programs ping-sr-3/client sweep
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from fake.table import Row, rows

TOP = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("BUILD", "build")  # tests/coverage has its own
EVENTS = int(os.environ.get("FAKE_EVENTS", "20000"))  # completions in a row
LIMIT_S = int(os.environ.get("FAKE_LIMIT_S", "800"))  # each run of a program has a limit of its own


def failures(said: str, status: int) -> list[str]:
    """The tests in C that are not ok; and a program that has ended early."""
    bad = re.findall(r"^not ok (.*)", said, re.MULTILINE)
    ran, plan = len(re.findall(r"^(?:not )?ok ", said, re.MULTILINE)), re.findall(r"^1\.\.(\d+)$", said, re.MULTILINE)
    if status not in (0, 1) or bool(bad) != bool(status) or plan != [str(ran)] or not ran:
        late = f", as it was not done after {LIMIT_S} s" if status in (124, 137) else ""
        bad.append(f"exit status {status}{late}; the last that it said:\n" + "\n".join(said.splitlines()[-10:]))
    return bad


@pytest.mark.parametrize("row", [pytest.param(row, marks=[pytest.mark.long] if row.long else [], id=str(row)) for row in rows()])
def test_over_fake_verbs(row: Row, request: pytest.FixtureRequest) -> None:
    """All of a group."""
    everything = {} if "not long" in request.config.option.markexpr else {"TESTS_ALL": "1"}
    command = ["timeout", "-k", "5", str(LIMIT_S), *row.command(BUILD, EVENTS)]
    done = subprocess.run(
        command, cwd=TOP, env=os.environ | everything, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", timeout=LIMIT_S + 30, check=False,
    )  # fmt: skip
    if bad := failures(done.stdout, done.returncode):
        pytest.fail("\n".join(bad), pytrace=False)
