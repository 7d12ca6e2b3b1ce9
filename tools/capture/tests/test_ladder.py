# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Drawing a ladder, reading private data, and running `make capture`: rows that need no capture of captures/."""

import struct
import subprocess
import sys
import unittest
from pathlib import Path

import pytest

from tools.capture import private_data
from tools.capture.ladder import Step, lines

TOP = Path(__file__).resolve().parents[3]
LIMIT_S = 240


def part(place: str, psn: int, from_client: bool = True) -> Step:
    """A packet of a SEND of several."""
    return Step(
        0.0, from_client, f"SEND {place}, PSN {psn}", inside="SEND", place=place, number=f"PSN {psn}",
        begins=place == "First", ends=place == "Last",
    )  # fmt: skip


class Ladder(unittest.TestCase):
    def test_arrows(self) -> None:
        there, back = lines([Step(5.0, True, "REQ"), Step(5.25, False, "REP")])
        self.assertRegex(there, r"^ 0\.000000 REQ -+>$")
        self.assertRegex(back, r"^ 0\.250000 <-+ REP$")
        self.assertEqual(len(there), len(back))

    def test_details_are_on_the_side_that_sent(self) -> None:
        drawn = list(lines([Step(0, True, "a", ["mine"]), Step(0, False, "b", ["yours"])]))
        self.assertEqual(drawn[1].index("mine"), 14)
        self.assertEqual(len(drawn[3]), len(drawn[2]))

    def test_a_long_text_is_whole(self) -> None:
        text = "x" * 200
        self.assertEqual(list(lines([Step(0, True, text)])), [f" 0.000000 {text} -->"])

    def test_parts_of_one_message_are_one_arrow(self) -> None:
        steps = [part("First", 7), part("Middle", 8), part("Last", 9), part("First", 10), part("Last", 11)]
        first, second = lines(steps)
        self.assertIn("SEND First to Last, 3 parts, PSN 7 to 9 ", first)
        self.assertIn("SEND First to Last, 2 parts, PSN 10 to 11 ", second)
        self.assertEqual(len(list(lines(steps, everything=True))), 5)

    def test_nothing_is_hidden_between_parts(self) -> None:
        answer = Step(0.0, False, "ACK")
        lost = part("Middle", 4)
        lost.remark = "(PSN 3 is not in the capture)"
        drawn = list(lines([part("First", 1), answer, part("Middle", 2), lost, part("Middle", 5, False)]))
        self.assertEqual(len(drawn), 6)
        self.assertIn(lost.remark, drawn[3])

    def test_a_silence_is_said(self) -> None:
        drawn = list(lines([Step(0, True, "a"), Step(0.4, True, "b"), Step(2.5, True, "c")]))
        self.assertEqual([line.strip() for line in drawn if "..." in line], ["... 2.1 s without a packet ..."])

    def test_minor_steps(self) -> None:
        steps = [Step(0, True, "TCP ACK", minor=True), Step(1, True, "RDMAP")]
        self.assertEqual(len(list(lines(steps))), 1)
        self.assertEqual(len([line for line in lines(steps, True) if ">" in line]), 2)


class PrivateData(unittest.TestCase):
    """The layout is that of docs/protocol.md."""

    ours = struct.pack(">QQQIHH", 1000, 64, 0, 0x4F555231, 1, 32)

    def test_a_request(self) -> None:
        told = "private data: count 1000, size 64; OUR1, version 1, 32 bytes"
        self.assertEqual(private_data.of_request(self.ours), [told])
        self.assertEqual(private_data.of_request(self.ours + bytes(24)), [told])

    def test_a_request_without_our_extension(self) -> None:
        self.assertEqual(private_data.of_request(self.ours[:16]), ["private data: count 1000, size 64"])
        blast = struct.pack(">QQQ", 10**12, 64, 32)
        self.assertEqual(private_data.of_request(blast), ["private data: count until it leaves, size 64, 32 buffers"])

    def test_what_is_not_ours(self) -> None:
        self.assertEqual(private_data.of_request(b""), [])
        self.assertEqual(private_data.of_request(bytes(56)), [])
        self.assertEqual(private_data.of_request(b"hello"), ["private data: 68 656c6c6f"])
        self.assertTrue(private_data.of_request(b"\xff" * 56)[0].endswith(" ..."))

    def test_a_refusal(self) -> None:
        data = struct.pack(">IHHQ", 0x4F555231, 1, 9, 2) + bytes(132)
        self.assertRegex(private_data.of_refusal(data)[0], "reason 9, .*at a time; limit 2$")
        self.assertEqual(private_data.of_refusal(bytes(148)), [])

    def test_every_reason_of_the_protocol_is_known(self) -> None:
        row = next(line for line in (TOP / "docs/protocol.md").read_text().splitlines() if "| reason: 1 " in line)
        for number in range(1, 10):
            self.assertIn(f" {number} ", row)
        self.assertNotIn(" 10 ", row)
        self.assertEqual(sorted(private_data.REASONS), list(range(1, 10)))


class CommandLine(unittest.TestCase):
    def test_wrong_usage(self) -> None:
        wrong: list[list[str]] = [["no-such-stage"], [], ["ping-sr-0", "--loss", "100"], ["ping-sr-0", "--count", "0"]]
        for words in wrong:
            command = [sys.executable, "-B", "-m", "tools.capture", *words]
            result = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=30)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)

    def test_no_capture(self) -> None:
        command = [sys.executable, "-B", "-m", "tools.capture", "--read", "/nowhere"]
        result = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=30)
        self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (1, "", 1), result.stderr)


def capture(stage: str, options: str) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    command = ["make", "--silent", "capture", f"STAGE={stage}", f"CAPTURE={options}"]
    return subprocess.run(
        command, cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
    )


@pytest.mark.long
class Runs(unittest.TestCase):
    """Over real drivers: two hosts of the lab for each test."""

    def check(self, stage: str, options: str, order: list[str]) -> None:
        """Checks that the ladder shows all of these, one after the other."""
        result = capture(stage, options)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        at = 0
        for text in order:
            found = result.stdout.find(text, at)
            self.assertGreaterEqual(found, 0, f"{text} does not come, or not in its order: {result.stdout}")
            at = found + 1

    def test_roce(self) -> None:
        talk = ["SEND Only, 64 bytes, PSN 0 -", "ACK, MSN 1", "- SEND Only, 64 bytes, PSN 0\n"]
        talk += ["SEND Only, 64 bytes, PSN 1 -", "- SEND Only, 64 bytes, PSN 1\n"]
        order = ["REQ: ", "count 2, size 64; OUR1", "- REP: ", "RTU -", *talk, "DREQ -", "- DREP"]
        self.check("ping-sr-1", "-c 2", order)

    def test_iwarp(self) -> None:
        order = ["MPA Request", "count 1, size 64; OUR1", "- MPA Reply", "RDMAP WRITE, 64 bytes", "READ REQUEST"]
        self.check("ping-rdma-1", "--iwarp -c 1", [*order, "READ RESPONSE, 64 bytes", "TCP FIN"])

    def test_a_failure(self) -> None:
        result = capture("ping-sr-1", "-s 65 -- --max-size 64 :::")
        self.assertEqual(result.returncode, 2)  # make's
        self.assertIn("reason 3, ", result.stdout)
        self.assertIn("make capture: ping-sr-1 has failed (exit status 1)", result.stderr)
