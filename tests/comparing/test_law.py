# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The law behind the curve. The expected values were computed by hand."""

from __future__ import annotations

import unittest
from dataclasses import replace
from typing import Any

from comparing.made_up import results
from bench.comparison import foretold, law, page, picture
from bench.comparison.answers import answers
from bench.comparison.plan import Point

# Periods of 1 ms and 100 ms: 10 ms is in the middle between them, on a logarithmic axis.
POLLED = {"trip_us": 30, "trip_busy_us": 70, "pauses": [
    {"period_us": 1000, "busy_us": 2000, "reached_us": 20}, {"period_us": 100000, "busy_us": 200000, "reached_us": 60}]}  # fmt: skip
SHORT = {"period_us": 1000, "busy_us": 350, "reached_us": 200}
LONG = {"period_us": 100000, "busy_us": 850, "reached_us": 500}
ASLEEP = {"cpus": 2, "wake_up_us": 100, "trip_us": 300, "trip_busy_us": 400, "pauses": [SHORT, LONG]}
LINE: dict[str, Any] = {"link": "RoCE", "polled": POLLED, "asleep": ASLEEP}


def known(trip_busy_us: float = 400) -> law.Primitives:
    found = law.read([{**LINE, "asleep": {**ASLEEP, "trip_busy_us": trip_busy_us}}])
    assert found
    return found


class Predictions(unittest.TestCase):
    """The predictions of one link."""

    def setUp(self) -> None:
        self.law = law.Law(known())

    def cost(self, found: law.Cost, cpu_us: float, trip_us: float, rate: float) -> None:
        for one, expected in ((found.cpu_us, cpu_us), (found.trip_us, trip_us), (found.rate, rate)):
            self.assertAlmostEqual(one, expected, places=6)

    def test_polling_takes_two_cpus_at_every_load(self) -> None:
        self.cost(self.law.polling(10), 200000, 2 * 60, 10)
        self.cost(self.law.polling(100), 20000, 2 * (20 + 60) / 2, 100)
        self.cost(self.law.polling(0), 70, 30, 2e6 / 70)  # the mean round trip is 35
        self.cost(self.law.polling(50000), 70, 30, 2e6 / 70)

    def test_polling_on_one_cpu_takes_one(self) -> None:
        self.cost(law.Law(replace(known(), cpus=1)).polling(10), 100000, 120, 10)

    def test_sleeping_is_a_message_and_its_answer(self) -> None:
        # the message 850, the answer 400 / 2, and its code is 60 - 30 / 2 slower; 500 there, 300 / 2 + 45 back
        self.cost(self.law.sleeping(10), 850 + 200 + 45, 500 + 150 + 45, 10)
        # halfway: the message (350 + 850) / 2, the answer 200 + (20 + 60) / 2 - 15
        self.cost(self.law.sleeping(100), 600 + 200 + 25, 350 + 150 + 25, 100)

    def test_near_what_it_carries_nobody_waits_for_a_timer(self) -> None:
        # the gap is in the middle between periods of 300 us (400 / 2, 300 / 2) and 1000 us (350, 200)
        gap = (300 * 1000) ** 0.5
        self.assertAlmostEqual(law.between(known().busy, gap), 275)
        self.assertAlmostEqual(law.between(known().reached, gap), 175)

    def test_sleeping_carries_what_it_does_flat_out(self) -> None:
        for load in (0, 3334, 10000):
            self.cost(self.law.sleeping(load), 400, 300, 1e6 / 300)

    def test_spinning_polls_if_the_next_message_comes_within_the_budget(self) -> None:
        self.cost(self.law.spinning(5000, 170), 400, self.law.polling(5000).trip_us, 5000)
        self.cost(self.law.spinning(0, 170), 70, 30, 2e6 / 70)

    def test_spinning_costs_at_most_what_polling_does(self) -> None:
        # a gap of 250 us: the message 200, both budgets 180 and 250 - 170, and 170 for the answer; but 2 CPUs for 250 us
        self.assertEqual(self.law.spinning(4000, 180).cpu_us, 2 * 250)

    def test_spinning_pays_its_budget_for_each_sleep(self) -> None:
        # the answer comes after 350 + 40: too late for 200; then the client sleeps, too
        self.cost(self.law.spinning(100, 200), 600 + 3 * 200 + 200 + 25, 525, 100)
        self.cost(self.law.spinning(100, 400), 600 + 2 * 400 + 390, 390, 100)

    def test_a_client_spins_for_its_turn_until_that_comes(self) -> None:
        # a gap of 1000 us: the message 50, the budget 800, the answer after 220, and 780 until the turn
        found = law.read([{**LINE, "asleep": {**ASLEEP, "pauses": [{**SHORT, "busy_us": 50}, LONG]}}])
        assert found
        self.cost(law.Law(found).spinning(1000, 800), 50 + 800 + 220 + 780, 220, 1000)

    def test_break_even_beyond_what_one_connection_carries(self) -> None:
        self.assertEqual(self.law.break_even(), 2e6 / 400)

    def test_break_even_where_the_curves_meet(self) -> None:
        found = law.Law(known(800))
        load = found.break_even()
        self.assertLess(load, 1e6 / 300)
        self.assertAlmostEqual(found.sleeping(load).cpu_us, 2e6 / load, places=6)
        self.assertLess(found.sleeping(0.9 * load).cpu_us, 2e6 / (0.9 * load))

    def test_best_budget(self) -> None:
        self.assertEqual(self.law.best_budget(), 200)  # half of 400 is more than (300 + 30) / 2
        self.assertEqual(law.Law(known(300)).best_budget(), 165)

    def test_each_way_of_the_ladder(self) -> None:
        self.assertEqual(self.law.of("ping-sr-5", 1000), self.law.spinning(1000, 2 * 100))
        self.assertEqual(self.law.of("ping-sr-4", 100), self.law.of("ping-sr-3", 100))
        self.assertIsNone(self.law.of("qperf", 0))

    def test_medians_of_several_lines(self) -> None:
        lines = [{**LINE, "asleep": {**ASLEEP, "trip_us": one, "pauses": [{**SHORT, "busy_us": one}, LONG]}} for one in (900, 310, 290)]
        found = law.read(lines)
        assert found
        self.assertEqual((found.reached[0], found.busy[1]), ((310, 155), (1000, 310)))
        self.assertIsNone(law.read([]))


class BesideMeasurements(unittest.TestCase):
    """Made-up results: sleeping takes 400 us a message at every load, and a round trip 300 us."""

    def setUp(self) -> None:
        self.results = results()
        self.results.primitives = [LINE]

    def test_each_row_has_its_error(self) -> None:
        errors = {(row.point, row.figure): row.error for row in foretold.rows(self.results, "RoCE")}
        self.assertAlmostEqual(errors[Point("ping-sr-3", 100), "CPU"], 825 / 400 - 1, places=6)
        self.assertAlmostEqual(errors[Point("ping-sr-3", 100), "round trip"], 525 / 300 - 1, places=6)
        self.assertAlmostEqual(errors[Point("ping-sr-2", 100), "CPU"], 0, places=6)
        self.assertFalse([point for point, _ in errors if point.load == 1])  # there is no error for load 1, which is idle

    def test_what_was_not_measured_has_no_error(self) -> None:
        for one in self.results.samples:
            if one.point.load == 100:
                del one.figures["p50_us"]
        self.assertEqual({row.figure for row in foretold.rows(self.results, "RoCE") if row.point.load == 100}, {"CPU"})

    def test_the_report_shows_them(self) -> None:
        text = page.page([self.results])
        self.assertIn("Predicted before any load", text)
        self.assertIn("+106%", text)  # 825 / 400 - 1
        answer = answers(self.results, "RoCE")[0]
        self.assertIn('class="p"', picture.draw(self.results, "RoCE", answer))
        said = page.summary(self.results)
        self.assertIn("polling at 5,000 messages a second", said)
        # 825 and 555 instead of 400 are not within it; polling flat out 70 instead of 2 / 30,000 s is, and all others are right
        self.assertIn("CPU a message: 6 of 8 within 15%; errors from +0% to +106%", said)
        self.assertIn("takes 15.0 us one way if both ends poll, 150 us, and 200 us of CPU, if both sleep", said)

    def test_without_primitives_nothing_is_predicted(self) -> None:
        self.results.primitives = []
        self.assertEqual(foretold.rows(self.results, "RoCE"), [])
        self.assertNotIn('class="p"', picture.draw(self.results, "RoCE", answers(self.results, "RoCE")[0]))
        self.assertNotIn("redicted before any load", page.page([self.results]))
        self.assertNotIn("Predicted before any load", page.summary(self.results))
