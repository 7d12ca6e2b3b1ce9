# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of suites.py: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest.mock import patch

from suites import suites
from suites.suites import DEVICE, HERE, LIVE, PYTEST, Suite

TABLE = {"a": Suite(DEVICE, "a", 60), "x": Suite(HERE, "x", 60), "b": Suite(DEVICE, "b", 60), "c": Suite(DEVICE, "c", 60)}
TABLE["p"] = Suite(LIVE, f"{PYTEST} p", 60)
# A guest in which every suite ends with 0, and which dies in b.
GUEST = 'while [ $# != 0 ]; do if [ "$1" = ::: ]; then [ "$2" != b ] || exit 9; echo "$2 0"; fi; shift; done'


class Guests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        changes: tuple[Any, ...] = (
            patch.dict(suites.SUITES, TABLE, clear=True),
            patch.object(suites, "LOGS", Path(folder.name)),
            patch.object(suites, "_in_lab", lambda limit_s: ["bash", "-c", GUEST]),
            patch.dict(os.environ, {"RDMA_ADDR": "", "TESTS_ALL": ""}),
        )
        for change in changes:
            change.start()
            self.addCleanup(change.stop)

    def test_who_shares_one(self) -> None:
        self.assertEqual(suites.groups(list("axbc")), [["a", "b", "c"], ["x"]])
        self.assertEqual(suites.groups(list("pxa")), [["p", "a"], ["x"]])
        with patch.dict(os.environ, {"TESTS_ALL": "1"}):
            self.assertEqual(suites.groups(list("axbc")), [["a"], ["x"], ["b"], ["c"]])
            self.assertEqual(suites.groups(list("pa")), [["p"], ["a"]])
        with patch.dict(os.environ, {"RDMA_ADDR": "192.0.2.1"}):
            self.assertEqual(suites.groups(list("ab")), [["a"], ["b"]])

    def test_one_that_dies(self) -> None:
        said = {verdicts[0].name: verdicts[0].lines[0] for verdicts, _ in suites.run(list("pabc"))}
        self.assertEqual(list(said), list("pabc"))
        self.assertIn("exit status 0, though no test failed", said["p"])
        for name, status in (("a", 0), ("b", 9), ("c", 0)):
            self.assertIn(f"ended (exit status {status})", said[name])


if __name__ == "__main__":
    unittest.main()
