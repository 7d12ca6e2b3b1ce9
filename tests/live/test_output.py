# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Results alone on stdout, results that cannot be written, and how little memory the programs need."""

import ctypes
import os
from collections.abc import Iterator

import pytest
from live.conftest import Pair, Server, Client
from live.table import each
from live.test_transfers import that_ping

DIFFER = {"RoCE": "ping-sr-0 ping-sr-2 ping-sr-4"}
MAX_KIB = 8 * 1024


@each(that_ping, check=DIFFER)
def test_results_alone_are_on_stdout(pair: Pair) -> None:
    for program in pair("-c 20", server="-T -j", client="-T -j"):
        program.ends(0)
        assert len(program.out.splitlines()) == len(program.json) == 1
        assert "ibv_post_send" in program.err


@each(that_ping, check=DIFFER)
def test_results_that_cannot_be_written_are_a_failure(server: Server, client: Client) -> None:
    """Everything worked, apart from what the user wanted to have."""
    full = os.open("/dev/full", os.O_WRONLY)
    s = server("-c 20", stdout=full)
    c = client("-c 20 -v -j", stdout=full)
    os.close(full)
    for program in (c, s):
        assert "writing to stdout: No space left on device" in program.ends(1).err


@pytest.fixture
def no_huge_pages() -> Iterator[None]:
    """Programs inherit it. What they have touched counts, and a huge page may add 2 MiB to that."""
    pr_set_thp_disable = 41
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(pr_set_thp_disable, 1, 0, 0, 0) == 0
    yield
    libc.prctl(pr_set_thp_disable, 0, 0, 0, 0)


@each(that_ping, check=DIFFER)
def test_memory_stays_small(no_huge_pages: None, pair: Pair) -> None:
    for program in pair.endless():
        assert program.memory_kib("VmHWM") < MAX_KIB
