# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The output for people, results that cannot be written, and how little memory the programs need."""

import ctypes
import os
from collections.abc import Iterator

import pytest
from live.conftest import Pair, Server, Client
from live.table import NEVER, Link, Stage, each
from live.test_transfers import that_ping

DIFFER = {"RoCE": "ping-sr-0 ping-sr-2 ping-sr-4"}
BLOCK = ("  connection ", "  rate ", "  CPU, process ", "  CPU, machine ")
ROUND_TRIP = ("  round trip ", "min ", "p99.9 ")
MAX_KIB = 8 * 1024


@each(lambda stage: that_ping(stage) and not stage.one_way, check=DIFFER)
def test_people_get_a_block(pair: Pair, stage: Stage, link: Link) -> None:
    s, c = pair("-c 200 -s 100", server="-x", client="-v -x")
    c.ends(0)
    s.ends(0)
    sees = not stage.one_sided or stage.agent_sees
    assert "180 messages of 100 bytes, every byte verified\n" in c.out
    assert f"{180 if sees else 200} messages of 100 bytes\n" in s.out
    assert not [text for text in (link.transport, link.device, *BLOCK, *ROUND_TRIP) if text not in c.out]
    assert not [text for text in (*BLOCK, *(ROUND_TRIP if sees else ())) if text not in s.out]
    # -x: of each message a send and a receive; or WRITEs and READs, and the two counts
    completions = stage.one_sided * 180 + 2 if stage.one_sided else 360
    assert f"  completions    {completions}," in c.out
    assert not c.err


@each("blast-rdma-1", check=NEVER)
def test_people_get_a_block_of_writes_in_chains(pair: Pair) -> None:
    """Each chain has one completion; the server checks only the last message."""
    s, c = pair("-c 200 -s 100", server="-x -v", client="-x -v -b 50 --chain 10")
    c.ends(0)
    s.ends(0)
    for text in ("200 messages of 100 bytes\n", *BLOCK):
        assert text in c.out and text in s.out
    assert "  completions    22," in c.out  # 20 chains and the two counts
    assert "  WRs a post     mean 10.0 " in c.out
    assert "each way" not in c.out
    assert not c.err


@each("blast-rdma-1", check=NEVER)
def test_the_last_message_is_compared(pair: Pair) -> None:
    """Messages have no numbers: another one must not be taken for the last. The server compares behind its answer to the client."""
    s, c = pair("-c 50", server="-v -j")
    c.ends(0)
    s.ends(1)
    assert "what the last WRITE left is not the last message" in s.err


@each(that_ping, check=DIFFER)
def test_quiet_is_silent(pair: Pair) -> None:
    for program in pair("-c 20 -q", server="-q", client="-v"):
        assert not program.ends(0).out + program.err


@each(that_ping, check=DIFFER)
def test_results_alone_are_on_stdout(pair: Pair) -> None:
    for program in pair("-c 20", server="-T -j", client="-T -j"):
        program.ends(0)
        assert len(program.out.splitlines()) == len(program.json) == 1
        assert "ibv_post_send" in program.err


@each(that_ping, check=DIFFER)
def test_results_that_cannot_be_written_are_a_failure(server: Server, client: Client) -> None:
    """All went well, apart from what the user wanted to have."""
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
