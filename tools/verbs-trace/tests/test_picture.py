# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""verbs-trace --html, without a browser: reading, matching and layout."""

import json
import random
import re
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scene import CLIENT, FIRST, ROUND, SERVER, STEP, TRANSFER, Line, Side, packets, ping_pong
from tracing import TOOL, Ended, run

ERROR, SLEEP, EMPTY, OPEN, FLUSH, RECEIVE, UNKNOWN = (1 << bit for bit in range(7))


class Pictures(unittest.TestCase):
    """Common parts of tests: each has a directory of its own."""

    def setUp(self) -> None:
        """Makes the directory, which is removed at the end."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def draw(self, *traces: str) -> Ended:
        """Runs the tool."""
        return run(TOOL, "--html", self.scratch / "out.html", *traces)

    def drawn(self, *sides: Side) -> Any:
        """Returns the data of a page drawn from these traces."""
        paths = [side.write(self.scratch / f"{number}.json") for number, side in enumerate(sides)]
        ended = self.draw(*paths)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))
        return self.data()

    def data(self) -> Any:
        """Returns the data of the existing page."""
        html = (self.scratch / "out.html").read_text()
        match = re.search(r'<script type="application/json" id="trace">(.*?)</script>', html, re.DOTALL)
        assert match
        return json.loads(match[1])


class Clocks(Pictures):
    """Two hosts, whose clocks differ as the test says."""

    def ends(self, clock: Callable[[int], int], slower: int = 0, rounds: int = 20) -> tuple[Any, list[tuple[int, int]]]:
        """Returns the page's data, and when each message was posted and found, in order."""
        data = self.drawn(*ping_pong(rounds, clock=clock, slower=slower))
        lines = data["messages"]
        self.assertEqual(len(lines["t"]), 2 * rounds)
        return data, list(zip(lines["t"], lines["u"]))

    def true_ends(self, rounds: int = 20) -> list[tuple[int, int]]:
        """Returns the true times of ping_pong."""
        pings = [FIRST + number * ROUND for number in range(rounds)]
        pongs = [ping + TRANSFER + STEP for ping in pings]
        return sorted((t, t + TRANSFER) for t in pings + pongs)

    def test_offset(self) -> None:
        """Clocks may be any time apart: the match is exact if a message takes as long in both directions."""
        for offset in (0, 7, 123_456_789, 10**15):
            with self.subTest(offset=offset):
                data, ends = self.ends(lambda t, o=offset: t + o)  # type: ignore[misc]
                self.assertEqual(ends, self.true_ends())
                self.assertEqual(data["notes"], ["1.json: its clock is matched by 40 messages, to ±20.0 µs"])

    def test_unequal_directions(self) -> None:
        """Half of the difference between the directions is the error, within the page's bound."""
        data, ends = self.ends(lambda t: t + 5000, slower=STEP)
        self.assertEqual({u - t for t, u in ends}, {TRANSFER + STEP // 2})
        self.assertIn("to ±25.0 µs", data["notes"][0])

    def test_drift(self) -> None:
        """A clock that is faster by 500 ppm, for so long that no offset alone fits."""
        data, ends = self.ends(lambda t: t + t // 2000 + 1000, rounds=1200)
        self.assertLess(max(abs(u - t - TRANSFER) for t, u in ends), TRANSFER)
        rate = re.search(r"its rate by (\S+) ppm", data["notes"][0])
        assert rate
        self.assertAlmostEqual(float(rate[1]), -1e6 / 2001, delta=200)

    def test_same_host(self) -> None:
        """With one clock, the first lines say how the traces differ; messages do not count."""
        client, server = ping_pong(5, boots=("one", "one"), slower=STEP, clock=lambda t: t + 3000)
        client.lines[0]["start_ns"], server.lines[0]["start_ns"] = 8000, 5000
        data = self.drawn(client, server)
        self.assertEqual(data["notes"], [])
        lines = data["messages"]
        took = [u - t for t, u in zip(lines["t"], lines["u"])]
        self.assertEqual(took, [TRANSFER, TRANSFER + STEP] * 5)

    def test_one_direction(self) -> None:
        """The answers are missing: the page says that nothing more is known."""
        client, server = ping_pong(3)
        server.lines = [x for x in server.lines if x.get("call") != "ibv_post_send"]
        data = self.drawn(client, server)
        self.assertIn("messages in one direction only", data["notes"][0])

    def test_no_messages(self) -> None:
        """The programs have exchanged nothing."""
        client, server = ping_pong(0)
        data = self.drawn(client, server)
        self.assertIn("no message to another trace is known", data["notes"][0])


class Packets(Pictures):
    """Packets of make capture, drawn between the programs."""

    def between(self, captured: Line, *sides: Side) -> Any:
        """Returns the data of a page with packets."""
        path = self.scratch / "packets.json"
        path.write_text(json.dumps(captured))
        traces = [side.write(self.scratch / f"{number}.json") for number, side in enumerate(sides)]
        ended = self.draw("--packets", str(path), *traces)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))
        return self.data()

    def test_clock(self) -> None:
        """The clocks of packets and programs all differ, and each packet is drawn at its time."""
        sides = ping_pong(4, clock=lambda t: t + 10**12)
        data = self.between(packets(4, clock=lambda t: t + 10**18), *sides)
        half = TRANSFER // 2
        pings = [FIRST + number * ROUND + half for number in range(4)]
        pongs = [ping + TRANSFER + STEP for ping in pings]
        to_server, to_client = data["lanes"][-2:]
        self.assertEqual(to_server["levels"][0]["t"], sorted([*pings, pings[0] + 1000]))
        self.assertEqual(to_client["levels"][0]["t"], pongs)
        self.assertEqual(to_client["empty"]["t"], [ping + TRANSFER // 4 for ping in pings])
        self.assertEqual(data["notes"][1], "packets.json: its clock is matched by 8 messages, to ±10.0 µs")

    def test_place(self) -> None:
        """The packets' lanes come between the programs; a repetition is an error, and hover has the details."""
        data = self.between(packets(2), *ping_pong(2))
        self.assertEqual([p["label"] for p in data["processes"]], ["client", "the network", "server"])
        lanes = [(lane["process"], lane["name"], lane.get("packets", False)) for lane in data["lanes"]]
        self.assertEqual(lanes, [(0, "t1", False), (2, "t1", False), (1, "to server", True), (1, "to client", True)])
        self.assertEqual({thing["process"] for thing in data["objects"]}, {0, 2})
        series = data["lanes"][-2]["levels"][0]
        self.assertEqual(series["f"], [0, ERROR, 0])
        self.assertEqual(data["words"][series["w"][0]], "SEND Only, PSN 0\n64 bytes")

    def test_no_send(self) -> None:
        """Without a SEND to match by, the page says so."""
        captured = packets(2)
        captured["packets"] = [p for p in captured["packets"] if p["text"] == "ACK"]
        data = self.between(captured, *ping_pong(2))
        self.assertIn("packets.json: no message to another trace is known", data["notes"][-1])

    def test_no_packets(self) -> None:
        """A file of another kind is refused."""
        trace = ping_pong(1)[0].write(self.scratch / "trace.json")
        other = self.scratch / "other.json"
        for text in ("", "{}", "[1]", '{"client":"a","server":"b","packets":[{"from":"client"}]}'):
            other.write_text(text)
            ended = self.draw("--packets", str(other), trace)
            self.assertEqual(ended.returncode, 2, text)
            self.assertIn("other.json: no packets in it", ended.stderr)
        self.assertEqual(self.draw("--packets", trace).returncode, 2)
        self.assertEqual(self.draw("--packets", str(self.scratch / "none"), trace).returncode, 2)


class Layout(Pictures):
    """The places of calls, requests, objects and messages."""

    def test_lanes_and_requests(self) -> None:
        """Each call is in its lane, each work request beneath it from its post to its completion."""
        data = self.drawn(*ping_pong(3))
        self.assertEqual([(x["process"], x["name"]) for x in data["lanes"]], [(0, "t1"), (1, "t1")])
        client = data["lanes"][0]
        texts = [data["words"][w].split("(")[0] for w in client["levels"][0]["w"]]
        self.assertEqual(texts.count("ibv_post_send"), 3)
        self.assertEqual([data["words"][w].split("(")[0] for w in client["levels"][1]["w"]], ["ibv_modify_qp"] * 3)
        sends, receives = client["requests"]
        self.assertEqual(sends["t"], [FIRST + n * ROUND for n in range(3)])
        self.assertEqual(sends["d"], [TRANSFER + STEP // 2] * 3)
        self.assertEqual(sends["f"] + receives["f"], [0] * 3 + [RECEIVE] * 3)
        self.assertEqual(sum(1 for f in client["levels"][0]["f"] if f & SLEEP), 3)

    def test_hover_is_the_trace(self) -> None:
        """Hover shows the words of the trace."""
        words = self.drawn(*ping_pong(1))["words"]
        wr = "{wr_id 0x0, SEND, flags SIGNALED, sge [{addr 0x2000, length 64, lkey 0x3}]}"
        self.assertIn(f"ibv_post_send(qp1, [{wr}]) = 0", words)
        self.assertIn("ibv_poll_cq(cq1, num_entries 4, [{wr_id 0x0, SUCCESS, SEND, qp1}]) = 1", words)
        self.assertIn("ibv_alloc_pd(context1) = pd1 (0x1000)", words)

    def test_two_connections(self) -> None:
        """Their addresses say who talks to whom, though the numbers of their QPs are the same."""
        sides = [side for slower in (0, 3 * STEP) for side in ping_pong(3, boots=("one", "one"), slower=slower)]
        for side in sides[2:]:
            side.lines = json.loads(json.dumps(side.lines).replace(CLIENT, "192.0.2.1:50001"))
        first, other, server, late = (sides[i] for i in (0, 2, 3, 1))
        other.call(FIRST + 9 * ROUND, 7, "ibv_poll_cq", {"cq": "cq1"}, 0, times=40)
        data = self.drawn(first, other, server, late)
        lanes = [lane["process"] for lane in data["lanes"]]
        ends = {(lanes[a], lanes[b]) for a, b in zip(data["messages"]["from"], data["messages"]["to"])}
        self.assertEqual((ends, len(data["messages"]["t"])), ({(0, 3), (3, 0), (1, 2), (2, 1)}, 12))
        (empty,) = (row for row in data["table"] if row["name"] == "ibv_poll_cq, empty")
        self.assertEqual([empty[name] for name in ("process", "n", "total", "max")], [1, 40, 7, 7])

    def test_objects(self) -> None:
        """Objects last from their creation to their end, and the QP has its states."""
        data = self.drawn(*ping_pong(1))
        lives = {o["name"]: o for o in data["objects"] if o["process"] == 0}
        self.assertEqual(list(lives), ["id1", "pd1", "cq1", "qp1", "mr1"])
        last = FIRST + 2 * ROUND
        self.assertEqual((lives["pd1"]["t"], lives["pd1"]["u"]), (STEP + STEP // 2, last + 2 * STEP + STEP // 2))
        self.assertEqual(lives["qp1"]["u"], last + STEP // 2)
        self.assertEqual((lives["mr1"]["x"], lives["mr1"]["u"]), (-1, data["end"]))
        states = [[(5 + n) * STEP + STEP // 2, s] for n, s in enumerate(("INIT", "RTR", "RTS"))]
        self.assertEqual(lives["qp1"]["states"], states)

    def test_errors(self) -> None:
        """A completion in error marks its poll, its work request, its QP, and its row of the table."""
        data = self.drawn(*ping_pong(3, fails=True))
        client = data["lanes"][0]
        bad = [data["words"][w] for w, f in zip(client["levels"][0]["w"], client["levels"][0]["f"]) if f & ERROR]
        self.assertEqual(len(bad), 1)
        self.assertIn("RNR_RETRY_EXC_ERR", bad[0])
        self.assertEqual([f & ERROR for f in client["requests"][0]["f"]], [0, 0, ERROR])
        when = FIRST + 2 * ROUND + TRANSFER + STEP // 2
        self.assertEqual([o["errors"] for o in data["objects"] if o["name"] == "qp1"], [[when], []])
        rows = {(r["what"], r["process"], r["name"]): r["errors"] for r in data["table"]}
        self.assertEqual((rows["call", 0, "ibv_poll_cq"], rows["work request", 0, "SEND"]), (1, 1))

    def test_table(self) -> None:
        """The table has the sums, medians and longest times that the test computes."""
        data = self.drawn(*ping_pong(4, slower=STEP, boots=("one", "one")))
        rows = {(r["what"], r["process"], r["name"]): r for r in data["table"]}
        row = rows["work request", 0, "SEND"]
        each = TRANSFER + STEP // 2
        self.assertEqual((row["n"], row["total"], row["median"], row["max"]), (4, 4 * each, each, each))
        self.assertEqual(rows["message", 1, "SEND"]["total"], 4 * (TRANSFER + STEP))
        self.assertEqual(rows["call", 0, "poll"]["n"], 4)

    def test_one_sided(self) -> None:
        """A READ goes to the peer's lane and back, and takes no receive there."""
        client, server = ping_pong(2)
        wr = {"wr_id": "0x77", "opcode": "RDMA_READ", "flags": "SIGNALED", "remote_addr": "0x5", "rkey": "0x6"}
        client.call(FIRST + 2 * ROUND, STEP // 10, "ibv_post_send", {"qp": "qp1", "wr": [wr]})
        client.poll(FIRST + 2 * ROUND + STEP, (0x77, "RDMA_READ", "SUCCESS"))
        lines = self.drawn(client, server)["messages"]
        self.assertEqual(lines["f"], [0, 0, 0, 0, UNKNOWN])
        self.assertEqual((lines["u"][4] - lines["t"][4], lines["from"][4], lines["to"][4]), (STEP, 0, 1))

    def test_a_shared_receive_queue(self) -> None:
        """The queue's receives complete in any order, each for the QP whose message it took."""
        client = Side("client", 1, "one", lambda t: t)
        client.set_up(CLIENT, SERVER)
        init = {"qp_type": "RC", "send_cq": "cq1", "recv_cq": "cq1", "srq": "srq1", "sq_sig_all": 0}
        client.call(8 * STEP, 5, "ibv_create_qp", {"pd": "pd1", "qp_init_attr": init}, "qp2", pointer="0x1", qp_num=9)
        for number in (1, 2):
            client.call(FIRST + number * STEP, 5, "ibv_post_srq_recv", {"srq": "srq1", "recv_wr": [{"wr_id": hex(number)}]})
        for end, number in ((5, 2), (6, 1)):
            wc = {"wr_id": hex(number), "status": "SUCCESS", "opcode": "RECV", "bytes": 8, "qp": "qp2"}
            client.call(FIRST + end * STEP, 5, "ibv_poll_cq", {"cq": "cq1", "num_entries": 1, "wc": [wc]}, 1)
        data = self.drawn(client)
        spans = sorted((row["t"][0], row["t"][0] + row["d"][0]) for row in data["lanes"][0]["requests"])
        self.assertEqual(spans, [(FIRST + STEP, FIRST + 6 * STEP + 5), (FIRST + 2 * STEP, FIRST + 5 * STEP + 5)])
        self.assertEqual(data["notes"], [])

    def test_an_endpoint_ends_with_its_queue_pair(self) -> None:
        """rdma_destroy_ep destroys both."""
        client = Side("client", 1, "one", lambda t: t)
        client.set_up(CLIENT, SERVER)
        client.call(FIRST, 5, "rdma_destroy_ep", {"id": "id1"}, None)
        client.call(FIRST + STEP, 5, "ibv_destroy_cq", {"cq": "cq1"})
        lives = {thing["name"]: thing["u"] for thing in self.drawn(client)["objects"]}
        self.assertEqual((lives["id1"], lives["qp1"]), (FIRST + 5, FIRST + 5))

    def test_unsignaled(self) -> None:
        """An unsignaled send is done when a later one of its queue is."""
        client = Side("client", 1, "one", lambda t: t)
        client.set_up(CLIENT, SERVER)
        for number in range(3):
            wr = {"wr_id": "0x5", "opcode": "SEND", "flags": "SIGNALED" if number == 2 else "INLINE"}
            client.call(FIRST + number * STEP, 5, "ibv_post_send", {"qp": "qp1", "wr": [wr]})
        client.poll(FIRST + 9 * STEP, (5, "SEND", "SUCCESS"))
        client.call(FIRST + 20 * STEP, STEP, "ibv_dealloc_pd", {"pd": "pd1"})
        rows = self.drawn(client)["lanes"][0]["requests"]
        self.assertEqual([row["t"][0] + row["d"][0] for row in rows], [FIRST + 9 * STEP] * 3)

    def test_all_are_signaled(self) -> None:
        """No send of such a queue asks for its completion, and each has one."""
        client = Side("client", 1, "one", lambda t: t)
        client.set_up(CLIENT, SERVER)
        init = {"qp_type": "RC", "send_cq": "cq1", "recv_cq": "cq1", "sq_sig_all": 1}
        client.call(8 * STEP, 5, "ibv_create_qp", {"pd": "pd1", "qp_init_attr": init}, "qp2", pointer="0x1", qp_num=9)
        for number in (1, 2):
            wr = {"wr_id": hex(number), "opcode": "SEND", "flags": "INLINE"}
            client.call(FIRST + number * STEP, 5, "ibv_post_send", {"qp": "qp2", "wr": [wr]})
        for number in (1, 2):
            wc = {"wr_id": hex(number), "status": "SUCCESS", "opcode": "SEND", "qp": "qp2"}
            client.call(FIRST + (3 + number) * STEP, 5, "ibv_poll_cq", {"cq": "cq1", "num_entries": 1, "wc": [wc]}, 1)
        data = self.drawn(client)
        ends = [row["t"][0] + row["d"][0] for row in data["lanes"][0]["requests"]]
        self.assertEqual((ends, data["notes"]), ([FIRST + 4 * STEP + 5, FIRST + 5 * STEP + 5], []))

    def test_extended_queues(self) -> None:
        """A QP that is connected with itself, posted to by ibv_wr_* and polled by ibv_start_poll."""
        only = Side("extended", 1, "one", lambda t: t)
        only.call(0, STEP, "ibv_create_qp_ex", {"qp_init_attr_ex": {"sq_sig_all": 0}}, "qp1", pointer="0x1", qp_num=9)
        only.call(STEP, STEP // 2, "ibv_modify_qp", {"qp": "qp1", "attr": {"state": "RTR", "dest_qp_num": 9}})
        only.post(2 * STEP, True, 1)
        only.call(3 * STEP, 5, "ibv_wr_start", {"qp": "qp1"}, None)
        wr = {"qp": "qp1", "wr_id": "0x2", "flags": "SIGNALED"}
        only.call(4 * STEP, 5, "ibv_wr_send_imm", {**wr, "imm_data": "0x1"}, None)
        only.call(4 * STEP + 9, 5, "ibv_wr_set_sge", {"qp": "qp1", "lkey": "0x3", "addr": "0x4", "length": 64}, None)
        only.call(5 * STEP, 5, "ibv_wr_rdma_write", {**wr, "wr_id": "0x3", "rkey": "0x5", "remote_addr": "0x6"}, None)
        only.call(6 * STEP, 5, "ibv_wr_complete", {"qp": "qp1"})
        found: list[tuple[int, str, dict[str, object]]]
        found = [(1, "RECV", {"bytes": 64}), (2, "SEND", {}), (3, "RDMA_WRITE", {})]
        for step, (number, opcode, more) in enumerate(found, 7):
            wc: dict[str, object] = {"wr_id": hex(number), "status": "SUCCESS", "opcode": opcode, **more, "qp": "qp1"}
            only.call(step * STEP, 5, "ibv_start_poll", {"cq": "cq1", "completion": [wc]})
        data = self.drawn(only)
        rows = data["lanes"][0]["requests"]
        spans = sorted((row["t"][0], row["t"][0] + row["d"][0]) for row in rows)
        expected = [(post * STEP, poll * STEP + 5) for post, poll in ((2, 7), (4, 8), (5, 9))]
        self.assertEqual(spans, expected)
        lines = data["messages"]
        self.assertEqual(list(zip(lines["t"], lines["u"], lines["f"])), [(4 * STEP, 7 * STEP + 5, 0), (*expected[2], UNKNOWN)])

    def test_text_cannot_end_the_page(self) -> None:
        """All text of a trace stays text."""
        client, _ = ping_pong(1)
        evil = "</script><script>alert(1)</script><!--"
        client.call(FIRST, 5, "rdma_getaddrinfo", {"node": evil})
        data = self.drawn(client)
        self.assertIn(f"rdma_getaddrinfo(node {evil}) = 0", data["words"])
        self.assertNotIn("<script>alert", (self.scratch / "out.html").read_text())


class Damaged(Pictures):
    """Files that are incomplete, or no traces."""

    def test_truncated(self) -> None:
        """A file cut at any byte: all whole lines are drawn, and the page says what is missing."""
        client, server = ping_pong(3)
        whole = Path(server.write(self.scratch / "whole.json")).read_bytes()
        mine = client.write(self.scratch / "client.json")
        for cut in range(len(whole) * 3 // 4, len(whole), 211):
            (self.scratch / "cut.json").write_bytes(whole[:cut])
            ended = self.draw(mine, str(self.scratch / "cut.json"))
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            lines = whole[:cut].split(b"\n")
            damaged = bool(lines[-1]) and whole[cut : cut + 1] != b"\n"
            note = f"cut.json: 1 line cannot be read, the first is number {len(lines)}; left out"
            self.assertEqual(note in self.data()["notes"], damaged)

    def test_garbage(self) -> None:
        """Bad lines among good ones, or a value replaced: no traceback, and all good lines drawn."""
        chance = random.Random(14)
        values: list[object] = [None, -1, 1.5, 2**70, True, "", "x", [], [[]], {}, {"wr_id": 3}, [5], "\ud800"]
        client, server = ping_pong(10)
        for _ in range(8):
            lines = []
            for line in client.lines:
                line = json.loads(json.dumps(line))
                if chance.random() < 0.3:
                    where = chance.choice([line, line.get("args") or line])
                    where[chance.choice(sorted(where))] = chance.choice(values)
                lines.append(json.dumps(line))
                if chance.random() < 0.1:
                    lines.append(chance.choice(["", "{", "[]", "null", "5", '{"pid":1}', "[" * 90_000, "\x00\x01", "{}" * 9]))
            path = self.scratch / "odd.json"
            path.write_text("\n".join(lines))
            ended = self.draw(server.write(self.scratch / "server.json"), str(path))
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            self.assertEqual(len(self.data()["lanes"][0]["levels"][0]["t"]), 9 + 4 * 10 - 1)

    def test_no_trace(self) -> None:
        """One line says why, and no page is made."""
        empty, other = self.scratch / "empty", self.scratch / "other"
        empty.write_text("")
        other.write_text("int main(void)\n")
        for path, word in ((empty, "no call in it"), (other, "no call in it"), (self.scratch / "none", "No such file")):
            ended = self.draw(str(path))
            self.assertEqual((ended.returncode, ended.stdout, len(ended.stderr.splitlines())), (2, "", 1))
            self.assertIn(word, ended.stderr)
            self.assertFalse((self.scratch / "out.html").exists())
        self.assertEqual(run(TOOL, "--html").returncode, 2)

    def test_nowhere_to_write(self) -> None:
        """Exit status 1, one line."""
        client, _ = ping_pong(1)
        ended = run(TOOL, "--html", "/nowhere/out.html", client.write(self.scratch / "a.json"))
        self.assertEqual((ended.returncode, len(ended.stderr.splitlines())), (1, 1))


class Large(Pictures):
    """Very many calls."""

    def test_20_000_calls(self) -> None:
        """Runs in make check."""
        self.check(20_000)

    @pytest.mark.long
    def test_100_000_calls(self) -> None:
        """tools/verbs-trace/README.md promises this."""
        self.check(100_000)

    def check(self, large: int) -> None:
        """The page has all calls, and is smaller than the traces."""
        rounds = large // 9
        client, server = ping_pong(rounds)
        data = self.drawn(client, server)
        calls = sum(len(s["t"]) for lane in data["lanes"] for s in lane["levels"])
        self.assertEqual(calls, len(client.lines) + len(server.lines) - 2)
        self.assertGreater(calls, large * 99 // 100)
        self.assertEqual(len(data["messages"]["t"]), 2 * rounds)
        traces = sum((self.scratch / f"{n}.json").stat().st_size for n in (0, 1))
        self.assertLess((self.scratch / "out.html").stat().st_size, traces)
