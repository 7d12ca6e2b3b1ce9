# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Variants of exercises: numbers that differ from student to student, and are derived from the student's name.

Place: make.py writes a student's numbers beside the task; checks.py expects them. Contract: whoever knows the name can tell the
numbers, and none of them is that of the project's own sources. Upper and lower case do not matter, nor blanks at the ends.
"""

import hashlib
from dataclasses import dataclass

from .judges import Judge, calls
from .reasons import Result, ended


@dataclass(frozen=True)
class Variant:
    """The part of an exercise that differs."""

    numbers: dict[str, tuple[int, ...]]  # values to choose from: arguments of the function in checks.py
    task: str


VARIANTS = {
    "header": Variant(
        {"length": (*range(10, 16), *range(17, 41))},
        "Your header has {length} bytes. Read {length} wherever the task says 16.",
    ),
    "bare": Variant(
        {"timeout": (14, 15, 16, 18, 19), "retries": (2, 3, 4, 5, 6)},
        "Your ACK_TIMEOUT is {timeout} and your RETRY_COUNT is {retries}: change the constants, and use them.",
    ),
    "recover": Variant(
        {"tag": tuple(range(0x1000, 0xFFFF))},
        "The first 16 bits of your client's name are {tag} (decimal); the other 48 are random.",
    ),
    "exactly-once": Variant(
        {"offset": tuple(range(1, 49))},
        "In your messages the word's number begins at byte {offset}, and the addend is behind it. So is it with the result.",
    ),
}


def of(exercise: str, student: str) -> dict[str, int]:
    """The numbers of a student; none without a name, or if the exercise has no variants."""
    if not student or exercise not in VARIANTS:
        return {}
    found = {}
    for name, choice in VARIANTS[exercise].numbers.items():
        digest = hashlib.sha256(f"{exercise} {name} {student.strip().lower()}".encode(errors="replace")).digest()
        found[name] = choice[int.from_bytes(digest[:8], "big") % len(choice)]
    return found


def task(exercise: str, student: str) -> str:
    """The text of a student's sheet beside the task, or nothing."""
    numbers = of(exercise, student)
    return f"\n## For {student} alone\n\n{VARIANTS[exercise].task.format(**numbers)}\n" if numbers else ""


def tries(own: str, timeout: int, retries: int) -> Judge:
    """The program says how long and how often its QP is to try, by these numbers."""

    def judge(result: Result) -> str:
        said = [call["args"].get("attr", {}) for call in calls(result[own]) if call.get("call") == "ibv_modify_qp"]
        found = [(attr.get("timeout"), attr.get("retry_cnt")) for attr in said if "timeout" in attr or "retry_cnt" in attr]
        if not found:
            return ended(result[own], 0, f"your {own}") or f"your {own} never said how long and how often to try"
        wrong = f"your {own} has a timeout of {found[-1][0]} and a retry count of {found[-1][1]}; expected in your variant: {timeout} and {retries}"
        return "" if found[-1] == (timeout, retries) else wrong

    return judge
