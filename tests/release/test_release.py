# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands that have tests of their own, and print their sum: the quick ones first.

Contract: each has a limit, after which it is asked to end what it has started. What it says is in build/tests/long/. make
check-long is run on both releases of Debian, and has make check's tests: these are not run again in a bare root here.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]
TOP = Path(__file__).resolve().parents[2]
LOGS = TOP / "build/tests/long"
COMMANDS = {  # what each shows
    "no data race in the stages with threads": "tests/sanitize thread",
    "no error of memory in any stage": "tests/sanitize address",
    "nothing uninitialized is used, polling or asleep": "tests/sanitize --stages '1 4' memcheck",
    "unit tests, examples and a stage are the same on the two files": "make check-two-files",
    "the README's commands but make check, in bare roots of this release": "tests/bare --quick $(. /etc/os-release && echo $VERSION_CODENAME)",
}
LIMIT_S = 3600  # of each: several times what the longest takes on two processors: only one that hangs meets it


@pytest.mark.parametrize("shows", COMMANDS)
def test_of_a_release(shows: str) -> None:
    """Something passed, and nothing failed."""
    command = COMMANDS[shows]
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / (re.sub(r"\W+", "-", shows) + ".log")
    # timeout(1) has a process group of its own, so Ctrl-C does not reach what it has started: it is told when this process ends.
    limited = ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "60", f"{LIMIT_S}", "bash", "-c", command]
    # A make that it starts has no part in the jobs of the make that started this.
    unset = ["env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKELEVEL"]
    with log.open("wb") as out:
        process = subprocess.Popen(unset + limited, cwd=TOP, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
    status = process.wait()
    said = log.read_text(errors="replace")
    sums = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", said, re.MULTILINE)
    passed, failed = sum(int(one[0]) for one in sums), sum(int(one[1]) for one in sums)
    assert (status, failed) == (0, 0) and passed, f"{command}: see {log.relative_to(TOP)}:\n" + "\n".join(said.splitlines()[-20:])
