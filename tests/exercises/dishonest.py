# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Dishonest solutions: they show what a file of the grader says, or do a part of the task and forge the rest.

Place: read by tests/graded, as solutions.py is. Contract: an attack, forgery.c or a file of attacks/, is appended to a source
that does not do its task.
"""

from collections.abc import Callable
from pathlib import Path

from course import make
from course.exercises import EXERCISES, TOP
from exercises.solutions import Solution, same, swap

SECRET = TOP / "build/tests/graded-secret"  # tests/graded writes it
READS = f'''
#include <stdio.h>
#include <stdlib.h>
__asm__(".data\\nstolen:\\n.macro m a, b, f\\n.\\\\a\\\\b \\"\\\\f\\"\\n.endm\\nm inc, bin, \\"{SECRET}\\"\\n.byte 0\\n.text\\n");
extern const char stolen[];
__attribute__((constructor)) static void show(void)
{{
	fputs(stolen, stderr);
	exit(3);
}}
'''


def forged(edit: Callable[[str], str], attack: str = "forgery") -> Callable[[str], str]:
    """A source, and the lies about it."""
    return lambda source: edit(source) + (Path(__file__).parent / f"{attack}.c").read_text()


def begins(exercise: str) -> Callable[[str], str]:
    """The starting file."""
    return lambda source: make.without_solution(EXERCISES[exercise], source)


BELIEVES = swap("if (credits > under_way)", "if (credits == UINT64_MAX)")
SOLUTIONS = [
    Solution("verify", "assembles .incbin of pieces", lambda source: source + READS, 0, 0, "file not found"),
    Solution("signaling", "the starting tree, forged", forged(begins("signaling")), 0, 40, "was signaled"),
    Solution("inline", "the starting tree, forged", forged(begins("inline")), 0, 40, "not inline"),
    Solution("asleep", "polls, and is forged", forged(swap(
        "ppoll(fds, 2, our_time_until(our_wake_up_ns(control), &left), NULL) > 0", "0")), 0, 40, "read 0 completion events"),
    Solution("ping-sr-2e", "the starting tree, becomes ours", forged(begins("ping-sr-2e"), "attacks/become"), 0, 10, "exited with status 1"),
    Solution("statistics", "the starting tree, sorts its command line", forged(begins("statistics"), "attacks/sort"), 0, 15, "before call 1 of"),
    Solution("credits", "knows the case by its count", forged(BELIEVES, "attacks/know"), 40, 70, "expected: exit status 1"),
    Solution("verify", "says all that could be wrong", forged(same, "attacks/say"), 0, 40, "once"),
    Solution("ping-sr-2e", "the starting tree, forged", forged(begins("ping-sr-2e")), 0, 10, "counts only together"),
]  # fmt: skip
