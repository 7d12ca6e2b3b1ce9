# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The accusations of verbs-trace: for each, a program that makes the mistake, and one that does not."""

from __future__ import annotations

import re
import unittest
from collections.abc import Callable

import pytest

from tracer.tracing import ADDRESSES, BUILT, FIRST, TOP, accusations, trace

SINS = (
    "leak",
    "cm-event",
    "cq-event",
    "async-event",
    "unseen-error",
    "posted-after-error",
    "rnr",
    "cq-overrun",
    "retry-count-0",
    "armed-not-polled",
    "private-data-after-ack",
)
NOT_ON = {("iWARP", "rnr")}  # it has no RNR: the connection dies
ALSO = {"async-event": {"cq-overrun"}}  # how the event is brought about
# Who has left an event must not destroy what it is of: that would wait forever.
ALSO_GUILTY = {s: {"leak"} for s in ("cm-event", "cq-event", "async-event", "cq-overrun")}


class Sins(unittest.TestCase):
    """One test for each sin and transport."""

    def commit(self, sin: str, how: str, address: str) -> set[str]:
        """What is said of the program."""
        ended = trace("-j", BUILT / "sins", sin, how, address)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return set(accusations(ended.stderr))

    def check(self, sin: str, address: str) -> None:
        """The guilty is accused of that, the innocent of nothing."""
        also = ALSO.get(sin, set())
        guilty = self.commit(sin, "guilty", address)
        self.assertEqual(guilty, {sin} | also | ALSO_GUILTY.get(sin, set()))
        self.assertEqual(self.commit(sin, "innocent", address), also)


def add(sin: str, transport: str, address: str) -> None:
    """Gives the class one more test."""

    def test(self: Sins) -> None:
        self.check(sin, address)

    # What verbs-trace sees are calls, and those are the same on each transport: one shows it.
    function: Callable[[Sins], None] = test if transport == FIRST else pytest.mark.long(test)
    setattr(Sins, f"test_{sin}_{transport}".replace("-", "_"), function)


for a_transport, an_address in ADDRESSES.items():
    for a_sin in SINS:
        if (a_transport, a_sin) not in NOT_ON:
            add(a_sin, a_transport, an_address)


class Names(unittest.TestCase):
    """What needs no device."""

    def test_every_sort_has_a_program(self) -> None:
        """The sorts in watch.h are those that are tested here."""
        text = (TOP / "verbs-trace/tool/watch.h").read_text()
        self.assertEqual(set(re.findall(r'X\(\w+, "([\w-]+)",', text)), set(SINS))

    def test_every_sort_has_its_pitfall(self) -> None:
        """docs/pitfalls.md has a row that begins as the accusation says."""
        text = (TOP / "verbs-trace/tool/watch.h").read_text()
        rows = (TOP / "docs/pitfalls.md").read_text()
        pitfalls = re.findall(r'X\(\w+, "[\w-]+",[\s\\]*"([^"]+)"\)', text)
        self.assertEqual(len(pitfalls), len(SINS))
        for pitfall in pitfalls:
            self.assertIn(f"\n| {pitfall}", rows)
