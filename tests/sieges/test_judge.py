# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Unit tests of judge.py and ways.py: python3 -m unittest discover -s tests -t tests"""

from __future__ import annotations

import dataclasses
import json
import tempfile
import unittest
from pathlib import Path
from random import Random
from typing import Any

from sieges.besieged import Siege
from sieges.judge import (
    BESIEGED,
    GROWN_KIB,
    RECOVERY_S,
    RELIEVED,
    Honest,
    Seen,
    cause_of_death,
    driver_hangs,
    driver_is_deaf,
    faults,
    held_by,
    verdict,
)
from sieges.results import conditions, keep, kept, table
from sieges.ways import MAX_PRIVATE, STAGES, WAYS, Where, ways_to, wrong_private

LEFT = "the client left after 17 messages"
# Shortened from what Linux 6.1 printed.
CONSOLE = """[   12.000001] BUG: another one, which was survived
[   12.000002]  rxe_poll+0x4f/0x1a0 [rdma_rxe]
[  760.637526] list_del corruption, f300->next is LIST_POISON1 (dead)
[  760.638145] kernel BUG at lib/list_debug.c:53!
[  760.639143] RIP: 0010:__list_del_entry_valid.cold+0x5c/0x6f
[  760.640394] Call Trace:
[  760.640472]  siw_destroy_listen+0x4f/0x1a0 [siw]
[  760.640562]  destroy_cm_id+0x9f/0x230 [iw_cm]
[  760.646219] Kernel panic - not syncing: Fatal exception
"""

# What Linux 6.1 lists of a server of ping-rdma-1 whose main thread is 180 and the thread of its client 187, and of that
# client; without what does not matter.
LISTED: dict[str, list[dict[str, Any]]] = {
    "ctx": [{"ctxn": 0, "pid": 180}, {"ctxn": 1, "pid": 185}],
    "pd": [
        {"pdn": 0},  # of the kernel
        {"pdn": 1, "ctxn": 0, "pid": 180},
        {"pdn": 2, "ctxn": 1, "pid": 185},
        {"pdn": 3, "ctxn": 1, "pid": 183},
        {"pdn": 4, "ctxn": 0, "pid": 187},
    ],
    "cq": [{"cqn": 0}, {"cqn": 1, "ctxn": 1, "pid": 183}, {"cqn": 2, "ctxn": 0, "pid": 187}],
    "qp": [{"lqpn": 17, "pdn": 3, "pid": 183}, {"lqpn": 18, "pdn": 4, "pid": 187}, {"lqpn": 1}],
    "mr": [{"mrn": n, "pdn": 3 + n // 3, "pid": (183, 187)[n // 3]} for n in range(6)],
    "cm_id": [{"cm-idn": 0, "pid": 180}, {"cm-idn": 1, "pid": 183}, {"cm-idn": 2, "pid": 180}],
}


def held() -> Seen:
    """A server that has held out."""
    held_before = "fd 9 pd 0 cq 0 qp 0 cm_id 1 mr 0"
    seen = Seen("ping-sr-3", "RoCE", kib=[4000, 5000, 5100], held=[held_before, held_before])
    seen.honest = [Honest(0, "", begun, begun + 3.0) for begun in (0.0, 3.0, 6.0)]
    seen.said = ["listening on 192.0.2.1:21000", LEFT]
    return seen


class Judge(unittest.TestCase):
    """One fault at a time."""

    def check(self, seen: Seen, part: str) -> None:
        """The one fault, and the table says so."""
        self.assertEqual(len(faults(seen)), 1, faults(seen))
        self.assertIn(part, faults(seen)[0])
        self.assertIn("**not seen**" if seen.lost else "**BAD**", table([seen]))

    def test_held(self) -> None:
        self.assertEqual(faults(held()), [])
        self.assertIn("| 3 of 3 | 3.0, 3.0 |", table([held()]))
        self.assertIn("| held |", table([held()]))

    def test_an_honest_client_fails(self) -> None:
        seen = held()
        seen.honest[1].status, seen.honest[1].said = 1, "the server refused us"
        self.check(seen, "1 of 3 honest clients failed, first: the server refused us")

    def test_no_honest_client(self) -> None:
        seen = held()
        seen.honest = []
        self.check(seen, "no honest client came")

    def test_an_honest_client_fails_afterwards(self) -> None:
        seen = held()
        seen.after.status = 1
        self.check(seen, "after the siege")

    def test_early_end(self) -> None:
        seen = held()
        seen.ended_early, seen.held = True, []
        self.check(seen, "ended in the siege")

    def test_exit_status(self) -> None:
        seen = held()
        seen.status = 1
        self.check(seen, "exit status is 1")

    def test_no_end(self) -> None:
        seen = held()
        seen.status, seen.hung = -9, True
        self.check(seen, "did not end on SIGTERM")

    def test_objects(self) -> None:
        seen = held()
        seen.held[1] = "fd 10 pd 0 cq 0 qp 0 cm_id 1 mr 0"
        self.check(seen, "holds fd 10")

    def test_memory(self) -> None:
        seen = held()
        seen.kib[-1] = seen.kib[0] + GROWN_KIB
        self.assertEqual(faults(seen), [])
        seen.kib[-1] += 1
        self.check(seen, "has grown")

    def test_left(self) -> None:
        seen = held()
        seen.left = "0: rxe0: qp 1"
        self.check(seen, "left on the devices")

    def test_surprise(self) -> None:
        seen = held()
        seen.said += ["ibv_poll_cq: Input/output error (5)", "ibv_poll_cq: Input/output error (7)"]
        self.check(seen, "the server said (2 times): ibv_poll_cq: Input/output error (N)")

    def test_more_than_an_expected_line_is_a_surprise(self) -> None:
        seen = held()
        seen.said.append(LEFT + " of its own")
        self.check(seen, "the server said")

    def test_a_client_that_was_killed_may_lose_its_memory_first(self) -> None:
        seen = held()
        for end in ("operation error (status 11, vendor 0x0): the peer could not take it: it was just killed, or the",
                    "access error (status 10, vendor 0x0): the peer's memory may not be accessed so: a wrong rkey, or "
                    "it was just killed"):
            seen.said.append(f"completion of the send, write or read with wr_id 0x1 on QP 0x9: remote {end}")
        self.assertEqual(faults(seen), [])

    def test_lost(self) -> None:
        self.check(Seen("ping-sr-3", "RoCE", lost="the machine ended with status 125"), "status 125")

    def test_the_machine_did_not_last(self) -> None:
        seen = held()
        seen.until, seen.cut = RELIEVED, "the kernel panicked"
        seen.status, seen.hung = -9, True  # not known by then
        self.assertEqual(faults(seen), [])
        self.assertEqual(verdict(seen), "held to the end of the siege, then the kernel panicked")
        seen.kib[-1] = seen.kib[0] + GROWN_KIB + 1
        self.check(seen, "has grown")

    def test_the_machine_did_not_last_to_the_end_of_the_siege(self) -> None:
        seen = held()
        seen.until, seen.cut = BESIEGED, "the kernel panicked"
        seen.kib[-1] = seen.kib[0] + GROWN_KIB + 1  # at half time it may hold what clients have claimed
        seen.held = []
        self.assertEqual(faults(seen), [])
        self.assertEqual(verdict(seen), "held, then the kernel panicked")
        seen.honest[1].status = 1
        self.check(seen, "1 of 3 honest clients failed")

    def test_cause_of_death(self) -> None:
        self.assertEqual(
            cause_of_death(CONSOLE, 125),
            "the kernel panicked (list_del corruption, f300->next is LIST_POISON1 (dead)) in siw_destroy_listen of siw",
        )
        self.assertEqual(
            cause_of_death("[ 1.0] Kernel panic - not syncing: Out of memory\r\n", 125),
            "the kernel panicked (Out of memory)",
        )
        self.assertEqual(cause_of_death("[ 1.0] all is well\n", 124), "the machine ended with status 124")

    def test_the_machine_stood_still(self) -> None:
        seen = held()
        seen.honest[0].status = 1
        seen.pauses = [(1.0, 2.0)]
        seen.honest[2].begun, seen.honest[2].ended = 2.0 + RECOVERY_S, 9.0 + RECOVERY_S
        self.assertEqual(faults(seen), [])
        self.assertIn("| 1 of 1 | 7.0, 7.0 |", table([seen]))
        seen.honest[2].status = 1
        self.check(seen, "1 of 1 honest clients failed")

    def test_objects_of_threads(self) -> None:
        """Also of one that has ended, and of no other process or device."""
        listed = {kind: [each | {"ifname": "rxe0"} for each in LISTED[kind]] for kind in LISTED}
        listed["pd"] += [{"ifname": "siw0", "pdn": 4, "ctxn": 0, "pid": 7}]
        for tasks in ({180, 181, 187}, {180, 181}):
            self.assertEqual(held_by(tasks, listed), {"pd": 2, "cq": 1, "qp": 1, "cm_id": 2, "mr": 3})
        self.assertEqual(held_by({183, 185}, listed), {"pd": 2, "cq": 1, "qp": 1, "cm_id": 1, "mr": 3})

    def test_driver_that_hangs(self) -> None:
        seen = held()
        stack = "wait_for_completion_timeout < cm_destroy_id < rdma_destroy_id < ucma_destroy_private_ctx"
        self.assertIn("hangs in the kernel's cm_destroy_id", driver_hangs(["ep_poll", stack]))
        self.assertEqual(driver_hangs(["futex_wait", "cm_destroy_id_wait < x"]), "")
        seen.driver, seen.until = driver_hangs([stack]), BESIEGED
        seen.honest = [Honest(0, "", 60, 61), Honest(0, "", 300, 310), Honest(-9, "did not end in 120 s", 360, 480)]
        seen.cut = seen.why_cut()
        self.assertEqual(faults(seen), [])
        why = "a thread of the server hangs in the kernel's cm_destroy_id"
        self.assertIn(f"held, then after 5.0 minutes, {why}", table([seen]))
        self.assertIn("| 2 of 2 |", table([seen]))
        seen.driver = ""
        self.check(seen, "1 of 3 honest clients failed")

    def test_driver_that_hangs_afterwards(self) -> None:
        seen = held()
        seen.driver, seen.until, seen.held = driver_hangs(["cm_destroy_id"]), RELIEVED, ["fd 10", "fd 16"]
        seen.cut = seen.why_cut()
        self.assertEqual(faults(seen), [])
        self.assertIn("held to the end of the siege, then a thread of the server hangs in", table([seen]))
        self.assertIn("| 3 of 3 |", table([seen]))

    def test_driver_that_closes_a_listener(self) -> None:
        tcp = "  sl  local_address rem_address   st\n   0: 016433C6:5208 00000000:0000 0A\n"
        self.assertEqual(driver_is_deaf(tcp, 21000), "")
        self.assertIn("closed the socket of the listener", driver_is_deaf(tcp, 21001))
        self.assertIn("closed the socket of the listener", driver_is_deaf(tcp.replace(" 0A", " 01"), 21000))

    def test_listener_that_is_gone_afterwards(self) -> None:
        seen = held()
        seen.after = Honest(1, "nobody listens")
        self.check(seen, "an honest client fails after the siege: nobody listens")
        seen.driver = driver_is_deaf("", 21000)
        self.assertEqual(faults(seen), [])

    def test_through_json(self) -> None:
        seen = held()
        seen.pauses = [(1.0, 2.0)]
        again = Seen.read(json.loads(json.dumps(dataclasses.asdict(seen))))
        self.assertEqual(table([again]), table([seen]))
        self.assertEqual(again.honest, seen.honest)


class Listening(unittest.TestCase):
    """What is taken in of what a server says."""

    def test_only_surprises_once_and_whole(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            siege = Siege(Where("ping-sr-3", "RoCE", "192.0.2.1", 21000), "1", Path(folder), [])
            log = Path(folder) / "server"
            log.write_text(f"server: {LEFT}\nserver: what is this?\nserver: ha", encoding="ascii")
            siege.listen()
            siege.listen()
            self.assertEqual(siege.seen.said, ["what is this?"])
            log.write_text(log.read_text() + "lf a line\n", encoding="ascii")
            siege.listen()
            self.assertEqual(siege.seen.said, ["what is this?", "half a line"])


class Results(unittest.TestCase):
    """What is kept from one run to the next."""

    def test_the_newest_run_of_each(self) -> None:
        first, second, again = held(), held(), held()
        second.transport = "iWARP"
        again.about = {"minutes": "10", "date": "2026-11-23", "command": "tests/siege"}
        with tempfile.TemporaryDirectory() as folder:
            keep(Path(folder), [first, second])
            keep(Path(folder), [again])
            self.assertEqual(kept(Path(folder)), [again, second])
            self.assertEqual(kept(Path(folder) / "nothing"), [])
        self.assertIn("| ping-sr-3 | soft-RoCE | 10 | 3 of 3 |", table([again]))
        self.assertEqual(conditions([again, second]), "ping-sr-3 RoCE: 2026-11-23; tests/siege\n")


class Ways(unittest.TestCase):
    """That each hostile client has a command, for each server that it can meet."""

    def test_commands(self) -> None:
        met = set()
        for name in STAGES:
            for transport in ("RoCE", "iWARP"):
                where = Where(name, transport, "192.0.2.1", 21000)
                for way, row in ways_to(where).items():
                    met.add(way)
                    for seed in range(20):
                        words = row.command(where, Random(seed))
                        self.assertTrue(all(isinstance(word, str) for word in words), words)
        self.assertEqual(met, set(WAYS))

    def test_private_data_fits_a_request(self) -> None:
        lengths = {len(wrong_private(Random(seed))) for seed in range(1000)}
        self.assertLessEqual(max(lengths), MAX_PRIVATE)
        self.assertGreater(len(lengths), 20)


if __name__ == "__main__":
    unittest.main()
