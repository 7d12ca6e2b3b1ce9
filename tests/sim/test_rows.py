# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Rows of tests/live, over the simulated device. A row that differs is a fault of the simulation, or has a reason here.

Contract: tests are those of FILES, as they are. Left out are `removal`, which takes the device away by rdma(8): test_stops.py has
that; and `others`, which needs libraries that the simulation does not replace.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

import pytest

FILES = """
    transfers pairs streams refusals one_sided pools odd_peers ways crowds bad_clients rights ep talk waits examples output mistakes
    trace stops deaths siege strangers pubsub primer idle bare ud
""".split()
# Of these files, what has no answer here yet.
EXCEPT = {
    "test_each_message_is_seen_in_memory": "it relies on bytes that appear in order, and here pieces come in any order",
    "test_the_numbers_are_enough_if_the_device_reads_in_order": "the same",
    "test_a_run_for_a_time": "a second of polling is very many calls: test_figures.py has runs for a time, with a rate",
    "test_a_stream_for_a_time": "the same",
    "test_no_device_serves_the_address": "any address is the device's",
    "test_ctrl_c_while_a_client_in_a_loop_connects": "the same: no connect is under way for long",
    "test_a_message_may_be_as_long_as_the_device_says": "the test asks ibv_devinfo",
    "test_a_longer_one_is_wrong_usage": "the same",
    "test_a_stream_waits_for_credits_if_the_server_is_slow": "stdio waits in real time for a pipe of the test",
    "test_the_server_of_a_stream_sleeps": "the same",
    "test_two_connections_share_memory_of_the_program": "it sets how many huge pages there are, and rows run side by side",
    "test_a_registration_outlives_its_memory": "the simulation pins no pages: what is at the address is sent",
    "test_strangers_on_the_line_are_refused_and_the_next_is_served": "the test itself connects to the server",
    "test_connections_that_are_reset_before_they_are_accepted": "the same",
    "test_twenty_that_break_off_in_a_message": "a message breaks off before its first byte",
}

# Files of which make check runs every row here, however long it takes over the drivers.
WHOLE = "odd_peers"


def without_long(function: Any) -> Any:
    """A copy of a test whose rows are all short."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__dict__.update(function.__dict__)
    copy.pytestmark = [  # type: ignore[attr-defined]
        pytest.mark.parametrize(names, [pytest.param(*row.values, id=row.id) for row in rows]).mark
        for names, rows in (mark.args for mark in function.pytestmark)
    ]
    return copy


for file in FILES:
    for name, value in vars(importlib.import_module(f"live.test_{file}")).items():
        if name.startswith("test_") and name not in EXCEPT:
            globals()[f"{name}__{file}"] = without_long(value) if file in WHOLE.split() else value
        elif hasattr(value, "_pytestfixturefunction"):
            globals()[name] = value
