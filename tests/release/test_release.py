# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands that have tests of their own, and print their sum: the quick ones first.

Contract: each has a limit, after which it is asked to end what it has started. What it says is in build/tests/long/.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]
TOP = Path(__file__).resolve().parents[2]
LOGS = TOP / "build/tests/long"
SIEGE = "/usr/bin/python3 -m pytest tests/live/test_siege.py -m 'not by_name' -k 'ping-sr-4 or blast' --seconds 60"
COMMANDS = {  # what it shows: a command, and the minutes that it takes on two processors that have nothing else to do
    "no data race in the stages with threads": ("tests/sanitize thread", 1.5),
    "no error of memory in any stage": ("tests/sanitize address", 5),
    "nothing uninitialized is used, polling or asleep": ("tests/sanitize --stages '1 4' memcheck", 6),
    "servers among hostile clients, for a minute each": (SIEGE, 12),
    "the library's tests, the fuzzers and a stage with AddressSanitizer, on the two files": ("make check-two-files", 20),
    "newcomers who are root or not, and one who installs, on Debian 12": ("tests/bare --only demo,user,install bookworm", 8),
    "the README's commands, make check among them, in bare roots of Debian 13": ("tests/bare trixie", 22),
}
LIMIT = 2.5  # times these minutes


@pytest.mark.parametrize("shows", COMMANDS)
def test_of_a_release(shows: str) -> None:
    """Something passed, and nothing failed."""
    command, minutes = COMMANDS[shows]
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / (re.sub(r"\W+", "-", shows) + ".log")
    limited = ["timeout", "-k", "60", f"{minutes * LIMIT * 60:.0f}", "bash", "-c", command]
    # A make that it starts has no part in the jobs of the make that started this.
    unset = ["env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKELEVEL"]
    with log.open("wb") as out:
        status = subprocess.call(unset + limited, cwd=TOP, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    said = log.read_text(errors="replace")
    sums = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", said, re.MULTILINE)
    passed, failed = sum(int(one[0]) for one in sums), sum(int(one[1]) for one in sums)
    assert (status, failed) == (0, 0) and passed, f"{command}: see {log.relative_to(TOP)}:\n" + "\n".join(said.splitlines()[-20:])
