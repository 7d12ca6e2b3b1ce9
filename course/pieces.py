# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Judges of messages in two pieces, a header and a payload.

Place: used by checks.py. Contract: that of judges.py.
"""

from .judges import Judge, not_all, sends, work_requests
from .reasons import Result


def _two_pieces(wrs: list[Result], header: int, what: str) -> str:
    """Each work request has a header and the rest, in two regions."""
    for number, wr in enumerate(wrs):
        sges, name = wr["sge"], f"{what} {number} of your server"
        if len(sges) != 2 or sges[0]["length"] != header:
            lengths = ", ".join(str(sge["length"]) for sge in sges)
            return f"{name} has pieces of {lengths} bytes; expected: two, the first of {header} bytes"
        if sges[0]["lkey"] == sges[1]["lkey"]:
            return f"{name} has the same lkey twice; expected: a region for the headers alone"
    return ""


def gathered(header: int, count: int) -> Judge:
    """Each message of the server is gathered from a header and a payload in two regions."""

    def judge(result: Result) -> str:
        every = sends(result["server"])
        return _two_pieces(every, header, "send") or not_all(result["server"], "server", len(every), count)

    return judge


def scattered(header: int, count: int) -> Judge:
    """Each receive of the server has room for a header and a payload in two regions."""

    def judge(result: Result) -> str:
        every = work_requests(result["server"], "ibv_post_recv")
        return _two_pieces(every, header, "receive") or not_all(result["server"], "server", len(every), count + 1, "receives")

    return judge
