# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of the report's first screen: answers.py, clauses.py, words.py. The figures are made up so that the answers follow."""

from __future__ import annotations

import unittest

from comparing.made_up import WILD, carried, results
from bench.comparison import answers, clauses
from bench.comparison.plan import GROUPS, Point
from bench.comparison.statistics import Estimate, kept
from bench.comparison.store import Results, Sample
from bench.comparison.words import Figure, best, two


class Words(unittest.TestCase):
    """Tests of figures as words."""

    def test_two_digits(self) -> None:
        for value, text in ((0, "0"), (0.672, "0.67"), (1.98, "2.0"), (9.96, "10"), (29.3, "29"), (348, "350"), (4321, "4,300")):
            self.assertEqual(two(value), text)

    def test_an_interval_decides_what_is_shown(self) -> None:
        for low, high, rounds, text in (
            (100, 125, 3, "110 µs"), (100, 126, 3, "100 to 130 µs"), (100, 300, 3, "100 to 300 µs"),
            (100, 301, 3, "cannot tell"), (0, 301, 3, "cannot tell"), (100, 101, 2, "perhaps 110 µs"),
            (6000, 12000, 3, "6,000 µs to 12 ms"),
        ):  # fmt: skip
            self.assertEqual(Figure(Estimate(110.0, low, high, rounds), "µs").text, text)
        self.assertEqual(Figure(Estimate(0.0004, 0, 1, 2), most=2).text, "perhaps under 0.02")
        self.assertEqual(Figure(Estimate(20000.0, 19900, 20100, 3), "µs").text, "20 ms")

    def test_of_cpu_use_an_upper_bound_says_something(self) -> None:
        self.assertEqual(Figure(Estimate(0.1, 0, 0.51, 3), most=2).text, "under 0.51")
        for high in (1.9, 9.26):
            self.assertEqual(Figure(Estimate(0.1, 0, high, 3), most=2).text, "cannot tell")
        self.assertEqual(Figure(Estimate(0.001, 0.0009, 0.0011, 3), most=2).text, "under 0.02")

    def test_the_best_are_those_below_which_no_other_lies(self) -> None:
        figures = [Figure(Estimate(v, v - 1, v + 1, 3)) for v in (10, 11, 20)]
        self.assertEqual(best([*figures, None]), [True, True, False, False])


class Waits(unittest.TestCase):
    """made_up: polling takes 2 CPUs, sleeping 400 us a message, so both cost the same at 5,000 messages a second. One
    sleeping connection carries 3,000; its round trips take 300 us, those of polling 30."""

    def title(self, made: Results) -> str:
        return answers.answers(made, "RoCE")[0].title

    def test_the_break_even_is_beyond_what_a_connection_carries(self) -> None:
        title = self.title(results())
        self.assertIn("Up to 3,000 messages a second, all that one sleeping connection carries, sleeping costs less CPU", title)
        self.assertIn("polling keeps 2 CPUs busy but answers 10 times as fast", title)

    def test_the_break_even_is_within_what_a_connection_carries(self) -> None:
        made = carried(results(), 0, 9000.0)
        self.assertRegex(self.title(made), "^Below (4,9|5,0)00 messages a second sleeping costs less CPU;")
        found = clauses.bounds(made, "RoCE")
        assert found.low and found.high
        self.assertTrue(1000 < found.low <= 5060 and 4940 <= found.high < 10000, found)

    def test_the_tests_at_the_loads_bound_it_if_rounds_differ(self) -> None:
        found = clauses.bounds(results(noise=WILD), "RoCE")
        self.assertTrue(found.low is None or found.low <= 1000)

    def test_two_rounds_conclude_nothing(self) -> None:
        answer = answers.answers(results(rounds=2), "RoCE")[0]
        self.assertEqual(answer.title, "This run cannot tell which way of waiting costs less CPU.")
        self.assertIn("Only 2 rounds", answer.notes[0])
        self.assertTrue(all(cell.text.startswith("perhaps") for _, cells in answer.rows for cell in cells if isinstance(cell, Figure)))

    def test_beyond_the_tested_loads_nothing_is_said(self) -> None:
        made = results()
        for one in made.samples:
            if one.point.load == 10000:
                one.figures["machine_cpus"] = 2.0 * (0.3, 3.0, 0.5, 2.0, 1.0)[one.round - 1]
        self.assertIn("Up to 1,000 messages a second sleeping costs less CPU than polling; above that", self.title(made))

    def test_what_was_not_measured_is_not_there(self) -> None:
        answer = answers.answers(results(), "RoCE")[0]
        self.assertEqual([name for name, _ in answer.rows], ["polls", "sleeps"])
        made = results()
        made.samples = [one for one in made.samples if one.point.load]
        columns = answers.answers(made, "RoCE")[0].columns
        self.assertNotIn("round trip flat out", columns)
        self.assertIn("CPUs busy at 1,000/s", columns)

    def test_a_load_that_was_not_kept_is_no_column(self) -> None:
        columns = answers.answers(carried(results(), 1000, 700.0), "RoCE")[0].columns
        self.assertIn("round trip at 100/s", columns)
        self.assertNotIn("round trip at 1,000/s", columns)

    def test_one_message_in_the_window_is_no_lost_load(self) -> None:
        for load, rate, word in ((10, 9.3, True), (10, 8.0, False), (1000, 930.0, False), (1000, 950.0, True)):
            point = Point("ping-sr-3", load)
            made = Results(samples=[Sample("RoCE", point, number, {"rate": rate}) for number in (1, 2, 3)])
            self.assertEqual(kept(made, "RoCE", point), word, (load, rate))

    def test_a_disturbed_machine_is_noticed_by_what_no_program_carried(self) -> None:
        made = carried(results(), 1000, 700.0)
        self.assertEqual(clauses.disturbed(made, "RoCE"), "")  # here polling still carried the load
        note = clauses.disturbed(carried(made, 1000, 900.0, "ping-sr-2"), "RoCE")
        self.assertIn("of 1,000 messages a second no program carried all (polls 900, sleeps 700)", note)

    def test_a_run_that_failed_is_a_line(self) -> None:
        made = results()
        self.assertEqual(clauses.failed(made), "")
        made.failures = [{"point": "qperf", "link": "RoCE", "round": n, "why": "it hangs"} for n in (1, 2)]
        runs = len(made.samples) + 2
        self.assertEqual(clauses.failed(made), f"2 of {runs} runs failed, and are in no figure: qperf: it hangs (2x).")


def together(dear: int, carry: float = 8000.0) -> Results:
    """Results in which one connection that polls takes 2 CPUs. Four that sleep take 1.5 below the load `dear`, 2.2 from there on."""
    made = Results(environment={"cpus": 2})
    for number in range(1, 4):
        for point in GROUPS["together"]:
            total = point.load * point.clients
            cpus = 2.0 if point.clients == 1 else 1.5 if total < dear else 2.2
            figures = {"rate": float(total if point.clients == 1 else min(total, carry)), "machine_cpus": cpus, "p50_us": 300.0}
            made.samples.append(Sample("RoCE", point, number, figures))
    return made


def crowd(rounds: int, slow_us: float) -> Results:
    """One client: 300 us of CPU a message. Sixteen: 200 us."""
    made = Results(environment={"cpus": 2})
    for number in range(1, rounds + 1):
        for clients, cpus, p99 in ((1, 0.9, 500.0), (16, 0.6, slow_us)):
            figures = {"rate": 3000.0, "machine_cpus": cpus, "p50_us": 250.0, "p99_us": p99}
            made.samples.append(Sample("RoCE", Point("ping-sr-4", 0, 64, clients), number, figures))
    return made


class Others(unittest.TestCase):
    """The first screens of --only."""

    def test_a_crowd_is_shown_by_clients(self) -> None:
        answer = answers.answers(crowd(3, 40000.0), "RoCE")[0]
        self.assertEqual(
            answer.title,
            "With 16 clients a message costs less CPU than with 1, but the slowest round trip in a hundred takes 40 ms "
            "instead of 500 µs.",
        )
        self.assertEqual([[name, *map(answers.cell_text, cells)] for name, cells in answer.rows],
                         [["1", "300 µs", "0.90", "3,000", "250 µs", "500 µs"], ["16", "200 µs", "0.60", "3,000", "250 µs", "40 ms"]])  # fmt: skip

    def test_a_clause_that_no_test_supports_is_left_out(self) -> None:
        self.assertEqual(answers.answers(crowd(3, 500.0), "RoCE")[0].title, "With 16 clients a message costs less CPU than with 1.")
        self.assertIn("cannot tell", answers.answers(crowd(2, 40000.0), "RoCE")[0].title)

    def test_connections_that_sleep_are_compared_together(self) -> None:
        for dear, carry, title in (
            (6000, 8000.0, "Up to 4,000 messages a second 4 sleeping connections together cost less CPU than one that polls; "
             "from 6,000 on, more."),
            (9000, 8000.0, "Up to 8,000 messages a second 4 sleeping connections together cost less CPU than one that polls."),
            (1000, 8000.0, "From 2,000 messages a second on 4 sleeping connections together cost more CPU than one that polls."),
            (9000, 4500.0, "Up to 4,000 messages a second 4 sleeping connections together cost less CPU than one that polls; "
             "from 8,000 on, more."),
        ):  # fmt: skip
            found = answers.answers(together(dear, carry), "RoCE")
            self.assertEqual([answer.title for answer in found], [title])
        self.assertEqual([answers.cell_text(cells[1]) for _, cells in found[0].rows], ["1.5", "1.5", "carry 4,500/s", "carry 4,500/s"])

    def test_every_way_is_a_row_and_the_best_are_named(self) -> None:
        made = Results(environment={"cpus": 2})
        for number in (1, 2, 3):
            for way, cpus, p50 in (("poll", 2.0, 30.0), ("spin", 0.9, 30.0), ("channel", 0.5, 300.0), ("event", 0.5, 250.0)):
                for load in (1000, 0):
                    figures = {"rate": float(load or 3000), "machine_cpus": cpus, "p50_us": p50}
                    made.samples.append(Sample("RoCE", Point(f"ways {way}", load), number, figures))
        answer = answers.answers(made, "RoCE")[0]
        self.assertEqual(answer.title, "channel or event costs the least CPU at 1,000 messages a second; poll or spin answers fastest flat out.")
        self.assertEqual([name for name, _ in answer.rows], ["poll", "spin", "channel", "event"])
        self.assertEqual([answers.cell_text(cell) for cell in answer.rows[1][1]], ["900 µs", "30 µs", "300 µs", "30 µs"])

    def test_a_stream_is_shown_by_throughput(self) -> None:
        made = Results()
        for number in (1, 2, 3):
            for way, moved in (("blast-sr-2", 500.0), ("ib_send_bw", 400.0)):
                made.samples.append(Sample("RoCE", Point(way, 0, 4096), number, {"rate": 1000.0, "mb_per_second": moved}))
        answer = answers.answers(made, "RoCE")[0]
        self.assertEqual(answer.title, "blast-sr-2 moves the most: 500 MB/s with messages of 4 KiB.")
        self.assertEqual(answer.columns, ["MB/s, 4 KiB"])

    def test_the_terminal_says_the_same(self) -> None:
        made = crowd(3, 40000.0)
        answer = answers.answers(made, "RoCE")[0]
        lines = answers.text(answer, made, "RoCE")
        self.assertEqual(lines[0], answer.title)
        self.assertEqual(len({line.index("40 ms") for line in lines if "40 ms" in line and line != lines[0]}), 1)
