# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Wrong usage of programs as they are run: one line that names the wrong word, status 2, and no verb is called.

Place: what each option of a stage takes is in test_options.c and test_refusals.c; of these, one for each side is run.
ping-ep-0, which is one file for each side, reads its options by itself. No device is needed.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
# The last word is the wrong one. With -t, a verb that was called would be printed.
WRONG = """
    ping-sr-0/client -t -a 127.0.0.1 -s 0
    ping-sr-0/server -t -p 0
    blast-sr-2/client -t -a 127.0.0.1 -b 0
    beyond/ping-ep-0/client -a
    beyond/ping-ep-0/client -a x y
    beyond/ping-ep-0/client -a x -c 0
    beyond/ping-ep-0/client -a x -c -1
    beyond/ping-ep-0/client -a x -c 1x
    beyond/ping-ep-0/client -a x -c 1000000000000
    beyond/ping-ep-0/client -a x -s 0
    beyond/ping-ep-0/client -a x -s 3g
    beyond/ping-ep-0/client -a x -s 1kk
    beyond/ping-ep-0/client -a x -s 99999999999999999999
    beyond/ping-ep-0/client -a x -s y
    beyond/ping-ep-0/client -a x -p 0
    beyond/ping-ep-0/client -a x -p 65536
    beyond/ping-ep-0/client -a x --size
    beyond/ping-ep-0/client -a x --no-such
    beyond/ping-ep-0/server x
    beyond/ping-ep-0/server -c 1000000000000
    beyond/ping-ep-0/server -s 1t
    beyond/ping-ep-0/server -s y
    beyond/ping-ep-0/server -p 65536
    beyond/ping-ep-0/server -z
"""


def ran(words: str) -> subprocess.CompletedProcess[str]:
    """That command line."""
    return subprocess.run(words.split(), cwd=TOP, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("words", [line.strip() for line in WRONG.strip().splitlines()])
def test_the_wrong_word_is_named(words: str) -> None:
    done = ran(words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.search(rf" {re.escape(words.split()[-1])}(: usage: .*|; see --help)$", done.stderr)
    assert not re.search(r"(ibv|rdma)_\w+\(", done.stderr)


def test_an_address_is_missing() -> None:
    assert "no address: usage: " in ran("beyond/ping-ep-0/client").stderr


@pytest.mark.parametrize("side", ["client", "server"])
def test_help_is_on_stdout(side: str) -> None:
    done = ran(f"beyond/ping-ep-0/{side} --help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("[-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n")
