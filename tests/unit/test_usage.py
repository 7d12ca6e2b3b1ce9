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
DATAGRAMS = """
    ping-ud-0/client
    ping-ud-0/client -a x -c 10x
    ping-ud-0/client -a x -w -1
    ping-ud-0/client -a x -q 0x100000000
    ping-ud-0/client -a x -s 4097
    ping-ud-0/server -a x -r 5k
    ping-ud-0/server -r 5
    ping-ud-0/server -z -a x -r 5
    ping-ud-0/client -z -a x
    mcast-ud-0/client 239.1.1.1
    mcast-ud-0/server 239.1.1.1 127.0.0.1 1x
    mcast-ud-0/server 239.1.1.1 127.0.0.1 1 -1
"""
# Examples, with which they print their usage.
USAGE = """
    echo_client
    echo_client x 1 0
    echo_client x 1 1 0
    plain/echo_client
    plain/echo_client x 1 0
    plain/echo_client x 1 1 0
    echo_server
    plain/echo_server
    plain/first_client
    epoll_server
    loop_client
    loop_client x 1 0
    loop_client x 1 1 0
    srq_server
    srq_server x 1 0
    srq_server x 1 10001
    stream_client
    stream_server
    write_client
    write_server
    memory_client x 1
    memory_client x 1 malloc 1
    store_server
    store_server x 1
    store_client x
    store_client x get
    store_client x put 1
    store_client x get 1024
    store_client x get abc
    store_client x get 1x
    store_client x put -1 value
    store_client x take 1
"""
# Examples with an address that nobody has; the words in brackets may be missing, from the last one on.
NO_ADDRESS = """
    echo_client no/such [1 1 1]
    plain/echo_client no/such [1 1 1]
    echo_server no/such [1]
    plain/echo_server no/such [1]
    plain/first_client no/such [1]
    epoll_server no/such [1]
    loop_client no/such [1 1 1]
    srq_server no/such [1 10000]
    stream_client no/such [1]
    stream_server no/such [1]
    write_client no/such [1]
    write_server no/such [1]
    memory_client no/such 1 malloc
    store_server no/such
    store_client no/such get 1023
    store_client no/such put 0 value
"""


def lines(table: str) -> list[str]:
    """Of a table above."""
    return [line.strip() for line in table.strip().splitlines()]


def shortened(line: str) -> list[str]:
    """With all words, and without those that may be missing."""
    needed, _, rest = line.rstrip("]").partition(" [")
    return [" ".join([needed, *rest.split()[:n]]) for n in range(len(rest.split()) + 1)]


def ran(words: str) -> subprocess.CompletedProcess[str]:
    """That command line."""
    return subprocess.run(words.split(), cwd=TOP, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("words", lines(WRONG))
def test_the_wrong_word_is_named(words: str) -> None:
    done = ran(words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.search(rf" {re.escape(words.split()[-1])}(: usage: .*|; see --help)$", done.stderr)
    assert not re.search(r"(ibv|rdma)_\w+\(", done.stderr)


@pytest.mark.parametrize("words", lines(USAGE))
def test_an_example_prints_its_usage(words: str) -> None:
    done, name = ran(f"build/examples/{words}"), Path(words.split()[0]).name
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(f"usage: {name} ADDRESS")


@pytest.mark.parametrize("words", [words for line in lines(NO_ADDRESS) for words in shortened(line)])
def test_an_example_names_an_address_that_nobody_has(words: str) -> None:
    done, name = ran(f"build/examples/{words}"), Path(words.split()[0]).name
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"{name}: no/such: ")


@pytest.mark.parametrize("words", lines(DATAGRAMS))
def test_a_stage_of_datagrams_prints_its_usage(words: str) -> None:
    done = ran(f"beyond/{words}")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.splitlines()[-1].startswith(f"usage: {words.split()[0]} ")


def test_an_address_is_missing() -> None:
    assert "no address: usage: " in ran("beyond/ping-ep-0/client").stderr


@pytest.mark.parametrize("side", ["client", "server"])
def test_help_is_on_stdout(side: str) -> None:
    done = ran(f"beyond/ping-ep-0/{side} --help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("[-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n")
