# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Solutions of the exercises: right, lazy, wrong and dishonest, and what the grader is to say of each.

Place: read by tests/graded. Contract: each is an edit of the right solution, or of the starting file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Solution:
    """A submission, and what it is worth."""

    exercise: str
    name: str
    edit: Callable[[str], str]  # of the right solution's source
    least: int  # points
    most: int
    reason: str = ""  # a word of some reason


def swap(old: str, new: str) -> Callable[[str], str]:
    """An edit that has to find what it replaces."""

    def edit(source: str) -> str:
        assert old in source, old
        return source.replace(old, new)

    return edit


def before_main(body: str) -> Callable[[str], str]:
    """An edit that runs something before the program begins."""
    includes = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    code = f"{includes}__attribute__((constructor)) static void cheat(void)\n{{\n{body}\n}}\n"
    return lambda source: source + code


def same(source: str) -> str:
    """The right one."""
    return source


PRINTS = """	puts("{\\"count\\": 270, \\"warm_up\\": 30, \\"verified\\": true}");
	fputs("listening on 192.0.2.1\\nConnection refused\\n", stderr);
	fflush(stdout);
	_exit(0);"""
FORKS = "	for (;;)\n		fork();"
OTHER_FILE = '#include "../../../../ping-sr-2e/cm_events.c"\n'

SOLUTIONS = [
    Solution("ping-sr-2e", "right", same, 100, 100),
    Solution("ping-sr-2e", "no ack", swap("rdma_ack_cm_event(event); /*", "/*"), 10, 60),
    Solution(
        "ping-sr-2e", "no migration", swap("rdma_migrate_id(cm_id, agent->cm_channel) ? errno : 0", "0"), 10, 85
    ),
    Solution("ping-sr-2e", "prints what is expected", before_main(PRINTS), 0, 10, "did not end in time"),
    Solution("ping-sr-2e", "runs for ever", before_main("	for (;;)\n		;"), 0, 20, "did not end in time"),
    Solution("ping-sr-2e", "forks", before_main(FORKS), 0, 20),
    Solution("ping-sr-2e", "includes the solution", lambda _: OTHER_FILE, 0, 0, "none of the exercise's"),
    Solution("ping-sr-2e", "does not compile", lambda source: source + "int x = ;\n", 0, 0, "does not compile"),
    Solution("signaling", "right", same, 100, 100),
    Solution("signaling", "all signaled", swap("(message + 1) % client->transfer->signal_every", "0"), 60, 80, "signaled"),
    Solution("signaling", "none signaled", swap("(message + 1) % client->transfer->signal_every", "1"), 0, 30),
    Solution("signaling", "the first, not the last", swap("(message + 1) %", "message %"), 30, 90, "signaled"),
    Solution("verify", "right", same, 100, 100),
    Solution("verify", "not the last bytes", swap("return offset + compare(data + offset, word, length - offset)",
             "return control->data_size"), 40, 80, "was changed"),
    Solution("verify", "finds all wrong", swap("if (offset == control->data_size)", "if (offset > control->data_size)"),
             10, 80),
]  # fmt: skip
