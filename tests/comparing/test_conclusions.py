# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of the conclusions from figures: conclusions.py, statistics.py, limits.py."""

from __future__ import annotations

import random
import unittest
from unittest import mock
from xml.etree import ElementTree

from comparing.made_up import WILD, carried, results
from bench.comparison import agreement, conclusions, limits, statistics
from bench.comparison.plan import Point


class Statistics(unittest.TestCase):
    """Tests of medians and their intervals."""

    def test_an_interval_has_its_median_in_it(self) -> None:
        one = statistics.bootstrap([1, 2, 3, 4, 100])
        self.assertEqual((one.value, one.rounds), (3, 5))
        self.assertTrue(0 <= one.low <= 3 <= one.high)

    def test_an_interval_of_few_rounds_is_as_sure_as_one_of_many(self) -> None:
        generator = random.Random(7)
        for rounds in (2, 3, 4, 5, 9):
            drawn = [[generator.lognormvariate(0, 0.5) for _ in range(rounds)] for _ in range(400)]
            within = sum(one.low <= 1 <= one.high for one in map(statistics.bootstrap, drawn))
            self.assertGreaterEqual(within, 0.92 * 400, f"{rounds} rounds")

    def test_the_same_samples_have_the_same_interval(self) -> None:
        self.assertEqual(statistics.bootstrap([3, 1, 2]), statistics.bootstrap([3, 1, 2]))

    def test_ratios_are_those_of_a_round(self) -> None:
        one = statistics.ratio({1: 2.0, 2: 20.0, 3: 200.0, 4: 7.0}, {1: 1.0, 2: 10.0, 3: 100.0})
        assert one
        self.assertEqual((one.value, one.low, one.high, one.rounds), (2, 2, 2, 3))

    def test_no_round_in_common(self) -> None:
        self.assertIsNone(statistics.ratio({1: 2.0}, {2: 1.0}))

    def test_verdicts(self) -> None:
        for low, high, rounds, word in (
            (0.5, 0.6, 5, "less"), (1.2, 1.9, 5, "more"), (0.5, 1.5, 5, "too noisy to tell"),
            (0.98, 1.02, 5, "the same"), (0.5, 0.6, 2, "too few rounds to tell"),
        ):  # fmt: skip
            self.assertEqual(statistics.verdict(statistics.Estimate((low + high) / 2, low, high, rounds)), word)

    def test_settled_only_if_all_is_narrow(self) -> None:
        self.assertTrue(statistics.settled(results()))
        self.assertFalse(statistics.settled(results(noise=WILD)))
        self.assertFalse(statistics.settled(results(rounds=2)))
        narrow, wide = statistics.Estimate(1, 0.99, 1.01, 5), statistics.Estimate(1, 0.2, 5, 5)
        for made_up, settled in (([narrow, narrow], True), ([narrow, wide], False), ([wide, narrow], False)):
            with mock.patch.object(statistics, "ratios", return_value=dict(enumerate(made_up))):
                self.assertEqual(statistics.settled(results()), settled)

    def test_the_machines_own_is_subtracted(self) -> None:
        made = results()
        one = statistics.estimate(made, "RoCE", Point("ping-sr-2", 1000), statistics.cpu_us(made))
        assert one
        self.assertAlmostEqual(one.value, 2000)


class Words(unittest.TestCase):
    """Tests of the sentences of the report."""

    def test_break_even_is_where_both_cost_the_same(self) -> None:
        even = conclusions.break_even(results(), "RoCE")
        assert even.load
        self.assertEqual(even.kind, "crossed")
        self.assertAlmostEqual(even.load.value, 5000, delta=100)
        self.assertIn("Break-even: above 5,000 messages", conclusions.say_break_even(even).replace("5,030", "5,000"))

    def test_of_one_round_nothing_is_certain(self) -> None:
        told = " ".join(conclusions.say_link(results(rounds=1), "RoCE"))
        self.assertIn("too few rounds to tell", told)
        self.assertNotIn("Choose sleeping", told)

    def test_sleeping_is_cheaper_as_far_as_was_measured(self) -> None:
        made = results()
        made.samples = [one for one in made.samples if one.point.load in (1, 100)]
        even = conclusions.break_even(made, "RoCE")
        self.assertEqual((even.kind, even.high), ("never", 100))
        self.assertIn("Up to 100 messages", conclusions.say_break_even(even))

    def test_a_load_that_polling_did_not_keep_says_nothing(self) -> None:
        even = conclusions.break_even(carried(results(), 10000, 500.0, "ping-sr-2"), "RoCE")
        self.assertEqual((even.kind, even.high), ("never", 1000))

    def test_polling_is_cheaper_from_the_first(self) -> None:
        made = results()
        made.samples = [one for one in made.samples if one.point.load == 10000]
        self.assertEqual(conclusions.break_even(made, "RoCE").kind, "always")

    def test_what_was_not_measured_is_not_known(self) -> None:
        self.assertEqual(conclusions.break_even(results(), "iWARP").kind, "unknown")

    def test_a_rate_that_was_not_kept_is_named(self) -> None:
        made = carried(results(), 10000, 2500.0)
        self.assertEqual(conclusions.losses(made, "RoCE"), ["ping-sr-3 offered 10,000/s reaches 2,500/s"])

    def test_a_restless_machine_is_named(self) -> None:
        made = results()
        made.steadiness = [1.1]
        self.assertNotIn("NOT QUIET", " ".join(conclusions.say_machine(made)))
        made.steadiness = [3.0]
        self.assertIn("NOT QUIET", " ".join(conclusions.say_machine(made)))


    def test_of_a_restless_machine_no_way_is_called_cheaper(self) -> None:
        made = results()
        made.steadiness = [3.0]
        told = conclusions.say_link(made, "RoCE")[0]
        self.assertIn("Too noisy to tell", told)
        self.assertNotIn("Choose", " ".join(conclusions.say_link(made, "RoCE")))


class Agreement(unittest.TestCase):
    """Tests with two runs of the same program."""

    def test_the_same_agrees(self) -> None:
        found = agreement.compare(results(), results(noise=(1.01, 0.99, 1.0)))
        self.assertEqual((found.differ, found.open), ([], 0))
        self.assertGreater(found.both, 8)

    def test_what_differs_is_named(self) -> None:
        other = results()
        for one in other.samples:
            if one.point.way == "ping-sr-3":
                one.figures["machine_cpus"] *= 30
        found = agreement.compare(results(), other)
        self.assertIn("RoCE, ping-sr-3 at 1000/s: CPU a message is", " ".join(found.differ))
        self.assertIn("Break-even: above 5,0", " ".join(found.differ))
        self.assertIn("And: From ", " ".join(found.differ))
        self.assertIn(f"and {len(found.differ)}", agreement.say(found, ("a", "b"))[0])

    def test_what_one_cannot_tell_is_no_disagreement(self) -> None:
        for other in (results(rounds=2), results(noise=WILD)):
            found = agreement.compare(results(), other)
            self.assertEqual(found.differ, [])
            self.assertGreater(found.open, 4)
        restless = results()
        restless.steadiness = [9.0]
        self.assertEqual(agreement.compare(results(), restless).both, 0)

    def test_nothing_in_common(self) -> None:
        self.assertIn("nothing in common", agreement.say(agreement.compare(results(), results(rounds=0)), ("a", "b"))[0])


class Limits(unittest.TestCase):
    """Tests of the option --fail-if."""

    def kind(self, text: str, noise: tuple[float, ...] = (0.99, 1.0, 1.01)) -> str:
        return limits.check(results(noise=noise), limits.parse(text), "RoCE").kind

    def test_passed_kept_unsure(self) -> None:
        self.assertEqual(self.kind("ping-sr-3.p50 > 1.1 * ping-sr-2.p50"), "passed")
        self.assertEqual(self.kind("ping-sr-3.p50 > 20 * ping-sr-2.p50"), "kept")
        self.assertEqual(self.kind("ping-sr-3.p50 > 10 * ping-sr-2.p50", WILD), "unsure")
        self.assertEqual(self.kind("ping-sr-3@1000.rate < 500"), "kept")
        self.assertEqual(self.kind("ping-sr-3@1000.rate < 2000"), "passed")

    def test_what_was_not_measured_is_no_success(self) -> None:
        self.assertEqual(self.kind("ping-sr-4.p50 > 1"), "unknown")
        self.assertEqual(self.kind("ping-sr-4@1000.cpu > 1 * ping-sr-2@1000.cpu"), "unknown")
        outcome = limits.check(results(), limits.parse("ib_send_lat_e.p50 > 1"), "RoCE")
        suite = ElementTree.fromstring(limits.junit([outcome]))
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))

    def test_a_rate_that_was_not_kept_is_no_verdict(self) -> None:
        made = carried(results(), 1000, 900.0, "ping-sr-2")
        text = "ping-sr-3@1000.processes > 0.1 * ping-sr-2@1000.processes"
        self.assertEqual(limits.check(made, limits.parse(text), "RoCE").kind, "slow")
        self.assertEqual(limits.check(results(), limits.parse(text), "RoCE").kind, "passed")
        self.assertEqual(limits.check(made, limits.parse("ping-sr-2@1000.rate < 950"), "RoCE").kind, "passed")

    def test_what_is_called_failed_is_a_failure(self) -> None:
        for kind in ("passed", "kept", "unsure", "slow", "unknown"):
            outcome = limits.Outcome(limits.parse("ping-sr-3.p50 > 1"), "RoCE", kind, None)
            failures = ElementTree.fromstring(limits.junit([outcome])).get("failures")
            self.assertEqual("FAILED" in limits.describe(outcome), failures == "1", kind)
            self.assertEqual(failures == "1", kind in limits.BAD)

    def test_our_own_targets_are_understood(self) -> None:
        self.assertGreater(len([limits.parse(text) for text in limits.TARGETS]), 10)

    def test_nonsense_is_refused(self) -> None:
        for text in ("", "ping-sr-3.p50", "x.p50 > 1", "ping-sr-3.colour > 1", "ping-sr-3.p50 > a", "1 > 2",
                     "ping-sr-3.p50 > ping-sr-2.p50 * ping-sr-1.p50"):  # fmt: skip
            with self.assertRaises(ValueError, msg=text):
                limits.parse(text)
