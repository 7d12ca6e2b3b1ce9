# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges of what the kernel saw of a submission.

Place: used by judges.py and checks.py. Contract: that of judges.py; witness.py says what is recorded.
"""

from collections.abc import Callable
from typing import Any

from .reasons import Result, ended

Judge = Callable[[Result], str]
LEAST_ARMED = 10


def seen(of: Result, what: str) -> Any:
    """The kernel's record of the submission."""
    return of.get("kernel", {}).get(what)


def tried(attempts: int, also: Judge) -> Judge:
    """The client connected at least that often, as the kernel saw it, and passes another judge, too."""

    def judge(result: Result) -> str:
        times = seen(result["client"], "rdma_connect") or 0
        few = f"your client called rdma_connect {times} times; expected: at least {attempts}"
        return also(result) or (few if times < attempts else "")

    return judge


def gave_up(also: Judge) -> Judge:
    """The client connected once, as the kernel saw it, and passes another judge, too."""

    def judge(result: Result) -> str:
        times = seen(result["client"], "rdma_connect") or 0
        many = f"your client called rdma_connect {times} times; expected: once, as the error does not say that nobody listens"
        return many if times > 1 else also(result) or many * (times < 1)

    return judge


def idle(also: Judge) -> Judge:
    """The server passes another judge, and while messages come slowly, it runs less than half of the time."""

    def judge(result: Result) -> str:
        (begin, cpu_at_begin), (end, cpu) = seen(result["server"], "meter") or [[0.0, 0.0]] * 2
        used, seconds = cpu - cpu_at_begin, end - begin
        busy = f"your server used {used:.1f} s of CPU time in {seconds:.1f} s in which it had little to do; expected: at most half"
        return also(result) or (busy if used > seconds / 2 else "")

    return judge


def wakes(count: int) -> Judge:
    """The program sleeps until there are completion events, and reads them. On a machine with other work, many
    completions are there before a program could sleep. The kernel looks at the channel twice for each poll(2) that
    sleeps, and once for each that does not; and each time that a program reads and finds nothing."""

    def judge(result: Result) -> str:
        events = seen(result["client"], "get_cq_event") or 0
        looks = sum(seen(result["client"], name) or 0 for name in ("poll_channel", "get_cq_event_empty"))
        least, most = count // 8, 4 * count
        few = f"your client read {events} completion events of the kernel; expected: at least {least}"
        many = f"the kernel looked {looks} times whether your client's channel has an event; expected: at most {most}"
        reason = many if looks > most else few if events < least else ""
        return ended(result["client"], 0, "your client") or reason

    return judge


def limited(result: Result) -> str:
    """The limit of the SRQ is armed, never with 0, and again when it was reached, because arming it makes only one event.
    The case needs clients that have more messages under way than there are receives."""
    armed, low = seen(result["server"], "limits"), seen(result["server"], "low")
    if not armed:
        none = "your server did not call ibv_modify_srq; expected: it arms the limit"
        return ended(result["server"], 0, "your server") or none
    if not all(armed):
        return "your server set the limit to 0, which means: no event"
    few = f"your server armed the limit {len(armed)} times, and it was reached {low} times; expected: armed again each time"
    return few if min(len(armed), low) < LEAST_ARMED else ""
