# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Selects the tests of this folder that also run over the simulated device, and the rows of them that
make check still runs over the drivers.

Contract: sim/test_rows.py takes the tests from here; ../conftest.py, which rows make check runs in a guest.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

# Left out are `removal`, which takes the device away by rdma(8): sim/test_stops.py has that; and `others`, which needs libraries
# that the simulation does not replace.
FILES = """
    transfers pairs streams refusals one_sided pools odd_peers ways crowds bad_clients rights ep talk waits examples output mistakes
    trace stops deaths siege strangers pubsub primer idle bare ud
""".split()
# Tests of these files that the simulation cannot run yet.
EXCEPT = {
    "test_each_message_is_seen_in_memory": "it relies on bytes that appear in order, and here pieces come in any order",
    "test_the_numbers_are_enough_if_the_device_reads_in_order": "the same",
    "test_a_run_for_a_time": "a second of polling is very many calls: test_figures.py has runs for a time, with a rate",
    "test_a_stream_for_a_time": "the same",
    "test_no_device_serves_the_address": "any address is the device's",
    "test_ctrl_c_while_a_client_in_a_loop_connects": "the same: no connect is under way for long",
    "test_a_client_in_a_loop_limits_its_connect": "the same",
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


def left_to_the_drivers(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Returns the tests for a guest that make check runs there: all that the simulation does not have, and of the others the first
    with each stage over each link, and of those without a stage the first with each value, such as an example. The simulation runs
    the rest, and make check-long runs them here."""
    seen, left = set[object](), []
    for item in items:
        file, name = item.path.stem.removeprefix("test_"), item.originalname  # type: ignore[attr-defined]
        values = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        link, stage = str(values.pop("link", "")), str(values.pop("stage", ""))
        firsts: set[object] = {(stage, link)} if link and stage else {*map(str, values.values())}
        if file not in FILES or name in EXCEPT or firsts - seen:
            left.append(item)
        seen |= firsts
    return left
