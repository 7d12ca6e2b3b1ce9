# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Conversations by talk-rdma-0: each line arrives, once and in order, in both directions."""

import subprocess

import pytest
from live.conftest import Client, Server
from live.table import NEVER, each

LONGEST = 240  # bytes that fit into one message; a longer line arrives as several


@pytest.mark.parametrize("lines", [10, pytest.param(300, marks=pytest.mark.long)])
@each("talk-rdma-0")
def test_each_line_arrives_in_both_directions_at_once(server: Server, client: Client, lines: int) -> None:
    asked = "".join(f"{number}\n" for number in range(lines))
    told = "".join(f"{number}\n" for number in range(1000, 1000 + lines)) + f"\n{7:0240d}\n"
    s = server(stdin=f"{told}{7:0241d}")  # the last line has no line feed at its end
    c = client("-j", stdin=asked).ends(0)
    s.ends(0)
    *heard, results = c.out.splitlines(keepends=True)
    assert s.out == asked
    assert "".join(heard) == f"{told}{0:0240d}\n7\n"
    result, = c.json
    assert results.startswith("{") and result["complete"] and result["count"] == lines
    assert result["round_trip_us"]["min"] > 0


@each("talk-rdma-0", check=NEVER)
def test_a_side_says_that_the_other_was_killed(server: Server, client: Client) -> None:
    s = server(stdin=subprocess.PIPE)  # neither side has sent everything
    c = client("-t", stdin=subprocess.PIPE).awaits("ESTABLISHED")
    s.kill()
    c.ends(1)
    assert "the server left" in c.err


@each("talk-rdma-0", check=NEVER)
def test_a_client_of_another_stage_is_refused_and_the_next_served(server: Server, client: Client) -> None:
    s = server(stdin="told\n")
    client("-q", stage="beyond/ping-rdma-1").ends(1)
    c = client("-q", stdin="asked\n").ends(0)
    s.ends(0)
    assert "client refused: its messages have 64 bytes" in s.err
    assert (s.out, c.out) == ("asked\n", "told\n")
