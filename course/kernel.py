# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges of what the kernel saw of a submission.

Place: used by judges.py and checks.py. Contract: that of judges.py; witness.py says what is recorded.
"""

from collections.abc import Callable
from typing import Any

from .reasons import Result, ended

Judge = Callable[[Result], str]


def seen(of: Result, what: str) -> Any:
    """What the kernel saw of the submission."""
    return of.get("kernel", {}).get(what)


def tried(attempts: int, also: Judge) -> Judge:
    """The client connected at least that often, as the kernel saw it, and passes another judge, too."""

    def judge(result: Result) -> str:
        times = seen(result["client"], "rdma_connect") or 0
        few = f"your client called rdma_connect {times} times; expected: at least {attempts}"
        return also(result) or (few if times < attempts else "")

    return judge


def wakes(count: int) -> Judge:
    """The program sleeps until there are completion events, and reads them. On a machine with other work, many
    completions are there before a program could sleep. The kernel looks at the channel twice for each poll(2) that
    sleeps, and once for each that does not."""

    def judge(result: Result) -> str:
        events, looks = seen(result["client"], "get_cq_event") or 0, seen(result["client"], "poll_channel") or 0
        least, most = count // 8, 4 * count
        few = f"your client read {events} completion events of the kernel; expected: at least {least}"
        many = f"the kernel looked {looks} times whether your client's channel has an event; expected: at most {most}"
        reason = few if events < least else many if looks > most else ""
        return ended(result["client"], 0, "your client") or reason

    return judge


def limited(result: Result) -> str:
    """The limit of the SRQ is armed, never with 0."""
    armed = seen(result["server"], "limits")
    if not armed:
        none = "your server did not call ibv_modify_srq; expected: it arms the limit"
        return ended(result["server"], 0, "your server") or none
    return "" if all(armed) else "your server set the limit to 0, which means: no event"
