# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of docs/failure.md: each row's options bring about what its first cell says, in the programs that the page names."""

from __future__ import annotations

import re

import pytest
from sim.simulation import TOP, simulate

PAGE = (TOP / "docs/failure.md").read_text()
ROWS = re.findall(r"^\| (.*?) \|.*\| `(--fail [^`]+)` \|$", PAGE, re.MULTILINE)
PROGRAMS = [f"ping-sr-2/{words}".split() for words in ("server -q -a 192.0.2.1", "client -q -c 9 -a 192.0.2.1")]


@pytest.mark.parametrize("what, options", ROWS)
def test_a_row_is_shown(what: str, options: str) -> None:
    run = simulate(PROGRAMS, "--leaks", "ignore", *options.split())
    assert run.fault and any(run.statuses), run.why()
    assert all(said in run.err for said in re.findall("`(.*?)`", what) if " of " not in what), run.why()


def test_each_row_has_options() -> None:
    assert len(ROWS) == PAGE.count("\n| ") - 1


@pytest.mark.parametrize("event", ["DEVICE_FATAL", "QP_FATAL", "CQ_ERR"])
@pytest.mark.parametrize("device, lives", [("rxe0", 2), ("siw1", 1)])
def test_what_fails_on_a_device_ends_no_connection_of_another(event: str, device: str, lives: int) -> None:
    addresses = "192.0.2.1", "198.51.100.1"
    clients = [f"build/examples/echo_client {address} 12321 200".split() for address in addresses]
    devices = [f"--device={kind},address={address}" for kind, address in zip(("roce", "iwarp"), addresses)]
    run = simulate([["build/examples/epoll_server", "0.0.0.0"], *clients], *devices, "--servers", "1", "--fail", f"0:ibv_post_send:30:{event}={device}")
    assert run.statuses[lives] == 0 and run.statuses[3 - lives] == 1, run.why()
