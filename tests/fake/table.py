# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Which groups of tests each program has over fake verbs, and which of them make check runs.

Place: for test_programs.py, and tests/mutate. Contract: the stages are those of the Makefile; a group is an argument of
main.c. Programs with threads are also built with ThreadSanitizer, which make check leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.folders import folder

TOP = Path(__file__).resolve().parents[2]
GROUPS = "many lines orderings sweep stops strays figures".split()  # those that take longest first
SWEEPS = {"sweep", "stops", "strays"}
# These differ from ping-rdma-1 only in how a message moves, not in set-up and tear-down; ping-sr-2e and -5 differ only in
# how they wait, which the sweeps of ping-sr-2 and -3 test.
SWEPT_AS_ANOTHER = """
    ping-rdma-2 ping-rdma-3 blast-rdma-1 count-atomic-1 pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0 ping-sr-2e ping-sr-5
""".split()
NOT_FOR = {
    "talk-rdma-0": {"figures"},  # it measures nothing
    "ping-ep-0": {"figures", "orderings", "many", "strays"},  # it prints no results that could be compared
    "ping-rc-0": {"strays"},  # it does not use the CM: unexpected CM events do not apply
}
EXAMPLES = {  # four of them catch no signal, which the fake could send
    "echo_client": {"sweep", "strays", "orderings", "many"},
    "echo_server": SWEEPS,
    "epoll_server": {"sweep", "strays", "lines"},
    "loop_client": SWEEPS,
    "srq_server": SWEEPS | {"lines"},
    "plain/echo_client": {"strays", "orderings", "many"},  # what it reports names no call of the CM: no sweep
    "plain/echo_server": {"strays", "orderings"},
}
WITH_TSAN = {"orderings", "many"}  # the others are made with the other sanitizer


@dataclass(frozen=True)
class Row:
    """A group of tests of a program, such as ping-sr-3/client."""

    sanitizer: str
    program: str
    group: str
    long: bool

    def command(self, build: str, events: int) -> list[str]:
        """With so many completions in a row."""
        program = f"{build}/tests/fake/{self.sanitizer}/programs"
        return [program, self.program, self.group, *([str(events)] if self.group == "many" else [])]

    def __str__(self) -> str:
        return f"{self.program}-{self.group}" + ("" if self.sanitizer == "asan" else f"-{self.sanitizer}")


def stages() -> list[str]:
    """Of the Makefile, and the one that is a file for each side."""
    text = (TOP / "Makefile").read_text().replace("\\\n", " ")
    return [*" ".join(re.findall(r"^(?:STAGES|OTHERS) = (.*)", text, re.MULTILINE)).split(), "ping-ep-0"]


def has_threads(stage: str) -> bool:
    """As its stage.c says."""
    described = TOP / folder(stage) / "stage.c"
    return described.exists() and "our_cm_thread" in described.read_text()


def rows() -> Iterator[Row]:
    """All of them."""
    for group in GROUPS:
        yield from (Row("asan", f"examples/{name}", group, False) for name in EXAMPLES if group in EXAMPLES[name])
        for stage in stages():
            for role in ("client", "server") if group not in NOT_FOR.get(stage, ()) else ():
                long = group in SWEEPS and stage in SWEPT_AS_ANOTHER
                yield Row("asan", f"{stage}/{role}", group, long)
                if group in WITH_TSAN and has_threads(stage):
                    yield Row("tsan", f"{stage}/{role}", group, True)
