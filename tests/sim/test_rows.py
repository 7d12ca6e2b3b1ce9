# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Rows of tests/live, over the simulated device. A row that differs is a fault of the simulation, or has a reason here.

Contract: tests are those of FILES, as they are. One that needs a moment of real time, or the kernel, is skipped, and says so.
"""

from __future__ import annotations

import importlib

import sim.conftest

FILES = "transfers pairs streams refusals one_sided pools ways crowds bad_clients rights ep talk waits"
# Of these files, what has no answer here yet.
EXCEPT = {
    "test_all_are_served_over_two_devices": "it looks at a server that runs; test_device.py serves clients of two devices",
    "test_each_message_is_seen_in_memory": "it relies on bytes that appear in order, and here pieces come in any order",
    "test_a_client_ends_when_its_time_is_over_though_no_answer_comes": "the server is stopped at some moment",
    "test_a_server_that_expects_more_than_its_client_sends": "in a minute of simulated time the server gives up by itself",
    "test_one_that_dies_with_the_lock_keeps_it": "a client is killed at some moment",
    "test_twenty_that_break_off_in_a_message": "a message breaks off before its first byte",
}

assert sim.conftest.live  # it makes tests/live's own conftest known

for file in FILES.split():
    for name, value in vars(importlib.import_module(f"test_{file}")).items():
        if name.startswith("test_") and name not in EXCEPT:
            globals()[f"{name}__{file}"] = value
        elif hasattr(value, "_pytestfixturefunction"):
            globals()[name] = value
