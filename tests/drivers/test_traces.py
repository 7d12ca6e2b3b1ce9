# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Tests the trace of a connection, as text and as JSON."""

from __future__ import annotations

import os
import re
import tempfile
import unittest
from pathlib import Path

from tracer.tracing import ADDRESSES, BUILT, TOOL, Server, records, trace

SINS = BUILT / "sins"
TIME = r"^ +\d+\.\d{6} t1 "


class Output(unittest.TestCase):
    """Of a program that connects to itself, sends and disconnects."""

    def told(self, *options: str, sin: str = "armed-not-polled", how: str = "innocent") -> str:
        """What verbs-trace says of it."""
        address = next(iter(ADDRESSES.values()))
        ended = trace(*options, SINS, sin, how, address)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stderr

    def test_words(self) -> None:
        """Each kind of line, as docs/verbs-trace.md has it."""
        told = self.told()
        for line in (
            r"rdma_create_id\(event_channel1, id1 \(0x[0-9a-f]+\), context NULL, ps TCP\) = 0 <",
            r"rdma_get_cm_event\(event_channel1, event1, \{ADDR_RESOLVED, id2, status 0\}\) = 0 <",
            r"ibv_reg_mr\(pd1, addr 0x[0-9a-f]+, length 4096, access LOCAL_WRITE\) = mr1 \(0x",
            r"rdma_create_qp\(id2, pd1, qp_init_attr \{qp_type RC, send_cq cq1, recv_cq cq1, cap \{send (64|127),",
            r"rdma_connect\(id2, conn_param \{responder_resources 1, initiator_depth 1, retry_count 6, "
            r"rnr_retry_count 6, private_data \(6 bytes\) 68656c6c6f00\}\) = 0 <",
            r"rdma_get_cm_event\(.*\{CONNECT_REQUEST, id3, listener id1, status 0, .*68656c6c6f00",
            r"ibv_post_send\(qp1, \[\{wr_id 0x73, SEND, flags SIGNALED, sge \[\{addr 0x[0-9a-f]+, length 256, ",
            r"ibv_poll_cq\(cq2, num_entries 1, \[\{wr_id 0x72, SUCCESS, RECV, bytes 256, qp2\}\]\) = 1 <",
            r"ibv_destroy_cq\(cq2\) = 0 <",
        ):
            self.assertRegex(told, re.compile(TIME + line, re.MULTILINE))

    def test_objects_have_one_pointer(self) -> None:
        """Shown once, where it is made."""
        for name in ("qp1", "mr2", "id1"):
            self.assertEqual(len(re.findall(rf"\b{name} \(0x", self.told())), int(name != "qp1"))

    def test_empty_polls_are_told_once(self) -> None:
        """However many there were."""
        lines = re.findall(r"ibv_poll_cq\((cq\d)\) = 0, \d+ times? <", self.told())
        self.assertLess(len(lines), 10)
        self.assertNotIn("= 0 <0.000000>\n", "".join(x for x in self.told().splitlines() if "poll" in x))

    def test_lines_are_in_order(self) -> None:
        """Empty polls of one thread come before what other threads did after they began."""
        address = next(iter(ADDRESSES.values()))
        with tempfile.TemporaryDirectory() as scratch:
            told = Path(scratch, "server")
            server = Server("timeout", "-k", "5", "50", TOOL, "-j", "-o", told, "ping-sr-2/server", "-a", address)
            server.wait_for("rdma_listen", told)
            client = trace("ping-sr-2/client", "-a", address, "-c", "30", "--rate", "30", env=dict(os.environ))
            self.assertEqual((client.returncode, server.end()[0]), (0, 0), client.stderr)
            calls = [r for r in records(told.read_text()) if "call" in r]
        self.assertIn(0, [c["result"] for c in calls if c["call"] == "ibv_poll_cq"])
        for before, after in zip(calls, calls[1:]):
            if after["call"] == "ibv_poll_cq" and not after["result"]:
                self.assertLessEqual(before["time_ns"], after["time_ns"], (before, after))

    def test_json(self) -> None:
        """The same calls, each with the fields of docs/verbs-trace-json.md."""
        calls = [r for r in records(self.told("-j")) if "call" in r]
        for call in calls:
            self.assertLessEqual({"time_ns", "pid", "tid", "thread", "call", "args", "took_ns"}, set(call))
        send = next(c for c in calls if c["call"] == "ibv_post_send")
        self.assertEqual(send["result"], 0)
        self.assertEqual(send["args"]["wr"][0]["flags"], "SIGNALED")
        self.assertEqual(send["args"]["wr"][0]["sge"][0]["length"], 256)
        polled = [c for c in calls if c["call"] == "ibv_poll_cq" and c["result"]]
        self.assertEqual({p["args"]["wc"][0]["status"] for p in polled} - {"WR_FLUSH_ERR"}, {"SUCCESS"})

    def test_filters(self) -> None:
        """-e, -q and -k."""
        verbs = set(re.findall(r" t1 (\w+)\(", self.told("-e", "create,!channel")))
        self.assertEqual(verbs, {"rdma_create_id", "ibv_create_cq", "rdma_create_qp"})
        quiet = self.told("-q")
        for verb in ("ibv_post_send", "ibv_post_recv", "ibv_poll_cq"):
            queues = re.findall(rf" t1 {verb}\((\w+), ", self.told())
            self.assertEqual(re.findall(rf" t1 {verb}\((\w+), ", quiet), list(dict.fromkeys(queues)))
        self.assertIn("rdma_connect(", quiet)
        self.assertEqual(self.told("-k"), "")
        after = self.told("-k", sin="posted-after-error").splitlines()
        self.assertIn({"RoCE": "REM_ACCESS_ERR", "iWARP": "LOC_QP_OP_ERR"}[next(iter(ADDRESSES))], after[0])
        self.assertIn("rdma_disconnect(", after[1] + after[2])

    def test_label(self) -> None:
        """-l: each line of the trace and of its report begins with it, but not JSON."""
        address = next(iter(ADDRESSES.values()))
        lines = trace("-l", "a/b", SINS, "leak", "guilty", address).stderr.splitlines()
        self.assertEqual([line for line in lines if not re.match(r"a/b: +\S", line)], [])
        self.assertIn("a/b:   verbs-trace: 15 accusations", lines)
        self.assertIn("pid", records(self.told("-l", "a/b", "-j"))[0])

    def test_binary_data(self) -> None:
        """-s cuts."""
        self.assertIn("private_data (6 bytes) 6865...}", self.told("-s", "2"))

    def test_wire(self) -> None:
        """-p: what our stages ask for in a connect request, padded or not; private data of others is left as it is."""
        asked = r", connect_info \{count 3, data_size 5, n_data_buffers 0, version 1\}"
        for transport, address in ADDRESSES.items():
            with self.subTest(transport), tempfile.TemporaryDirectory() as scratch:
                told, server = self.server(scratch, address)
                client = trace("-p", "ping-sr-3/client", "-a", address, "-c", "3", "-s", "5")
                self.assertEqual((client.returncode, server.end()[0]), (0, 0), client.stderr)
                self.assertRegex(client.stderr, r"rdma_connect\(.*" + asked)
                self.assertRegex(told.read_text(), r"\{CONNECT_REQUEST, .*" + asked)
        self.assertNotIn("connect_info", self.told("-p"))

    def test_wire_of_a_refusal(self) -> None:
        """-p: why."""
        reason = r", refusal \{version 1, reason 2, limit 2\}"
        for transport, address in ADDRESSES.items():
            with self.subTest(transport), tempfile.TemporaryDirectory() as scratch:
                told, server = self.server(scratch, address, "--max-count", "2")
                refused = trace("-p", "ping-sr-3/client", "-a", address, "-c", "3")
                self.assertEqual(refused.returncode, 1)
                self.assertRegex(refused.stderr, r"\{REJECTED, .*" + reason)
                trace("ping-sr-3/client", "-a", address, "-c", "2")
                self.assertEqual(server.end()[0], 0)
                self.assertRegex(told.read_text(), r"rdma_reject\(.*" + reason)

    @staticmethod
    def server(scratch: str, *options: str) -> tuple[Path, Server]:
        """A traced one, once it listens, and the file of its trace."""
        told = Path(scratch, "server")
        limited = ("timeout", "-k", "5", "50")
        server = Server(*limited, TOOL, "-p", "-o", told, "ping-sr-3/server", "-a", *options)
        server.wait_for("rdma_listen(", told)
        return told, server

    def test_summary(self) -> None:
        """-c: as many calls as the trace has."""
        count = self.told().count(" rdma_ack_cm_event(")
        self.assertRegex(self.told("-c"), rf" {count} +0 rdma_ack_cm_event\n")
        self.assertNotIn(" t1 ", self.told("-c"))

    def test_heading(self) -> None:
        """-j: the first line says which program, and whose clock."""
        first, second, *rest = records(self.told("-j"))
        self.assertEqual(first["program"][0], str(SINS))
        self.assertEqual(first["program"][1:3], ["armed-not-polled", "innocent"])
        self.assertEqual(first["boot_id"], Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self.assertEqual([r for r in (second, *rest) if "program" in r], [])

    def test_queue_pair(self) -> None:
        """Which one rdma_create_qp has made, and between whom: as the peer has it, the other way round."""
        calls = [r for r in records(self.told("-j", "-n")) if "call" in r]
        made = [c["args"] for c in calls if c["call"] == "rdma_create_qp"]
        self.assertEqual([m["qp"] for m in made], ["qp1", "qp2"])
        self.assertEqual((made[0]["local"], made[0]["peer"]), (made[1]["peer"], made[1]["local"]))
        numbers = [c["qp_num"] for c in calls if c["call"] == "ibv_create_qp"]
        self.assertEqual([m["qp_num"] for m in made], numbers)

    def test_nested(self) -> None:
        """-n: what the library calls for itself, indented."""
        told = self.told("-n")
        self.assertRegex(told, r" t1 {5}rdma_create_qp_ex\(id\d+, ")
        self.assertRegex(told, r" t1 {9}ibv_create_qp\(pd\d+, ")
        self.assertNotIn("ibv_create_qp(", self.told())
