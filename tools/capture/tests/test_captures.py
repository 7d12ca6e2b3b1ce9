# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The descriptions of packets that were captured between two hosts of the lab.

captures/: one-sided and one-sided-iwarp are of ping-rdma-1, 2 messages of 3000 bytes; lost is of blast-sr-2, 8
messages of 2048 bytes, with --loss 12; refused of ping-sr-1, 65 bytes where 64 are allowed; bare of ping-rc-0,
3 messages; atomic of count-atomic-1 --lock, 2 counts. Numbers are compared with what tshark says of the fields.
"""

import functools
import re
import subprocess
import unittest
from pathlib import Path

from tools.capture.conversation import Conversation, read
from tools.capture.frames import NoFrames, frames
from tools.capture.ladder import lines
from tools.capture.picture import packet

CAPTURES = Path(__file__).resolve().parent / "captures"
PSN = re.compile(r"PSN (\d+)$")


@functools.cache
def of(name: str) -> Conversation:
    """Reads one of the captures."""
    return read(frames(CAPTURES / f"{name}.pcap"))


def texts(name: str, from_client: bool) -> list[str]:
    """The ladder of one side, without time and arrows."""
    steps = [step for step in of(name).steps if step.from_client == from_client]
    drawn = [line[10:] for line in lines(steps) if line[:9].strip()]
    return [re.sub(r"(^<-+ | -+>$)", "", line) for line in drawn]


def fields(name: str, wanted: str, *names: str) -> list[list[str]]:
    """Returns tshark's values of some fields of the wanted packets."""
    command = ["tshark", "-n", "-r", str(CAPTURES / f"{name}.pcap"), "-T", "fields", "-Y", wanted]
    for field in names:
        command += ["-e", field]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in out.splitlines()]


class Roce(unittest.TestCase):
    def test_each_packet_is_a_step(self) -> None:
        for name in ("one-sided", "lost", "refused", "bare", "atomic"):
            self.assertEqual(len(of(name).steps), len(fields(name, "infiniband || tcp", "frame.number")), name)

    def test_one_sided(self) -> None:
        self.assertEqual((of("one-sided").client, of("one-sided").server), ("192.0.2.2", "192.0.2.1"))
        # A packet has 1024 bytes at most; a READ takes the PSNs of its response.
        self.assertEqual([text for text in texts("one-sided", True) if "ACK" not in text][1:], [
            "RTU", "SEND Only, 16 bytes, PSN 0",
            "RDMA WRITE First to Last, 3 parts, PSN 1 to 3", "RDMA READ Request, PSN 4",
            "RDMA WRITE First to Last, 3 parts, PSN 7 to 9", "RDMA READ Request, PSN 10",
            "SEND Only, 8 bytes, PSN 13", "DREQ",
        ])  # fmt: skip
        self.assertIn("RDMA READ response First to Last, 3 parts, PSN 10 to 12", texts("one-sided", False))

    def test_sizes(self) -> None:
        sizes = [
            int(match[1])
            for step in of("one-sided").steps
            if (match := re.match(r"RDMA WRITE \w+, (\d+) bytes", step.text))
        ]
        self.assertEqual(sizes, [1024, 1024, 952] * 2)

    def test_nothing_was_lost(self) -> None:
        for name in ("one-sided", "refused", "bare", "atomic"):
            self.assertEqual([s.text for s in of(name).steps if s.remark or "again" in s.text], [], name)

    def test_private_data(self) -> None:
        request = of("one-sided").steps[0]
        self.assertTrue(request.text.startswith("REQ: my QP is "))
        names = [f"infiniband.cm.req.{name}" for name in ("retrcount", "rnrretrcount", "initdepth", "responderres")]
        retries, rnr, initiator, responder = (int(value, 0) for value in fields("one-sided", "infiniband.cm.req", *names)[0])
        self.assertEqual((rnr, request.details), (7, [
            f"port 12321, MTU 1024, retry count {retries}, RNR retry count 7 (no limit)",
            f"READs and atomics at a time: {initiator} from me, {responder} to me",
            "private data: count 2, size 3000; OUR1, version 1, 32 bytes",
        ]))  # fmt: skip

    def test_a_refusal(self) -> None:
        request, refusal = of("refused").steps
        self.assertIn("private data: count 3, size 65; OUR1, version 1, 32 bytes", request.details)
        self.assertTrue(refusal.text.startswith("REJ: reason 28"))
        self.assertRegex(refusal.details[0], "reason 3, the size .*; limit 64$")

    def test_acknowledgements(self) -> None:
        seen = [re.findall(r"ACK, MSN (\d+), credits .*\((\d+)\)", step.text) for step in of("lost").steps]
        said = fields("lost", "infiniband.aeth.syndrome.opcode == 0", "infiniband.aeth.msn",
                      "infiniband.aeth.syndrome.credit_count")  # fmt: skip
        self.assertEqual([list(match) for found in seen for match in found], said)

    def test_what_was_lost_is_said(self) -> None:
        first = int(fields("lost", "infiniband.cm.rep", "infiniband.cm.rep.startpsn")[0][0], 0)
        at = fields("lost", "infiniband.bth.opcode <= 5 && ip.src == 192.0.2.2", "infiniband.bth.psn")
        psns = [int(psn) - first for psn, in at]
        highest = [max(psns[:n], default=-1) for n in range(len(psns))]
        again = [psn for psn, so_far in zip(psns, highest) if psn <= so_far]
        gaps = [psn - 1 for psn, so_far in zip(psns, highest) if psn == so_far + 2]
        self.assertGreater(len(again), 3)
        self.assertGreater(len(gaps), 1)
        steps = [step for step in of("lost").steps if step.from_client and "SEND" in step.text]
        said = [int(match[1]) for step in steps if "again" in step.text and (match := PSN.search(step.text))]
        self.assertEqual(said, again)
        remarks = [int(n) for step in steps for n in re.findall(r"PSN (\d+) is not in the capture", step.remark)]
        self.assertEqual(remarks, gaps)
        self.assertIn(f"NAK: PSN Sequence Error, PSN {gaps[0]}", texts("lost", False))

    def test_without_a_connection_manager(self) -> None:
        for from_client in (True, False):
            said = texts("bare", from_client)
            self.assertEqual([text for text in said if text.startswith("SEND")],
                             [f"SEND Only, 64 bytes, PSN {n}" for n in range(3)])  # fmt: skip
            self.assertEqual(len([text for text in said if text.startswith("ACK") and PSN.search(text)]), 3)
        told = [step.details for step in of("bare").steps if step.details]
        self.assertEqual(len(told), 3)
        self.assertRegex(told[0][0], '^"0000:[0-9a-f]{6}:[0-9a-f]{6}:[0-9a-f]{32}"$')

    def test_atomics(self) -> None:
        steps = of("atomic").steps
        swaps = [step.details[0] for step in steps if step.text.startswith("CmpSwap")]
        # A lock is taken, a counter read and made one more, the lock given back: twice.
        lock = int(re.match(r"(\d+) if it is 0, ", swaps[0])[1])  # type: ignore[index]
        expected = [f"{lock} if it is 0,", "1 if it is 0,", f"0 if it is {lock},"]
        expected += [f"{lock} if it is 0,", "2 if it is 1,", f"0 if it is {lock},"]
        self.assertEqual([swap.split(" at ")[0] for swap in swaps], expected)
        before = [step.details[0] for step in steps if "value before" in "".join(step.details)]
        self.assertEqual(before, [f"value before: {n}" for n in (0, 0, 0, lock, 0, 1, 1, lock)])


class Iwarp(unittest.TestCase):
    name = "one-sided-iwarp"

    def test_the_conversation(self) -> None:
        said = [text for text in texts(self.name, True) if "again" not in text]
        self.assertEqual(said, [
            "TCP SYN", "MPA Request, revision 2, no CRC, no markers", "RDMAP SEND, 16 bytes, last segment",
            "RDMAP WRITE, 3 parts", "RDMAP READ REQUEST, last segment",
            "RDMAP WRITE, 3 parts", "RDMAP READ REQUEST, last segment",
            "RDMAP SEND, 8 bytes, last segment", "TCP FIN",
        ])  # fmt: skip
        self.assertEqual(texts(self.name, False).count("RDMAP READ RESPONSE, 3 parts"), 2)

    def test_sizes(self) -> None:
        found = [re.match(r"RDMAP WRITE, (\d+) bytes", step.text) for step in of(self.name).steps]
        self.assertEqual(sum(int(match[1]) for match in found if match), 2 * 3000)

    def test_private_data(self) -> None:
        details = next(step.details for step in of(self.name).steps if step.text.startswith("MPA Request"))
        self.assertEqual(details, [
            "READs at a time: 1 from me (ORD), 1 to me (IRD)",
            "private data: count 2, size 3000; OUR1, version 1, 32 bytes",
        ])  # fmt: skip

    def test_retransmissions(self) -> None:
        again = [step for step in of(self.name).steps if "again" in step.text]
        said = fields(self.name, "tcp.analysis.retransmission", "frame.number")
        self.assertEqual(len(again), len(said))
        self.assertTrue(again)

    def test_acknowledgements_of_tcp(self) -> None:
        conversation = of(self.name)
        bare = fields(self.name, "tcp.len == 0 && !tcp.flags.syn == 1 && !tcp.flags.fin == 1", "frame.number")
        drawn = [line for line in lines(conversation.steps, everything=True) if "TCP ACK" in line]
        self.assertEqual(len(drawn), len(bare))
        self.assertFalse([line for line in lines(conversation.steps) if "TCP ACK" in line])


class Other(unittest.TestCase):
    def test_what_is_no_capture(self) -> None:
        with self.assertRaises(NoFrames):
            list(frames(Path(__file__)))


class Picture(unittest.TestCase):
    """The file for verbs-trace --html."""

    def test_ends(self) -> None:
        """The packets that end a SEND are those that tshark calls so: SEND Last (2) and SEND Only (4)."""
        for name in ("one-sided", "lost", "bare"):
            opcodes = [row[0] for row in fields(name, "infiniband.bth.opcode < 100", "infiniband.bth.opcode")]
            ends = [packet(step)["ends"] for step in of(name).steps]
            self.assertEqual(ends.count("SEND"), opcodes.count("2") + opcodes.count("4"), name)
            self.assertGreater(ends.count("SEND"), 0, name)
        ends = [packet(step)["ends"] for step in of("one-sided-iwarp").steps]
        last = "iwarp_rdma.opcode == 3 && iwarp_ddp.last_flag == 1"
        self.assertEqual(ends.count("SEND"), len(fields("one-sided-iwarp", last, "frame.number")))

    def test_again(self) -> None:
        """Repeated packets are marked; without a loss nothing is."""
        self.assertTrue(any(packet(step)["again"] for step in of("lost").steps))
        for name in ("one-sided", "bare", "atomic"):
            self.assertFalse(any(packet(step)["again"] for step in of(name).steps), name)
        repeated = fields("one-sided-iwarp", "tcp.analysis.retransmission", "frame.number")
        again = [packet(step)["again"] for step in of("one-sided-iwarp").steps]
        self.assertEqual(again.count(True), len(repeated))

    def test_times(self) -> None:
        """In nanoseconds, as tshark has them."""
        epochs = [row[0] for row in fields("bare", "infiniband || tcp", "frame.time_epoch")]
        times = [packet(step)["time_ns"] for step in of("bare").steps]
        for time, epoch in zip(times, epochs, strict=True):
            self.assertLess(abs(time - float(epoch) * 1e9), 1000)
