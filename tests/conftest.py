# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""For the tests of what is written in Python, which are unittest's, and run by pytest; live/ and hosts/ have their own.

    python3 -m pytest tests/comparing tests/tracer/test_picture.py
"""

import os
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP), str(TOP / "tests"), str(TOP / "tests/tracer")]
sys.dont_write_bytecode = True

# Whole comparisons with hosts that fail, Chromium, a compiler for another processor, and runs between two machines.
LONG = """
    capture/test_runs.py comparing/test_fabric_runs.py comparing/test_in_browser.py comparing/test_launched.py
    weak_memory/test_orders.py
"""
collect_ignore = [] if os.environ.get("TESTS_ALL") == "1" else LONG.split()
