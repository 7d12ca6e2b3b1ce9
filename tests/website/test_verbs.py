# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares docs/verbs.md with the sources: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.website import verbs  # noqa: E402


class Verbs(unittest.TestCase):
    """The page has every verb that is called, and no other, and says where."""

    maxDiff = None

    def test_page(self) -> None:
        used = verbs.used()
        self.assertGreater(len(used), 50)
        self.assertEqual(verbs.documented(), used)


if __name__ == "__main__":
    unittest.main()
