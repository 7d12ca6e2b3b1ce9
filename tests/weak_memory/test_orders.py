# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Whether the barriers and ordered accesses of code that shares memory with a device are in its machine code.

x86 keeps most orders by itself: an order that is missing there changes nothing that a run could show. So the files are
compiled for arm64, which needs an instruction for each. Place: only make check-long runs it. Needs
gcc-aarch64-linux-gnu ([long] of tools/packages.txt).
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

TOP = Path(__file__).resolve().parents[2]
# Not inlined, so that each function has its instructions to itself.
COMPILE = "aarch64-linux-gnu-gcc -std=c11 -D_GNU_SOURCE -O1 -fno-inline -idirafter /usr/include -S -o -".split()

# What each function needs, by the Arm manual (ARM DDI 0487, "Memory ordering"): dmb, for loads (ld) or stores (st), and in the
# outer shareable domain (osh), to which devices belong. Another dmb, ldar and stlr order accesses for other CPUs only.
NEEDED = {
    "beyond/pubsub-rdma-1/record.c": {
        ("our_change_record", "dmb oshst"): 2,
        ("our_copy_record", "dmb oshld"): 2,
    },
    "beyond/ping-rdma-3/watch.c": {
        ("await_memory", "dmb oshld"): 1,
        ("find_zero", "ldar"): 2,  # of words, and of the bytes that are left
        ("look", "ldar"): 1,
    },
    "beyond/talk-rdma-0/slot.c": {
        ("our_look", "dmb oshld"): 1,  # of slot.h
        ("our_note_seen", "dmb oshld"): 1,
    },
}
# Where the barriers of a file are written, besides the file itself.
HEADERS = {"beyond/talk-rdma-0/slot.c": ["beyond/talk-rdma-0/slot.h"]}
# What is left out, or relaxed.
ORDERS = {r"our_(from|to)_device_barrier\(\)": "(void)0", "__ATOMIC_(ACQUIRE|RELEASE)": "__ATOMIC_RELAXED"}


def instructions(source: str, before: Path | None = None) -> Counter[tuple[str, str]]:
    """Compiles a file, with those of the folder `before` in place of the tree's; counts ordering instructions."""
    folders = [folder for folder in (before, TOP) if folder]
    path = next(folder / source for folder in folders if (folder / source).exists())
    command = [*COMPILE, *(f"-I{folder}" for folder in folders), str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    found: Counter[tuple[str, str]] = Counter()
    function = ""
    for line in text.splitlines():
        label = re.match(r"(\w+)(\.\w+)*:$", line)
        function = label[1] if label else function
        instruction = re.match(r"\s+(dmb\s+\w+|ldar|stlr)[bh]?\s", f"{line} ")
        if instruction:
            found[function, instruction[1].replace("\t", " ")] += 1
    return found


class Orders(unittest.TestCase):
    """The machine code of what is in the tree, and of variants that lack one order each."""

    def test_each_order_has_its_instruction(self) -> None:
        for source, needed in NEEDED.items():
            with self.subTest(source):
                self.assertEqual(dict(instructions(source)), needed)

    def test_an_order_that_is_left_out_is_missed(self) -> None:
        for source, needed in NEEDED.items():
            places = [(path, match) for path in (source, *HEADERS.get(source, [])) for match in self.orders(path)]
            self.assertEqual(len(places), sum(needed.values()), source)
            for path, match in places:
                with self.subTest(f"{path} at {match.start()}"):
                    self.assertNotEqual(dict(self.without(source, path, match)), needed)

    @staticmethod
    def orders(path: str) -> list[re.Match[str]]:
        text = (TOP / path).read_text()
        return [match for order in ORDERS for match in re.finditer(order, text)]

    @staticmethod
    def without(source: str, path: str, match: re.Match[str]) -> Counter[tuple[str, str]]:
        """The instructions of `source` if one order, in `path`, is left out."""
        text = match.string[: match.start()] + ORDERS[match.re.pattern] + match.string[match.end() :]
        with tempfile.TemporaryDirectory() as folder:
            variant = Path(folder) / path
            variant.parent.mkdir(parents=True)
            variant.write_text(text)
            return instructions(source, Path(folder))
