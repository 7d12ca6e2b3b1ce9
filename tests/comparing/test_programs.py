# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of starting, reading and ending programs: children.py, outputs.py, ways.py, plan.py. The outputs are
those that perftest 4.5, rdma-core 44 and qperf 0.4 printed."""

from __future__ import annotations

import signal
import tempfile
import time
import unittest
from pathlib import Path

from bench.comparison import children, outputs, place, plan, remote, runner, ways

LATENCY = """ #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 64      2000          12.05          40.30        14.10              15.00             2.00            20.50                   30.00
"""
STREAM = """ #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 4096       5000             40.00              31.25              0.008000
"""
PINGPONG = "8192000 bytes in 0.04 seconds = 1516.10 Mbit/sec\n1000 iters in 0.04 seconds = 43.23 usec/iter\n"
QPERF = "rc_lat:\n    latency  =  21.5 us\n"
THREADS = "4 threads share nothing: 8688.0 READs/s, 166.0 us of CPU each\n"
OURS = '{"count": 900, "warm_up": 100, "seconds": 0.5, "bytes_per_second": 2e6, "round_trip_us": {"p50": 30.5}, "cq": {"sleeps": 450, "empty_wake_ups": 0}}\n'  # fmt: skip


class Outputs(unittest.TestCase):
    """Tests of the outputs of programs."""

    def test_half_of_a_round_trip_is_doubled(self) -> None:
        figures = outputs.read("perftest", "ib_send_lat", LATENCY)
        self.assertEqual((figures["p50_us"], figures["mean_us"], figures["p99_us"]), (28.2, 30.0, 41.0))
        self.assertAlmostEqual(figures["seconds"], 2000 * 30e-6)

    def test_a_read_or_an_atomic_is_whole(self) -> None:
        for program in ("ib_read_lat", "ib_atomic_lat"):
            figures = outputs.read("perftest", program, LATENCY)
            self.assertEqual((figures["p50_us"], figures["p99_us"]), (14.1, 20.5))
            self.assertAlmostEqual(figures["rate"], 1e6 / 15)

    def test_perftests_megabytes_are_of_1024_by_1024(self) -> None:
        figures = outputs.read("perftest", "ib_send_bw", STREAM)
        self.assertAlmostEqual(figures["mb_per_second"], 32.768)
        self.assertAlmostEqual(figures["rate"], 8000)

    def test_means(self) -> None:
        self.assertEqual(outputs.read("pingpong", "ibv_rc_pingpong", PINGPONG)["mean_us"], 43.23)
        self.assertEqual(outputs.read("qperf", "qperf", QPERF)["mean_us"], 43.0)
        self.assertEqual(outputs.read("threads", "ping-mt-4", THREADS), {"rate": 8688.0})

    def test_ours(self) -> None:
        figures = outputs.read("ours", "ping-sr-3", OURS)
        self.assertEqual((figures["rate"], figures["p50_us"], figures["sleeps"]), (1800, 30.5, 900))

    def test_the_slowest_in_a_thousand_needs_ten_thousand_messages(self) -> None:
        many = OURS.replace('"p50": 30.5', '"p50": 30.5, "p99_9": 90.5')
        self.assertNotIn("p99_9_us", outputs.read("ours", "ping-sr-3", many.replace("900", "9999", 1)))
        self.assertEqual(outputs.read("ours", "ping-sr-3", many.replace("900", "10000", 1))["p99_9_us"], 90.5)

    def test_what_is_not_understood_is_no_figure(self) -> None:
        for family, program in (("ours", "x"), ("perftest", "ib_send_lat"), ("perftest", "ib_send_bw"),
                                ("pingpong", "x"), ("qperf", "x"), ("tcp", "x"), ("threads", "x")):  # fmt: skip
            for text in ("", "failed to connect\n", "{}", '{"count": 0, "seconds": 0}'):
                with self.assertRaises(outputs.Unreadable):
                    outputs.read(family, program, text)


class Children(unittest.TestCase):
    """Tests of child processes."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.children = children.Children(self.folder)
        self.addCleanup(self.children.end_all)

    def test_output_status_and_use(self) -> None:
        one = self.children.start("one", ["sh", "-c", "echo out; echo err >&2; exit 3"])
        self.assertTrue(self.children.wait(one, 60))
        self.assertEqual((one.status, one.out.read_text(), one.said()), (3, "out\n", "err"))
        self.assertEqual(self.children.running, [])

    def test_a_wait_has_a_limit_and_an_end_is_one(self) -> None:
        one = self.children.start("one", ["sleep", "1000"])
        self.assertFalse(self.children.wait(one, 0))
        self.children.end_all()
        self.assertEqual(one.status, -signal.SIGTERM)

    def test_a_client_that_has_not_begun_is_no_failure(self) -> None:
        """The client has no handler for the signal yet."""
        one = runner.Runner(self.folder, 1.0, 60.0)
        job = runner.Job(ways.WAYS["ping-sr-3"], place.Link("RoCE", "192.0.2.1", "rxe0"), 0, 64)
        with self.assertRaises(runner.TooEarly):
            one.finish(job, one.children.start("server", ["true"]), [one.children.start("client", ["sleep", "1000"])])
        one.children.end_all()

    def test_a_launched_program_that_hangs_is_named(self) -> None:
        one = remote.RemoteRunner(self.folder, 1.0, 60.0)
        self.addCleanup(one.children.end_all)
        server, client = one.children.start("server", ["true"]), one.children.start("client0", ["sleep", "1000"])
        self.assertTrue(one.children.wait(server, 60))
        with self.assertRaisesRegex(runner.Hung, "^client0 did not end within 0 s: "):
            one.finish_remote([client], server, -10)

    def test_one_that_does_not_want_to_leave(self) -> None:
        one = self.children.start("one", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"])
        limit = time.monotonic() + 60
        while not one.out.read_text() and time.monotonic() < limit:
            self.children.wait(one, 0.01)
        self.children.end(one, 0.05)
        self.assertEqual(one.status, -signal.SIGKILL)

    def test_what_was_waited_for_gets_no_signal(self) -> None:
        one = self.children.start("one", ["true"])
        self.children.wait(one, 60)
        self.children.tell(one)
        self.assertEqual(one.status, 0)


class Ways(unittest.TestCase):
    """Tests of command lines, and of what is measured."""

    WISH = ways.Wish("192.0.2.1", 18515, "rxe0", "1", 1000, 64, 1, 777, 2.0)

    def test_a_server_that_is_not_told_gets_the_same_count(self) -> None:
        for name in ways.UNTOLD:
            server, client = ways.commands(ways.WAYS[name], self.WISH)
            self.assertEqual(server[server.index("-c") + 1], client[client.index("-c") + 1])

    def test_a_client_whose_server_does_not_hear_of_its_end_announces_a_time(self) -> None:
        for name in ("ping-sr-1", "ping-sr-2e", "nine-none-channel"):
            _, client = ways.commands(ways.WAYS[name], self.WISH)
            self.assertIn("-D", client)
            self.assertNotIn("-c", client)

    def test_perftest_gets_a_count_and_the_address_last(self) -> None:
        server, client = ways.commands(ways.WAYS["ib_send_lat -e"], self.WISH)
        self.assertEqual(client, [*server, "192.0.2.1"])
        self.assertIn("-e", server)
        self.assertEqual(server[server.index("-n") + 1], "777")

    def test_a_program_with_one_size_has_no_option_for_it(self) -> None:
        for name in ("count-atomic-1", "ib_atomic_lat"):
            for command in ways.commands(ways.WAYS[name], self.WISH):
                self.assertNotIn("-s", command)

    def test_what_is_not_there_is_named(self) -> None:
        self.assertEqual(ways.Way("x", ways.POLLS, "no-such-program", "perftest").missing(), "no-such-program is not there")
        self.assertIn("is not built", ways.Way("x", ways.POLLS, "no-such-stage").missing())

    def test_each_group_is_of_known_ways_and_each_point_once(self) -> None:
        for name in plan.GROUPS:
            points = plan.choose(False, False, [name]).points
            self.assertEqual(len(points), len(set(points)))
            self.assertTrue(all(point.way in ways.WAYS for point in points))
        self.assertEqual(len({point.way for point in plan.choose(False, True, []).points}), len(ways.WAYS) - 1)

    def test_quick_has_three_curves(self) -> None:
        points = plan.choose(True, False, []).points
        self.assertEqual(len({point.way for point in points if point.load}), 3)

    def test_only(self) -> None:
        self.assertEqual({point.way for point in plan.choose(False, False, ["ping-sr-3"]).points}, {"ping-sr-3"})
        with self.assertRaisesRegex(ValueError, "no-such"):
            plan.choose(False, False, ["no-such"])
