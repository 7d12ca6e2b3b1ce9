# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: which suites `make check-long` has, for tests/long. Contract: SUITES, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """A command, its minutes on two idle processors, and the least that it can be told to do."""

    minutes: float
    command: str
    trial: str
    shows: str


LIMIT = 2.5  # a suite that takes this many times its minutes is ended, and has failed
SUITES = {
    "all": Suite(
        90,
        "TESTS_ALL=1 tests/run --but graded all",
        "TESTS_ALL=1 tests/run unit",
        "each suite of tests/run but graded, with all of its rows",
    ),
    "graded": Suite(
        25,
        "TESTS_ALL=1 tests/run graded",
        "CK_RUN_CASE=statistics tests/run graded",
        "what the grader says of right, lazy, wrong and dishonest solutions of the exercises",
    ),
    "tsan": Suite(
        1.5,
        "tests/sanitize thread",
        "tests/sanitize --stages 3 thread",
        "no data race in the stages with threads",
    ),
    "asan": Suite(
        5,
        "tests/sanitize address",
        "tests/sanitize --stages 3 address",
        "no error of memory, all stages",
    ),
    "memcheck": Suite(
        6,
        "tests/sanitize --stages '1 4' memcheck",
        "tests/sanitize --stages 4 memcheck",
        "nothing uninitialized is used: a stage that polls, and one that sleeps",
    ),
    "siege": Suite(
        12,
        "/usr/bin/python3 -m pytest tests/live/test_siege.py -m 'not by_name' -k 'ping-sr-4 or blast' --seconds 60",
        "/usr/bin/python3 -m pytest tests/live/test_siege.py -k ping-sr-4-RoCE --seconds 5",
        "each server among hostile clients of all kinds; clients and servers that are killed at random",
    ),
    "fuzz": Suite(2, "make fuzz FUZZ_SECONDS=15", "make fuzz FUZZ_SECONDS=1", "hostile input, new"),
    "lab": Suite(
        6, "lab/test --slow", "lab/test two_at_once", "the lab itself: many machines, other kernels"
    ),
    "newcomer": Suite(
        19,
        "tests/bare trixie",
        "tests/bare --only demo trixie",
        "the README's commands, all tests among them, in bare roots of Debian 13",
    ),
    "bookworm": Suite(
        5,
        "tests/bare --only demo,user bookworm",
        "tests/bare --only demo bookworm",
        "a newcomer who is root, and one who may not be, on Debian 12",
    ),
}
