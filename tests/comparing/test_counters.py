# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of bench/comparison/counters.py: if perf is installed, with its software events, which need no hardware
counters; otherwise with outputs of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest.mock import patch

from bench.comparison import children, counters

# What perf 6.1 wrote: a counter, one that is shared with others, one that there is not, one whose process slept.
WRITTEN = """461636060,ns,duration_time,461636060,100.00,0.000,/sec
923272120,,cycles:u,461000000,100.00,2.000,GHz
<not supported>,,instructions,0,100.00,,
<not counted>,msec,task-clock,0,100.00,,
"""


class Counters(unittest.TestCase):
    """perf."""

    def test_what_was_not_counted_is_left_out(self) -> None:
        self.assertEqual(counters.parse(WRITTEN), {"duration_time": 461636060, "cycles": 923272120})
        self.assertEqual(counters.parse("Error:\n"), {})

    def test_without_perf_that_is_said(self) -> None:
        with patch("shutil.which", return_value=None):
            self.assertIn("not installed", counters.absent())

    def test_an_event_that_there_is_not_is_named(self) -> None:
        said = subprocess.CompletedProcess([], 0, "", WRITTEN)
        with patch("shutil.which", return_value="perf"), patch("subprocess.run", return_value=said):
            self.assertRegex(counters.absent(("cycles", "instructions")), "offers instructions$")
            self.assertEqual(counters.absent(("cycles",)), "")

    def test_a_process_that_spins(self) -> None:
        if shutil.which("perf") is None or counters.absent(("task-clock",)):
            return  # what can be tested without it was
        with tempfile.TemporaryDirectory() as folder:
            all_children = children.Children(Path(folder))
            self.addCleanup(all_children.end_all)
            spinning = all_children.start("spinning", [sys.executable, "-c", "while True: pass"])
            perf = counters.begin(all_children, [spinning.pid], ("task-clock", "page-faults"))
            time.sleep(0.5)
            found = counters.end(all_children, perf)
            all_children.end_all()
        self.assertEqual(set(found), {"perf_task_clock", "perf_page_faults"})
        self.assertTrue(0 < found["perf_task_clock"] <= 1010, found)  # milliseconds a second
