# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What is run for each exercise, and what it is worth: cases, and checks of their results.

Place: between exercises.py and grade.py. Contract: a check believes the partner, exit statuses and the trace, not
what a submission prints; it returns an empty string, or the reason why the points are lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Result = dict[str, Any]
SECONDS = 40


@dataclass(frozen=True)
class Check:
    """Points for what a case has shown."""

    points: int
    text: str
    case: Result
    judge: Callable[[Result], str]


def side(program: str, *arguments: str, **environment: str) -> Result:
    """A process of a case."""
    return {"program": program, "arguments": list(arguments), "environment": environment}


def case(transport: str, **sides: Any) -> Result:
    """A case."""
    return {"transport": transport, "seconds": SECONDS, **sides}


def calls(of: Result) -> list[Result]:
    """The calls of the submission, from its trace."""
    found = []
    for line in of.get("trace", []):
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def ended(of: Result, status: int, who: str) -> str:
    """Whether a process ended with that exit status."""
    if of["status"] == status:
        return ""
    last = (of["err"].strip().splitlines() or ["nothing"])[-1][:200]
    if of["status"] == "late":
        return f"{who} did not end in time; it last said: {last}"
    return f"{who} ended with exit status {of['status']}, not {status}; it last said: {last}"


def complete(partner: str, own: str, count: int, verified: bool) -> Callable[[Result], str]:
    """Both ended well, and the partner counted all messages."""

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


def innocent(own: str) -> Callable[[Result], str]:
    """verbs-trace accuses it of nothing, and it did something at all."""

    def judge(result: Result) -> str:
        every = calls(result[own])
        if not any(call.get("call") in ("rdma_connect", "rdma_accept") for call in every):
            return "no connection was made: there is nothing to judge"
        accused = [f"{call['accusation']}: {call['text']}" for call in every if "accusation" in call]
        return "; ".join(accused[:3])

    return judge


def receives_first(own: str, call: str) -> Callable[[Result], str]:
    """A receive is posted before the connection can bring a message."""

    def judge(result: Result) -> str:
        names = [each.get("call") for each in calls(result[own])]
        if call not in names or "ibv_post_recv" not in names:
            return f"no {call} after an ibv_post_recv: no connection was made"
        return "" if names.index("ibv_post_recv") < names.index(call) else f"the first receive is posted after {call}"

    return judge


def own_channel(result: Result) -> str:
    """The ids have a channel, and as many events are acked as are got."""
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


def interrupted(result: Result) -> str:
    """A server that listened ends well by Ctrl-C."""
    if not any(call.get("call") == "rdma_listen" for call in calls(result["server"])):
        return "your server did not listen"
    return ended(result["server"], 0, "your server")


def refused(result: Result) -> str:
    """That nobody listens is an error, with a word."""
    reason = ended(result["client"], 1, "your client, with no server there,")
    if reason:
        return reason
    return "" if "onnection refused" in result["client"]["err"] else "the message does not say that it was refused"


def signaled(every: int) -> Callable[[Result], str]:
    """Of each `every` sends the last is signaled, and no other."""

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


def finds(message: int, offset: int) -> Callable[[Result], str]:
    """The changed byte is found, and named."""

    def judge(result: Result) -> str:
        reason = ended(result["client"], 1, f"byte {offset} of message {message} was changed: your client")
        if reason:
            return reason
        words = f"message {message}: byte {offset}"
        if words in result["client"]["err"]:
            return ""
        return f"it failed, but did not say '{words}'"

    return judge


def exercise_ping_sr_2e() -> list[Check]:
    """Both roles, over both transports."""
    checks = []
    for transport, points in (("RoCE", 10), ("iWARP", 5)):
        reference = side("ping-sr-1/server", "-j")
        own = side("client", "-c", "300", "-s", "600", "-w", "5", "-v")
        run = case(transport, server=reference, client=own)
        checks.append(Check(points, f"client, {transport}: 300 messages", run, complete("server", "client", 300, False)))
        checks.append(Check(5, f"client, {transport}: verbs-trace accuses it of nothing", run, innocent("client")))
        if transport == "RoCE":
            checks.append(Check(15, "client: a channel of its own, every event acked", run, own_channel))
            text = "client: a receive is posted before rdma_connect"
            checks.append(Check(5, text, run, receives_first("client", "rdma_connect")))
        run = case(transport, server=side("server"), client=side("ping-sr-1/client", "-c", "300", "-v", "-j", "-w", "5"))
        checks.append(Check(points, f"server, {transport}: 300 messages", run, complete("client", "server", 300, True)))
        checks.append(Check(5, f"server, {transport}: verbs-trace accuses it of nothing", run, innocent("server")))
    text = "client: a server that is not there"
    checks.append(Check(10, text, case("RoCE", client=side("client", "-c", "1")), refused))
    run = case("RoCE", server=side("server"), interrupt=True)
    checks.append(Check(10, "server: Ctrl-C ends it", run, interrupted))
    return checks


def exercise_signaling() -> list[Check]:
    """A stream, with several N."""
    checks = []
    for transport, every, points in (("RoCE", 4, 15), ("RoCE", 1, 10), ("RoCE", 8, 15), ("iWARP", 4, 10)):
        own = side("client", "-c", "1000", "-b", "16", "--signal-every", str(every), "-w", "5", "-v")
        run = case(transport, server=side("blast-sr-2/server", "-v", "-j"), client=own)
        name = f"{transport}, --signal-every {every}"
        checks.append(Check(points, f"{name}: 1000 messages, verified", run, complete("server", "client", 1000, True)))
        if transport == "RoCE":
            checks.append(Check(10, f"{name}: which sends are signaled", run, signaled(every)))
    checks.append(Check(10, "verbs-trace accuses it of nothing", checks[0].case, innocent("client")))
    return checks


def exercise_verify() -> list[Check]:
    """A server that changes a byte, or none."""
    checks = []
    for transport, points in (("RoCE", 15), ("iWARP", 5)):
        own = side("client", "-c", "200", "-s", "75", "-v", "-w", "5")
        run = case(transport, server=side("ping-sr-0/server", "-c", "200", "-s", "75", "-j"), client=own)
        text = f"{transport}: what came back whole is found good"
        checks.append(Check(points, text, run, complete("server", "client", 200, False)))
    checks.append(Check(10, "verbs-trace accuses it of nothing", checks[0].case, innocent("client")))
    for size, message, offset in ((64, 7, 0), (64, 30, 63), (75, 3, 74), (75, 0, 37), (5, 9, 3), (1, 2, 0)):
        own = side("client", "-c", "60", "-s", str(size), "-v", "-w", "5")
        bad = side("build/course/corrupt", "-c", "60", "-s", str(size), "--timeout", "5",
                   CORRUPT_MESSAGE=str(message), CORRUPT_BYTE=str(offset))  # fmt: skip
        run = case("RoCE", server=bad, client=own)
        text = f"byte {offset} of {size} is changed"
        checks.append(Check(10, text, run, finds(message, offset)))
    return checks


CHECKS = {"ping-sr-2e": exercise_ping_sr_2e, "signaling": exercise_signaling, "verify": exercise_verify}
