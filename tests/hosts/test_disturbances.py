# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of disturbances.py."""

from __future__ import annotations

import re
import unittest

from hosts.disturbances import CUT, MEND, PATIENCE_S, RATE, TABLE, chosen, stages_on


class Table(unittest.TestCase):
    """What must hold of each row."""

    def test_names_differ(self) -> None:
        self.assertEqual(len({row.name for row in TABLE}), len(TABLE))
        self.assertEqual(len({row.what for row in TABLE}), len(TABLE))

    def test_only_what_case_replaces(self) -> None:
        for row in TABLE:
            for word in re.findall(r"\{(\w+)\}", row.apply + row.undo):
                self.assertIn(word, ("net", "rdma", "type", "address"), row.name)

    def test_what_is_done_is_undone(self) -> None:
        for row in TABLE:
            self.assertEqual(bool(row.apply), bool(row.undo), row.name)
            self.assertNotEqual(bool(row.apply), row.freeze, row.name)

    def test_messages_outlast_it(self) -> None:
        for row in TABLE:
            if row.phase == "transfer":
                self.assertGreater(row.count, RATE * ((row.hold_s or PATIENCE_S) + row.lasts_s), row.name)

    def test_a_server_that_notices_nothing_waits_for_the_whole_run(self) -> None:
        for row in TABLE:
            self.assertGreater(row.server_timeout_s("ping-rdma-1"), row.count / RATE + (row.hold_s or 0), row.name)
            self.assertEqual(row.server_timeout_s("ping-sr-3"), row.timeout_s)

    def test_a_link_that_was_cut_is_mended(self) -> None:
        for row in chosen(["cuts"]):
            self.assertEqual(row.apply.count(CUT), 5)
            self.assertEqual(row.apply.count(MEND), 5)
            self.assertTrue(row.apply.endswith(MEND))

    def test_stages_on(self) -> None:
        self.assertEqual(stages_on("siw0", ["ping-sr-0", "count-atomic-1"]), ["ping-sr-0"])
        self.assertEqual(stages_on("rxe0", ["ping-sr-0", "count-atomic-1"]), ["ping-sr-0", "count-atomic-1"])

    def test_a_frozen_host_is_one(self) -> None:
        for row in TABLE:
            if row.freeze:
                self.assertEqual(len(row.hosts), 1, row.name)
                self.assertIsNotNone(row.hold_s, row.name)

    def test_what_may_fail_may_say_why(self) -> None:
        for row in TABLE:
            self.assertTrue(row.causes or row.harmless, row.name)
            for cause in row.causes:
                re.compile(cause)


class Chosen(unittest.TestCase):
    """--only."""

    def test_all(self) -> None:
        self.assertEqual(chosen([]), list(TABLE))

    def test_kind(self) -> None:
        self.assertEqual({row.kind for row in chosen(["loss", "mtu"])}, {"loss", "mtu"})
        self.assertEqual(len(chosen(["loss"])), 4)

    def test_name(self) -> None:
        self.assertEqual([row.name for row in chosen(["cut-5-idle"])], ["cut-5-idle"])

    def test_order(self) -> None:
        names = [row.name for row in chosen(["mtu-client", "loss-5", "loss-1", "mtu"])]
        self.assertEqual(names, ["mtu-client", "loss-5", "loss-1", "mtu-server"])

    def test_none(self) -> None:
        with self.assertRaises(ValueError):
            chosen(["loss", "los"])
