# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of the time left that bench/compare tells: measure.py."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

from bench.comparison import measure, place, plan
from bench.comparison.runner import Runner


class TimeLeft(unittest.TestCase):
    """Runs that take no time at all, on a clock of the test."""

    def test_it_never_grows(self) -> None:
        """A round is expected to take 60 s. With 1 s left, the next one would say 1:00."""
        points = tuple(plan.Point("ping-sr-3", load) for load in (1, 10, 100))
        link = place.Link("RoCE", "192.0.2.1", "rxe0")
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(Path(folder), 1.0, 10.0)
            session = measure.Session(plan.Plan(points, 1.0, 3, 6, 2.0), [link], runner, Path(folder) / "samples.jsonl")
            session.cost = {("RoCE", point): 20.0 for point in points}
            with (
                patch.object(session, "machine"), patch.object(session, "one"), patch.object(measure, "say"),
                patch.object(measure, "clock", return_value="") as clock,
                patch.object(session, "left", side_effect=[120, 100, 80, 60, 60, 60, 40, 1, 1, 1, -1, -1, -9, -9]),
                patch.object(session, "over", return_value=False),
            ):  # fmt: skip
                for number in (1, 2, 3, 4):
                    session.one_round(number, [(link, point) for point in points])
        self.assertEqual([call.args[0] for call in clock.call_args_list], [120, 100, 80, 60, 60, 60, 60, 40, 20, 20, 20, 20])
