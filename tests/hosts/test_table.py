# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of table.py: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import unittest

from hosts.disturbances import chosen
from hosts.judge import BAD, DONE, TOLD, Verdict
from hosts.table import Result, markdown, short

LOSS, CUT = chosen(["loss-1"])[0], chosen(["cut-1-idle"])[0]


class Markdown(unittest.TestCase):
    """A row for each disturbance, a column for each device."""

    def test_table(self) -> None:
        text = markdown(
            [
                Result(LOSS, "rxe0", "ping-sr-3", Verdict(DONE, [])),
                Result(LOSS, "rxe0", "ping-sr-0", Verdict(TOLD, [], client="no luck")),
                Result(CUT, "siw0", "ping-sr-3", Verdict(BAD, ["hangs"])),
            ],
            ["kernel: 6.1"],
        )
        self.assertIn("- kernel: 6.1\n", text)
        self.assertIn("- stages: ping-sr-0, ping-sr-3\n", text)
        self.assertIn("| disturbance | soft-RoCE | soft-iWARP |\n|---|---|---|\n", text)
        self.assertIn("| loss 1 % | told; done: ping-sr-3 | not run |\n", text)
        self.assertIn("| cut for 1 s, idle | not run | not run; **BAD**: ping-sr-3 |\n", text)
        self.assertIn("- 1 times, client: no luck (loss-1)\n", text)
        command = "tests/sweep --stage ping-sr-3 --device siw0 --only cut-1-idle"
        self.assertIn(f"- `{command}`: hangs\n", text)

    def test_nothing_said_and_nothing_wrong(self) -> None:
        text = markdown([Result(LOSS, "rxe0", "ping-sr-3", Verdict(DONE, []))], [])
        self.assertNotIn("wrong", text)
        self.assertNotIn("said", text)


class Short(unittest.TestCase):
    """The same sentence of two runs is the same."""

    def test_numbers(self) -> None:
        one = "completion of the send with wr_id 0x0 on QP 0x11: x (status 12, vendor 0x0): y"
        two = "completion of the send with wr_id 0x1 on QP 0x1a: x (status 12, vendor 0x81): y"
        self.assertEqual(short(one), short(two))
        self.assertEqual(short("left after 5 messages"), short("left after 77 messages"))
        self.assertNotEqual(short("nothing for 5 s"), short("nothing for 10 s"))


if __name__ == "__main__":
    unittest.main()
