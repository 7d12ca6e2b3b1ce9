# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of the plans and conclusions of bench/fabric: schedule.py, hosts.py, odd.py, heatmap.py, page.py.
Nothing is started."""

from __future__ import annotations

import itertools
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

from comparing.test_files import Balance
from bench.comparison.plan import Point
from bench.comparison.store import Results, Sample
from bench.tournament import heatmap, hosts, odd, page, schedule
from bench.tournament.command_line import point

NOISE = (0.98, 1.0, 1.03)


def fabric(number: int, worse: dict[frozenset[str], float], rounds: int = 3) -> Results:
    """A round trip of 30 us between all hosts n1 ..., and this many times more for some pairs, or for pairs of some hosts."""
    names = [f"n{n}" for n in range(1, number + 1)]
    made = Results(environment={f"host {name}": {"address": name, "system": "Linux"} for name in names})
    for client, server in itertools.combinations(names, 2):
        times = 1.0
        for who, factor in worse.items():
            times *= factor if who <= {client, server} else 1.0
        for turn in range(1, rounds + 1):
            wobble = NOISE[(turn + len(client + server)) % 3]
            figures = {"p50_us": 30 * times * wobble, "rate": 30000 / times, "machine_cpus": 2.0}
            made.samples.append(Sample(f"{client}>{server}", Point("ping-sr-2"), turn, figures))
    return made


def named(results: Results, name: str = "p50") -> list[tuple[str, str]]:
    """The odd ones of one map."""
    return [(one.first, one.second) for map_ in odd.maps(results) if map_.name.endswith(name) for one in odd.odd(map_)]


class Schedule(unittest.TestCase):
    """The tournament."""

    def test_each_pair_once_and_no_host_twice_in_a_step(self) -> None:
        for number in (2, 3, 4, 5, 8, 9, 64, 65):
            steps = schedule.steps(list(range(number)))
            self.assertEqual(len(steps), number - 1 if number % 2 == 0 else number)
            met = Counter(frozenset(pair) for step in steps for pair in step)
            self.assertEqual(met, Counter(frozenset(pair) for pair in itertools.combinations(range(number), 2)))
            for step in steps:
                self.assertEqual(len({host for pair in step for host in pair}), 2 * len(step))
                self.assertEqual(len(step), number // 2)

    def test_each_host_is_as_often_client_as_server(self) -> None:
        for number in (4, 5, 8, 9, 64, 65):
            clients = Counter(client for step in schedule.steps(list(range(number))) for client, _ in step)
            for host in range(number):
                self.assertLessEqual(abs(2 * clients[host] - (number - 1)), 1, f"{host} of {number}")

    def test_both_ways_is_each_ordered_pair_once(self) -> None:
        pairs = [pair for step in schedule.rounds("abcde", 1, True) for pair in step]
        self.assertEqual(sorted(pairs), sorted(itertools.permutations("abcde", 2)))

    def test_a_pair_has_the_same_roles_in_every_round(self) -> None:
        one, two = ({pair for step in schedule.rounds("abcdef", number, False) for pair in step} for number in (1, 2))
        self.assertEqual(one, two)


class Hosts(unittest.TestCase):
    """The file, and the launcher."""

    def read(self, text: str) -> list[hosts.Host]:
        """From a file with that text."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "hosts")
            file.write_text(text)
            return hosts.read(file, "{host}-ib")

    def test_names_and_addresses(self) -> None:
        found = self.read("# ours\n a   192.0.2.1\n\nb # the second\n")
        self.assertEqual(found, [hosts.Host("a", "192.0.2.1"), hosts.Host("b", "b-ib")])

    def test_what_is_wrong_is_named(self) -> None:
        for text, why in (("a\nb c d\n", "line 2"), ("a\n", "1 hosts"), ("", "0 hosts"), ("a\nb\na\n", "a more than once"),
                          ("a\n-b\n", "line 2"), ("a\nb>c\n", "line 2")):  # fmt: skip
            with self.assertRaisesRegex(ValueError, why):
                self.read(text)
        with self.assertRaisesRegex(ValueError, "no-such-file"):
            hosts.read(Path("no-such-file"))

    def test_launchers(self) -> None:
        host = hosts.Host("n7", "192.0.2.7")
        self.assertEqual(hosts.on(hosts.launcher("ssh -p 22 '{host}'"), host), ("ssh", "-p", "22", "n7"))
        words = hosts.on(hosts.launcher("srun --partition=rdma"), host)
        self.assertEqual((words[0], words[-1]), ("srun", "--partition=rdma"))
        self.assertIn("--nodelist=n7", words)
        self.assertEqual(hosts.launcher("srun -w {host}"), ("srun", "-w", "{host}"))
        for text in ("ssh host1", ""):
            with self.assertRaisesRegex(ValueError, "{host}"):
                hosts.launcher(text)

    def test_without_a_file_there_has_to_be_a_job(self) -> None:
        with patch.dict("os.environ", clear=True), self.assertRaisesRegex(ValueError, "--hosts"):
            hosts.of_allocation()

    def test_programs(self) -> None:
        self.assertEqual(point("ping-sr-3@1000/4096"), Point("ping-sr-3", 1000, 4096))
        for text in ("x", "ping-sr-0", "ping-sr-3/0", "ping-sr-3@-1", "ping-sr-3/4k", "qperf"):
            with self.assertRaisesRegex(ValueError, "--program"):
                point(text)


class Oddities(unittest.TestCase):
    """What is named."""

    def test_alike(self) -> None:
        for number in (2, 3, 8):
            self.assertEqual(named(fabric(number, {})), [])
        self.assertIn("No host and no pair is unlike the others.", odd.conclusions(fabric(8, {})))

    def test_a_pair(self) -> None:
        made = fabric(8, {frozenset(("n2", "n5")): 2.0})
        self.assertEqual(named(made), [("n2", "n5")])
        text = " ".join(odd.conclusions(made))
        self.assertRegex(text, "n2 and n5: round trip, ping-sr-2 is .* which is worse")
        self.assertRegex(text, "n2 and n5: rate, ping-sr-2 is 0.500 times .* which is worse")

    def test_a_host_is_named_instead_of_its_pairs(self) -> None:
        for number in (4, 5, 8):
            self.assertEqual(named(fabric(number, {frozenset(("n3",)): 2.0})), [("n3", "")], number)

    def test_a_host_and_a_pair(self) -> None:
        made = fabric(8, {frozenset(("n3",)): 2.0, frozenset(("n1", "n2")): 3.0})
        self.assertEqual(named(made), [("n3", ""), ("n1", "n2")])

    def test_better_is_odd_too(self) -> None:
        self.assertIn("which is better", " ".join(odd.conclusions(fabric(8, {frozenset(("n3",)): 0.5}))))

    def test_one_disturbed_round_is_not_odd(self) -> None:
        made = fabric(8, {})
        made.samples[0].figures["p50_us"] *= 10
        self.assertEqual(named(made), [])

    def test_where_all_pairs_differ_nothing_is_odd(self) -> None:
        made = fabric(6, {frozenset(pair): 4.0 ** (n % 4) for n, pair in enumerate(itertools.combinations([f"n{n}" for n in range(1, 7)], 2))})
        self.assertEqual(named(made), [])
        self.assertIn("too noisy to tell what is odd", " ".join(odd.conclusions(made)))

    def test_little_is_not_odd(self) -> None:
        self.assertEqual(named(fabric(8, {frozenset(("n2", "n5")): 1.15})), [])

    def test_hosts_that_do_not_answer_and_pairs_that_fail(self) -> None:
        made = fabric(5, {})
        made.environment["host n9"] = {"address": "n9", "gone": "exit status 255: no route"}
        made.environment["host n8"] = {"address": "n8", "system": "Linux"}
        for link, why in (("n9>n1", "lost"), ("n1>n8", "no device"), ("n2>n8", "no device"), ("n4>n5", "timed out")):
            made.failures.append({"link": link, "point": "ping-sr-2", "round": 1, "why": why})
        told = odd.broken(made)
        self.assertEqual(len(told), 3, told)
        self.assertIn("n9 does not answer: exit status 255: no route", told)
        self.assertIn("n8 answers, and no pair with it works: ping-sr-2: no device", told)
        self.assertIn("n4 and n5 failed 1 times: ping-sr-2: timed out", told)

    def test_another_kernel_is_named(self) -> None:
        made = fabric(4, {})
        made.environment["host n2"]["system"] = "Linux 5"
        self.assertEqual(odd.systems(made), ["n2 runs Linux 5, most run Linux"])


class Pages(unittest.TestCase):
    """What is drawn."""

    def test_it_stands_alone_and_names_the_odd(self) -> None:
        made = fabric(5, {frozenset(("n3",)): 2.0})
        made.environment["host n<6"] = {"address": "x", "gone": "<away>"}
        text = page.page(made)
        parser = Balance()
        parser.feed(text)
        self.assertEqual(parser.open, [])
        self.assertNotRegex(text, r"""(?:src|href)=|url\(|<script|@import""")
        self.assertIn("n3 (4 of its 4 pairs)", parser.text)
        self.assertIn("n<6 does not answer: <away>", parser.text)

    def test_each_cell_has_its_value(self) -> None:
        for number in (4, 20):
            made = fabric(number, {frozenset(("n1", "n2")): 3.0})
            del made.samples[-3:]
            names = page.hosts_of(made)
            one = odd.maps(made)[0]
            root = ElementTree.fromstring(heatmap.draw(one, names, odd.odd(one), alone=True))
            titles = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}title")]
            self.assertEqual(len(titles), number * (number - 1))
            self.assertEqual(sum("not measured" in title for title in titles), 2)
            self.assertEqual(sum("3.00 times what is typical" in title for title in titles), 2)
            edges = [each for each in root.iter() if each.get("stroke-width") == "2.5"]
            self.assertEqual(len(edges), 2)

    def test_hosts_are_in_the_order_of_their_numbers(self) -> None:
        self.assertEqual(page.in_order(["n10", "n9", "m1", "n1"]), ["m1", "n1", "n9", "n10"])

    def test_worse_and_better_have_the_two_ends_of_the_colours(self) -> None:
        self.assertEqual(heatmap.colour(4.0, True), heatmap.WORSE)
        self.assertEqual(heatmap.colour(0.25, False), heatmap.WORSE)
        self.assertEqual(heatmap.colour(0.25, True), heatmap.BETTER)
        self.assertEqual(heatmap.colour(1.0, True), heatmap.SAME)
