# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Decides what the results of a case show.

Place: used by cases.py. Contract: a judge returns an empty string, or the reason why the points are lost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

Result = dict[str, Any]
Judge = Callable[[Result], str]
INLINE_WANTED = 64  # bytes: the value of control->inline_wanted in ping-sr-1


def calls(of: Result) -> list[Result]:
    """The calls in the submission's trace."""
    found = []
    for line in of.get("trace", []):
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def ended(of: Result, status: int, who: str) -> str:
    """Empty if a process ended with that exit status."""
    if of["status"] == status:
        return ""
    last = (of["err"].strip().splitlines() or ["nothing"])[-1][:200]
    if of["status"] == "late":
        return f"{who} did not end in time; it last said: {last}"
    return f"{who} ended with exit status {of['status']}, not {status}; it last said: {last}"


def complete(partner: str, own: str, count: int, verified: bool) -> Judge:
    """Both sides ended well, and the partner counted all messages."""

    def judge(result: Result) -> str:
        for reason in (ended(result[partner], 0, f"our {partner}"), ended(result[own], 0, f"your {own}")):
            if reason:
                return reason
        try:
            figures = json.loads(result[partner]["out"].splitlines()[-1])
            messages = figures["count"] + figures["warm_up"]
        except (ValueError, KeyError, IndexError):
            return f"our {partner} had no connection"
        if messages != count:
            return f"our {partner} counted {messages} messages, not {count}"
        return "" if figures["verified"] or not verified else f"our {partner} did not find every byte as it should be"

    return judge


def innocent(own: str) -> Judge:
    """verbs-trace reports no fault, and the submission made a connection."""

    def judge(result: Result) -> str:
        every = calls(result[own])
        if not any(call.get("call") in ("rdma_connect", "rdma_accept", "ibv_modify_qp") for call in every):
            return "no connection was made: there is nothing to judge"
        accused = [f"{call['accusation']}: {call['text']}" for call in every if "accusation" in call]
        return "; ".join(accused[:3])

    return judge


def receives_first(own: str, call: str) -> Judge:
    """A receive is posted before the connection can bring a message."""

    def judge(result: Result) -> str:
        names = [each.get("call") for each in calls(result[own])]
        if call not in names or "ibv_post_recv" not in names:
            return f"no {call} after an ibv_post_recv: no connection was made"
        return "" if names.index("ibv_post_recv") < names.index(call) else f"the first receive is posted after {call}"

    return judge


def complains(words: str) -> Judge:
    """The client fails, with these words in its message."""

    def judge(result: Result) -> str:
        reason = ended(result["client"], 1, "your client")
        return reason or ("" if words in result["client"]["err"] else f"it failed, but did not say '{words}'")

    return judge


def own_channel(result: Result) -> str:
    """The ids have an event channel, and each event that was read was acknowledged."""
    every = calls(result["client"])
    names = [call.get("call") for call in every]
    if "rdma_create_event_channel" not in names:
        return "no rdma_create_event_channel was called"
    ids = [call for call in every if call.get("call") == "rdma_create_id"]
    if any(not str(call["args"].get("channel", "")).startswith("event_channel") for call in ids):
        return "an id was made without the channel: its calls are synchronous"
    got = sum(1 for call in every if call.get("call") == "rdma_get_cm_event" and call.get("result") == 0)
    acked = names.count("rdma_ack_cm_event")
    if got < 4:
        return f"{got} events were read; addresses, route, connection and its end make 4"
    return "" if got == acked else f"{got} events were read, and {acked} acked"


def interrupted(own: str, call: str) -> Judge:
    """The program made that call, and then ended well after Ctrl-C."""

    def judge(result: Result) -> str:
        if not any(each.get("call") == call for each in calls(result[own])):
            return f"your {own} did not call {call}"
        return ended(result[own], 0, f"your {own}")

    return judge


def refused(result: Result) -> str:
    """If no server listens, the client fails and its message says so."""
    reason = ended(result["client"], 1, "your client, with no server there,")
    if reason:
        return reason
    return "" if "onnection refused" in result["client"]["err"] else "the message does not say that it was refused"


def signaled(every: int) -> Judge:
    """In each group of `every` sends the last one is signaled, and no other."""

    def judge(result: Result) -> str:
        flags = [
            "SIGNALED" in request.get("flags", "")
            for call in calls(result["client"])
            if call.get("call") == "ibv_post_send"
            for request in call["args"].get("wr", [])
            if request.get("opcode") == "SEND"
        ]
        if not flags:
            return "no message was sent"
        for number, flag in enumerate(flags, 1):
            if flag != (number % every == 0):
                return f"--signal-every {every}: send {number} was {'' if flag else 'not '}signaled"
        return ""

    return judge


def finds(message: int, offset: int) -> Judge:
    """The changed byte is found, and the message names it."""

    def judge(result: Result) -> str:
        reason = ended(result["client"], 1, f"byte {offset} of message {message} was changed: your client")
        if reason:
            return reason
        words = f"message {message}: byte {offset}"
        if words in result["client"]["err"]:
            return ""
        return f"it failed, but did not say '{words}'"

    return judge


def work_requests(of: Result, call: str) -> list[Result]:
    """All work requests that these calls posted, in order."""
    key = {"ibv_post_send": "wr"}.get(call, "recv_wr")
    return [wr for each in calls(of) if each.get("call") == call for wr in each["args"].get(key, [])]


def inlined(result: Result) -> str:
    """A message is sent inline if and only if it fits. In the lab the device grants as much as the program asks for."""
    granted = [call["args"]["qp_init_attr"]["cap"]["inline"] for call in calls(result["client"])
               if call.get("call") == "rdma_create_qp" and call.get("result") == 0]  # fmt: skip
    sends = [wr for wr in work_requests(result["client"], "ibv_post_send") if wr.get("opcode") == "SEND"]
    if not granted or not sends:
        return "no message was sent"
    if granted[-1] < INLINE_WANTED:
        return f"{granted[-1]} bytes of inline data were granted: rdma_create_qp was not asked for {INLINE_WANTED}"
    for number, wr in enumerate(sends):
        length, inline = sum(sge["length"] for sge in wr["sge"]), "INLINE" in wr.get("flags", "")
        if inline != (length <= INLINE_WANTED):
            return f"send {number} of {length} bytes was {'' if inline else 'not '}inline"
    return ""


def numbered(result: Result) -> str:
    """Each message is a WRITE with immediate data, and the numbers in it are 0, 1, 2 and so on."""
    writes = [wr for wr in work_requests(result["client"], "ibv_post_send") if "RDMA_WRITE" in wr.get("opcode", "")]
    if not writes:
        return "nothing was written"
    for number, wr in enumerate(writes):
        if wr["opcode"] != "RDMA_WRITE_WITH_IMM":
            return f"message {number} was written by {wr['opcode']}"
        if int(wr.get("imm", "-1"), 0) != number:
            return f"message {number} has the immediate data {wr.get('imm')}"
    return ""


def sleeps(result: Result) -> str:
    """The program waits for events, and polls the CQ only a few times for each message."""
    traced = calls(result["client"])
    names = [call.get("call") for call in traced]
    sent = names.count("ibv_post_send")
    polls = sum(call.get("times", 1) for call in traced if call.get("call") == "ibv_poll_cq")  # empty ones share a line
    if not sent:
        return "no message was sent"
    if not names.count("ibv_req_notify_cq") or not names.count("ibv_get_cq_event"):
        return "no completion was waited for by an event"
    return "" if polls <= 8 * sent else f"{polls} calls of ibv_poll_cq for {sent} messages: that is polling"


def in_chains(result: Result) -> str:
    """Receives are posted to the SRQ several at a time."""
    posts = [call for call in calls(result["server"]) if call.get("call") == "ibv_post_srq_recv"]
    receives = len(work_requests(result["server"], "ibv_post_srq_recv"))
    if receives < 100:
        return f"{receives} receives were posted to the shared receive queue"
    return "" if len(posts) <= receives / 4 else f"{len(posts)} calls of ibv_post_srq_recv for {receives} receives"


def limited(result: Result) -> str:
    """The limit of the SRQ is armed, never with 0."""
    armed = [call for call in calls(result["server"]) if call.get("call") == "ibv_modify_srq"]
    if not armed:
        return "ibv_modify_srq was not called: no event will say that the queue is low"
    if not all(call["args"]["srq_attr"].get("srq_limit") for call in armed):
        return "the limit was set to 0, which means: no event"
    return ""


def over_fakes(stage: str, role: str) -> Judge:
    """The tests over the fake verbs, which the submission is linked to, have all passed."""

    def judge(result: Result) -> str:
        of, prefix = result["client"], f"{stage}/{role} "
        lines: list[str] = of["out"].splitlines()
        for line in lines:
            if line.startswith("not ok " + prefix):
                return line.removeprefix("not ok " + prefix)[:400]
        if of["status"] == 0 and any(line.startswith("ok " + prefix) for line in lines):
            return ""
        return ended(of, 0, "the test program") or "no test was run"

    return judge


def percentile(values: list[int], percent: float) -> int:
    """The smallest value that is not less than that percentage of all values."""
    return sorted(values)[max(0, math.ceil(percent * len(values) / 100) - 1)]


def figures(values: list[int]) -> Judge:
    """Count, minimum, maximum and mean of the histogram are exact, and its percentiles have an error of at most one
    percent."""

    def judge(result: Result) -> str:
        reason = ended(result["client"], 0, "your histogram")
        if reason:
            return reason
        try:
            said = json.loads(result["client"]["out"].splitlines()[-1])
            exact = {"count": len(values), "max": max(values, default=0), "mean": sum(values) / max(1, len(values))}
            if values:
                exact["min"] = min(values)
            for name, value in exact.items():
                if abs(said[name] - value) > 1e-6 * value:
                    return f"{name} of {len(values)} values is {value}, not {said[name]}"
            for percent in (0, 1, 50, 90, 99, 99.9, 100):
                found, due = said["percentiles"][f"{percent:g}"], percentile(values, percent) if values else 0
                if abs(found - due) > due / 100:
                    return f"the {percent:g}th percentile of {len(values)} values is {due}, not {found}"
        except (ValueError, KeyError, IndexError, TypeError):
            return "it shows no figures"
        return ""

    return judge


def both_well(result: Result) -> str:
    """Client and server are both the submission's, and end well."""
    return ended(result["client"], 0, "your client") or ended(result["server"], 0, "your server")
