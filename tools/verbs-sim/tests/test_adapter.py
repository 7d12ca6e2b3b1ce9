# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""--device adapter: each thing that an adapter refuses, or does otherwise than soft-RoCE, and the like that is correct."""

from __future__ import annotations

import re

import pytest
from running import ends
from verbs_sim import TOP, simulate

SEEDS = range(1, 25)


def adapter(question: str, device: str = "adapter", seed: int = 1) -> str:
    """Returns the output of adapter.c."""
    return simulate([["build/tests/sim/adapter", *question.split()]], "--device", device, "--seed", str(seed)).out


SENT = "client: s success\n"
FATAL, REFUSED, FLUSHED = "local work queue catastrophic error\n", "client: s remote invalid request error\n", "client: s Work Request Flushed Error\n"


@pytest.mark.parametrize(
    "question, roce, on_adapter",
    [
        ("fill 1", "12, 12\n", "4, 1\n"),  # a queue of 4, and again when one completion has been polled
        ("fill 4", "12, 12\n", "4, 4\n"),  # only the last one has it
        ("overrun 2", 3 * SENT, 3 * SENT),
        ("overrun 4", 4 * SENT + "CQ error\n", 2 * SENT + "CQ error\n" + FATAL),  # soft-RoCE's ring has three places
        ("overrun-one 0", "", ""),
        ("overrun-one 1", "CQ error\n", "CQ error\n" + FATAL),  # the other CQ has room
        ("overrun-one 2", "CQ error\n", "CQ error\n" + FATAL),
        ("write-wrongly 0", SENT, SENT),
        ("write-wrongly 1", "client: s remote access error\n", "client: s remote access error\nlocal access violation work queue error\n"),
        ("write-wrongly 2", REFUSED, REFUSED + "invalid request local work queue error\n"),
        ("write-here 0", SENT + "server: r success\n", SENT + "server: r success\n"),
        ("write-here 1", "client: s remote operation error\nserver: r local QP operation error\n", "client: s remote operation error\nserver: r local protection error\n"),
        ("write-here 2", SENT, SENT),
        ("write-here 3", "client: s local protection error\n", "client: s local protection error\n"),
        ("read-twice 0", REFUSED + FLUSHED, REFUSED + FLUSHED + "invalid request local work queue error\n"),
        ("read-twice 2", 2 * SENT, 2 * SENT),
        ("lose-peer 0", "remote access error after 0 s\n", "remote access error after 0 s\n"),
        ("lose-peer 6", "transport retry counter exceeded after 16 s\n", "transport retry counter exceeded after 3 s\n"),  # 0.54 s, seven times
        ("lose-peer 7", "", "transport retry counter exceeded after 4 s\n"),  # soft-RoCE: forever
    ],
)
def test_an_adapter_refuses(question: str, roce: str, on_adapter: str) -> None:
    assert (adapter(question, "roce"), adapter(question)) == (roce, on_adapter)


@pytest.mark.parametrize(
    "question, of_all, refused",
    [
        ("read-twice 1", {2 * SENT, SENT + REFUSED + "local access violation work queue error\n"}, True),  # if both are under way
        ("send-what-is-read 0", {2 * SENT + "o\n", 2 * SENT + "n\n"}, True),
        ("send-what-is-read 1", {2 * SENT + "n\n"}, False),
    ],
)
def test_some_orders_are_refused(question: str, of_all: set[str], refused: bool) -> None:
    """READs overlap what is behind them, unless it is fenced."""
    assert {adapter(question, seed=seed) for seed in SEEDS} == of_all
    assert len({adapter(question, "roce", seed) for seed in SEEDS}) == 1 and (len(of_all) > 1) == refused


def test_a_write_arrives_in_any_order() -> None:
    """Pieces do not only arrive in a circle from some piece on: the arrived ones form more than one run."""
    most = {device: max(int(adapter("watch-write 0", device, seed)) for seed in SEEDS) for device in ("roce", "adapter")}
    assert most == {"roce": 1, "adapter": 2}


def test_completions_of_a_destroyed_qp_vanish() -> None:
    assert ends("poll-late", "adapter") == "" and "success" in ends("poll-late", "roce")


def test_all_is_granted_as_asked() -> None:
    assert ends("five", "adapter") == "sends 5, receives 5, inline 60, CQ 5, pool 5\n"


def test_each_trait_has_its_evidence() -> None:
    """Evidence that is a question must be one that the probe asks. tests/website checks evidence that is a page."""
    rows = re.findall(r'^\tTRAIT\([^,]+, [^,]+,\s+"([^"]+)"', (TOP / "tools/verbs-sim/device/traits.c").read_text(), re.MULTILINE)
    questions = {*re.findall(r'^\t\{ "([\w-]+)", ask_', (TOP / "tools/verbs-sim/tests/probe/probe.c").read_text(), re.MULTILINE)}
    asked = {word for row in rows for words in re.findall(r"\bprobe ([\w, -]+)", row) for word in words.split(", ")}
    assert len(rows) > 70 and asked <= questions, asked - questions
