# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares docs/verbs.md with the sources."""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.website import prototypes, verbs  # noqa: E402
from tools.website.pages import TOP  # noqa: E402


class Verbs(unittest.TestCase):
    """The page has every verb that is called, and no other, and says where."""

    maxDiff = None

    def test_page(self) -> None:
        used = verbs.used()
        self.assertGreater(len(used), 50)
        self.assertEqual(verbs.documented(), used)

    def test_prototypes(self) -> None:
        """Each part of the page asks for its own: lint checks that they are current."""
        page = (TOP / "docs/verbs.md").read_text()
        asked = re.findall(r"^<!-- table: (prototypes-\S+) -->$", page, re.MULTILINE)
        self.assertEqual(asked, list(prototypes.parts()))
        self.assertEqual({verb for part in asked for verb in prototypes.parts()[part]}, set(verbs.documented()))

    def test_layout(self) -> None:
        """A macro's prototype has the types of the function behind it; lines are short."""
        found = prototypes.prototypes()
        self.assertEqual(found["ibv_dealloc_pd"], "int ibv_dealloc_pd(struct ibv_pd *pd);")
        self.assertIn("struct ibv_port_attr *port_attr", found["ibv_query_port"])
        self.assertEqual(prototypes.wrapped("int f(", ["int " + "a" * 50, "int " + "b" * 50]),
                         f"int f(int {'a' * 50},\n      int {'b' * 50});")


if __name__ == "__main__":
    unittest.main()
