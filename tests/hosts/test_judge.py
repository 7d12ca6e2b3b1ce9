# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of judge.py."""

from __future__ import annotations

import json
import unittest

from hosts.disturbances import Disturbance, chosen
from hosts.judge import BAD, DONE, TOLD, Seen, Side, judge

CUT = chosen(["cut-5-transfer"])[0]
CLOCK = chosen(["clock-forwards"])[0]
DELETE = chosen(["delete-server"])[0]
SILENT = "the client said nothing for 10 s, after 37 messages"


def out(row: Disturbance, **changes: object) -> str:
    """A line of results."""
    result = {"count": row.count - 10, "warm_up": 10, "complete": True, "verified": True}
    return json.dumps(result | changes) + "\n"


def good(row: Disturbance) -> Seen:
    """All has gone well."""
    server = Side(0, ["ping-sr-3/server: listening on 192.0.2.1:20001"])
    return Seen(Side(0, [], out(row)), server, Side(0, [], out(row)))


class Judge(unittest.TestCase):
    """One fault at a time."""

    def check(self, seen: Seen, word: str, part: str = "", row: Disturbance = CUT) -> None:
        """The word, and the one fault there is."""
        verdict = judge(row, "ping-sr-3", seen)
        self.assertEqual(verdict.word, word, verdict.faults)
        self.assertEqual(len(verdict.faults), 1 if word == BAD else 0, verdict.faults)
        self.assertIn(part, " ".join(verdict.faults))

    def client(self, status: int | None, *said: str, row: Disturbance = CUT) -> Seen:
        """A client that did not succeed."""
        seen = good(row)
        seen.client = Side(status, [f"ping-sr-3/client: {line}" for line in said])
        return seen

    def test_done(self) -> None:
        self.check(good(CUT), DONE)

    def test_told(self) -> None:
        self.check(self.client(1, SILENT), TOLD)

    def test_server_told(self) -> None:
        seen = good(CUT)
        seen.server.status = 1
        seen.server.said.append(f"ping-sr-3/server: {SILENT}")
        self.check(seen, TOLD)

    def test_client_hangs(self) -> None:
        self.check(self.client(None), BAD, "client hangs")

    def test_no_word(self) -> None:
        self.check(self.client(1), BAD, "without a word")

    def test_another_cause(self) -> None:
        self.check(self.client(1, "received a message of 63 bytes"), BAD, "another cause")

    def test_cause_of_another_disturbance(self) -> None:
        text = "the RDMA device was removed after 3 messages (RDMA_CM_EVENT_DEVICE_REMOVAL)"
        self.check(self.client(1, text), BAD, "another cause")
        self.check(self.client(1, text, row=DELETE), TOLD, row=DELETE)

    def test_twice(self) -> None:
        self.check(self.client(1, SILENT, SILENT), BAD, "says 2 things")
        seen = good(CUT)
        seen.server.said += [f"ping-sr-3/server: {SILENT}"] * 2
        seen.server.status = 1
        self.check(seen, BAD, "says 2 things")

    def test_what_the_device_says_besides_is_no_reason(self) -> None:
        hint = "rxe0, port 1: an address was added to it or removed (IBV_EVENT_GID_CHANGE)"
        self.check(self.client(1, hint, SILENT), TOLD)
        self.check(self.client(1, hint), BAD, "another cause")

    def test_news_are_no_complaint(self) -> None:
        seen = good(CUT)
        seen.server.said.append("count-atomic-1/server: counted to 40, and the clients' counts add up to 40")
        self.check(seen, DONE)
        seen.server.said.append("count-atomic-1/server: counted to 40, but the clients' counts add up to 39")
        self.check(seen, BAD, "another cause")

    def test_a_listener_and_a_connection_are_two(self) -> None:
        seen = good(DELETE)
        lost = "ping-sr-3/server: {}: No such device (19) (RDMA_CM_EVENT_DEVICE_REMOVAL)"
        seen.server.said += [lost.format("the listener"), lost.format("the agent")]
        seen.server.status = 1
        self.check(seen, TOLD, row=DELETE)
        seen.server.said.append(lost.format("the listener"))
        self.check(seen, BAD, "says 3 things", row=DELETE)

    def test_killed(self) -> None:
        self.check(self.client(-6, SILENT), BAD, "exit status -6")

    def test_success_with_a_word(self) -> None:
        seen = good(CUT)
        seen.client.said = [f"ping-sr-3/client: {SILENT}"]
        self.check(seen, BAD, "with exit status 0")

    def test_success_without_all_messages(self) -> None:
        for name, value, part in (
            ("count", 5, "5 + 10 messages"),
            ("complete", False, "complete is false"),
            ("verified", False, "not verified"),
        ):
            seen = good(CUT)
            seen.client.out = out(CUT, **{name: value})
            self.check(seen, BAD, part)

    def test_success_without_a_result(self) -> None:
        seen = good(CUT)
        seen.client.out = ""
        self.check(seen, BAD, "without a result")

    def test_harmless(self) -> None:
        seen = self.client(1, SILENT, row=CLOCK)
        self.assertEqual(judge(CLOCK, "ping-sr-3", seen).word, BAD)
        self.check(good(CLOCK), DONE, row=CLOCK)

    def test_server_hangs(self) -> None:
        seen = good(CUT)
        seen.server.status = None
        self.check(seen, BAD, "server hangs")

    def test_server_fails_without_a_word(self) -> None:
        seen = good(CUT)
        seen.server.status = 1
        self.check(seen, BAD, "server fails without a word")

    def test_server_killed(self) -> None:
        seen = good(CUT)
        seen.server.status = -11
        self.check(seen, BAD, "exit status -11")

    def test_server_ends_early(self) -> None:
        seen = good(CUT)
        seen.server_lasted = False
        self.check(seen, BAD, "in spite of -n 0")
        seen = good(DELETE)
        seen.server_lasted = False
        self.check(seen, DONE, row=DELETE)

    def test_server_complains_of_the_next(self) -> None:
        seen = good(CUT)
        seen.said_later = [f"ping-sr-3/server: {SILENT}"]
        self.check(seen, BAD, "says later")

    def test_server_tells_later_what_its_device_says(self) -> None:
        seen = good(CUT)
        seen.said_later = ["ping-srq-4/server: siw0, port 1: its link is down (IBV_EVENT_PORT_ERR)"]
        self.check(seen, DONE)

    def test_server_holds(self) -> None:
        seen = good(CUT)
        seen.held = "a QP"
        self.check(seen, BAD, "still holds a QP")

    def test_next_is_not_served(self) -> None:
        for status, part in ((None, "hangs"), (1, "exit status 1")):
            seen = good(CUT)
            seen.next.status = status
            self.check(seen, BAD, part)

    def test_next_is_not_served_whole(self) -> None:
        seen = good(CUT)
        seen.next.out = out(CUT, count=1)
        self.check(seen, BAD, "the next client: 1 + 10 messages")
