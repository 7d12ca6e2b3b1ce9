# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The commands of tools/devices/causes.ini, and the lines that they print, as docs/symptoms.md shows them.

Place: for tests/sim/test_causes.py, which runs those for verbs-sim, and tests/drivers/test_symptoms.py, which runs those for the
lab. Contract: numbers are not compared: the lines are of another run. Lines that differ on a newer kernel may not all be printed
there.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import causes

TOP = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"0x[0-9a-f]+|\d+(\.\d+)?")


def bare(line: str) -> str:
    """A line without its numbers, and with single spaces."""
    return " ".join(NUMBER.sub("#", line).split())


def run(command: str, limit_s: int) -> list[str]:
    """Returns the output of a command, with bin/ in PATH. It has a session of its own, so that its background processes end with it."""
    words = ["timeout", "-k", "5", str(limit_s), "sh", "-c", f"PATH={shlex.quote(str(TOP))}/bin:$PATH; {command}"]
    done = subprocess.run(words, cwd=TOP, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode(errors="replace").splitlines()


def missing(quoted: list[str], printed: list[str]) -> list[str]:
    """The quoted lines that were not printed."""
    have = {bare(line) for line in printed}
    return [line for line in quoted if bare(line) not in have]


def of_lab() -> list[causes.Cause]:
    """Returns the causes that the lab shows."""
    return [cause for cause in causes.causes() if cause.texts["lab"]]


def quoted(cause: causes.Cause) -> list[str]:
    """The lines that its command for the lab prints, without the dots for others."""
    return [line for line in cause.prints if line != "..."]


def all_printed(cause: causes.Cause, release: str) -> bool:
    """Returns whether all lines are printed on that kernel; if not, at least one is not."""
    return not (cause.later and release.startswith("6.12."))
