# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs with AddressSanitizer and UndefinedBehaviorSanitizer, which also find what is not freed: runs that succeed, that break
off in the middle, and in which each call, or an allocation, fails once."""

from __future__ import annotations

import re

import pytest
from sim.simulation import ADDRESS, SIDES, Run, each_stage, pair, simulate
from live.table import STAGES, Stage

BUILD = "build/tests/sanitized"
SWEPT = "ping-sr-0 ping-sr-2 ping-sr-3 ping-sr-4 blast-sr-2 ping-srq-4 ping-rdma-1 ping-ep-0 ping-rc-0".split()
EXAMPLES = [
    ["echo_server", "echo_client"], ["epoll_server", "loop_client"], ["srq_server", "echo_client"], ["store_server", "store_client"],
    ["store_server", "../beyond/ping-mt-4/client"],
    ["epoll_server", "memory_client"], ["srq_server", "reconnect_client"], ["plain/echo_server", "plain/echo_client"], ["plain/first_server", "plain/first_client"],
]  # fmt: skip
KEEPS = re.compile("destroy|dealloc|dereg|close|disconnect")  # objects that are not destroyed are not freed
REPORT = re.compile(r"Sanitizer|runtime error")


def sanitized(programs: list[list[str]], *options: str, sides: tuple[int, ...] = (0, 1)) -> Run:
    """A run of these programs, of which these sides have the sanitizers, and no report."""
    built = [[f"{BUILD}/{words[0]}" if side in sides else words[0], *words[1:]] for side, words in enumerate(programs)]
    run = simulate(built, "--servers", "2", *options)
    assert not REPORT.search(run.err), run.why()
    return run


def break_off(programs: list[list[str]], transport: list[str]) -> None:
    """One side is killed, or told to stop, in the middle."""
    whole = sanitized(programs, *transport)
    assert not whole.exit, whole.why()
    for side, calls in enumerate(whole.calls):
        for how in ("SIGKILL", "SIGTERM"):
            sanitized(programs, *transport, "--fail", f"{side}:{2 * calls // 3}:{how}")


@each_stage
def test_a_run_that_breaks_off(stage: Stage, transport: list[str]) -> None:
    break_off(pair(stage, 5), transport)


@pytest.mark.parametrize("server, client", EXAMPLES)
def test_a_run_of_examples_that_breaks_off(server: str, client: str) -> None:
    words = {"store_client": ["try", "5"], "memory_client": ["12321", "malloc"], "../beyond/ping-mt-4/client": ["cq", "2", "9"]}
    break_off([[f"build/examples/{server}", ADDRESS], [f"build/examples/{client}", ADDRESS, *words.get(client, [])]], [])


def test_events_of_an_id_that_is_not_destroyed() -> None:
    """Such events come after the id's control was freed. What hangs on the id is not freed: a leak is no fault here."""
    programs = [[f"{BUILD}/build/examples/srq_server", ADDRESS], [f"{BUILD}/build/examples/echo_client", ADDRESS, "12321", "5"]]
    run = simulate(programs, "--fail", "0:rdma_destroy_id:1")
    assert "rdma_destroy_id failed" in run.fault and "1 clients" in run.out and "AddressSanitizer: heap" not in run.err, run.why()


@pytest.mark.parametrize("side", [0, 1], ids=SIDES)
@pytest.mark.parametrize("name", SWEPT)
def test_each_call_fails_once(name: str, side: int) -> None:
    """The first call of each name fails; and the first allocations."""
    programs = pair(next(stage for stage in STAGES if stage.name == name), 2)
    traced = sanitized(programs, "--trace", sides=(side,)).err
    names = {*re.findall(rf"^\[ *[\d.]+ us\] {side}\.\d+ +\d+ (\w+)(?:\(.*)?$", traced, re.MULTILINE)}
    assert "ibv_dereg_mr" in names
    for call in sorted(name for name in names if not KEEPS.search(name)):
        sanitized(programs, "--fail", f"{side}:{call}:1", sides=(side,))
    for number in range(1, 12):
        sanitized(programs, "--fail", f"{side}:malloc:{number}", sides=(side,))
        sanitized(programs, "--fail", f"{side}:calloc:{number}", sides=(side,))
