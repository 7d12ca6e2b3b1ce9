# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs devices --explain for the tests of its table, here and in tests/sim."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import causes

TOP = Path(__file__).resolve().parents[3]
LIMIT_S = 60
ONE_OF = 4  # causes that are explained in full


def explain(*words: str, status: int | None = 0, stdin: str = "") -> str:
    """Returns its output on one line; `status` is the expected exit status, or None for any."""
    command = ["tools/devices/devices", "--explain", *words]
    done = subprocess.run(command, cwd=TOP, input=stdin, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def place(cause: causes.Cause, said: str) -> int:
    """Returns the cause's place among the explained ones, from 1; 0: none."""
    title = " ".join(causes.plain(cause.texts["title"]).split())
    found = re.search(rf"(\d)\. {re.escape(title)} why:", said)
    return int(found[1]) if found else 0
